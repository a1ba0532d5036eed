import { randomUUIDv7 } from 'node:crypto'
import type { Refund } from '@robokids/contracts/billing'
import { wake, type Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { refundable } from './rules.ts'
import { refunds, type RefundRow } from '../schema.ts'
import { writeRefund, type RefundedPayment } from './write-refund.ts'

/**
 * Writes down that what is left of a payment goes back: once for a reason, however often it is found out. The caller holds
 * the payment's row.
 */
export async function enqueueRefund(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
  reason: Exclude<Refund['reason'], 'requested'>,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  if (!earlier.some((refund) => refund.reason === reason)) await enqueue(tx, context, payment, reason, earlier)
}

/**
 * Writes down once more what is owed by itself and what the provider refused to give back: while the payment was disputed,
 * and the dispute is won by now, or because a part had gone back already. The caller holds the payment's row.
 */
export async function enqueueRefundAgain(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const refused = earlier.find(({ reason, stripeRefundId }) => reason !== 'requested' && stripeRefundId === null)
  if (!refused || refused.status !== 'failed' || refused.reason === 'requested') return
  await enqueue(tx, context, payment, refused.reason, earlier)
}

async function enqueue(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
  reason: Exclude<Refund['reason'], 'requested'>,
  earlier: RefundRow[],
): Promise<void> {
  const left = refundable(payment.amount, earlier)
  if (left <= 0) return
  await writeRefund(tx, context, payment, { id: randomUUIDv7(), amount: left, reason })
  await wake(tx, 'run-refunds')
}
