import { randomUUIDv7 } from 'node:crypto'
import type { Refund } from '@robokids/contracts/billing'
import { wake, type Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { refundable } from './rules.ts'
import { refunds } from './schema.ts'
import { writeRefund, type RefundedPayment } from './write-refund.ts'

/** Writes down that what is left of a payment goes back: once for a reason, however often it is found out. */
export async function oweRefund(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
  reason: Exclude<Refund['reason'], 'requested'>,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const left = refundable(payment.amount, earlier)
  if (left <= 0) return
  await writeRefund(tx, context, payment, { id: randomUUIDv7(), amount: left, reason })
  await wake(tx, 'run-refunds')
}
