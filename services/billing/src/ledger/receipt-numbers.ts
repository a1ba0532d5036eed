import type { Transaction } from '@robokids/runtime/db'
import { eq, sql } from 'drizzle-orm'
import { receiptNumber } from './rules.ts'
import { counters } from '../schema.ts'

/** The counter's row stays locked until the transaction ends, and a rollback returns the number: there are no gaps. */
export async function nextReceiptNumber(tx: Transaction): Promise<string> {
  const [counter] = await tx
    .update(counters)
    .set({ value: sql`${counters.value} + 1` })
    .where(eq(counters.name, 'receipt'))
    .returning()
  if (!counter) throw new Error('The counter of receipts is missing.')
  return receiptNumber(counter.value)
}
