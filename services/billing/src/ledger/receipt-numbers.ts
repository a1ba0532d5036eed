import type { Transaction } from '@robokids/runtime/db'
import { eq, sql } from 'drizzle-orm'
import { receiptNumber } from './rules.ts'
import { counters } from '../schema.ts'

/** The counter's row stays locked until this transaction ends; one that fails takes its number back with it. */
export async function nextReceiptNumber(tx: Transaction): Promise<string> {
  const [counter] = await tx
    .update(counters)
    .set({ value: sql`${counters.value} + 1` })
    .where(eq(counters.name, 'receipt'))
    .returning()
  if (!counter) throw new Error('The counter of receipts is missing.')
  return receiptNumber(counter.value)
}
