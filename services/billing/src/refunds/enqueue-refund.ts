import { randomUUIDv7 } from 'node:crypto'
import type { Refund } from '@robokids/contracts/billing'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { refundable } from './rules.ts'
import { refunds, type RefundRow } from '../schema.ts'
import { writeRefund, type RefundedPayment } from './write-refund.ts'

/**
 * Enqueues a refund of the rest of a payment, once per reason. The caller holds the lock on the payment's row.
 */
export async function enqueueRefund(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
  reason: Exclude<Refund['reason'], 'requested'>,
  changeId?: string,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  if (!earlier.some((refund) => refund.reason === reason))
    await enqueue(tx, context, payment, reason, earlier, changeId)
}

/**
 * Enqueues an automatic refund again that Stripe had declined: because the payment was disputed, and the dispute is won by
 * now, or because a part had been refunded already. The caller holds the lock on the payment's row.
 */
export async function enqueueRefundAgain(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const declined = earlier.find(({ reason, stripeRefundId }) => reason !== 'requested' && stripeRefundId === null)
  if (!declined || declined.status !== 'failed' || declined.reason === 'requested') return
  await enqueue(tx, context, payment, declined.reason, earlier, declined.changeId ?? undefined)
}

async function enqueue(
  tx: Transaction,
  context: BillingContext,
  payment: RefundedPayment,
  reason: Exclude<Refund['reason'], 'requested'>,
  earlier: RefundRow[],
  changeId?: string,
): Promise<void> {
  const left = refundable(payment.amount, earlier)
  if (left <= 0) return
  await writeRefund(tx, context, payment, {
    id: randomUUIDv7(),
    amount: left,
    reason,
    ...(changeId === undefined ? {} : { changeId }),
  })
  await wakeJob(tx, 'run-refunds')
}
