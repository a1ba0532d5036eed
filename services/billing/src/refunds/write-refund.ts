import { refundDeclined, refundRequested, type Refund } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import { readPaymentBuyer } from './read-buyer.ts'
import type { BillingContext } from '../config.ts'
import { refundable, type RefundFacts } from './rules.ts'
import { updateCredits } from './update-credits.ts'
import { refunds, type Payment, type RefundRow } from '../schema.ts'

export type RefundedPayment = Pick<
  Payment,
  'id' | 'attemptId' | 'membershipId' | 'purchaseId' | 'outcome' | 'amount' | 'currency'
>

/**
 * The reason announced for a refund. An operator's refund of a payment that also has an automatic one replaces that: it keeps
 * the reason that was announced to the payer.
 */
export function refundReason(
  { outcome }: Pick<Payment, 'outcome'>,
  refund: Pick<RefundRow, 'reason'>,
  all: Pick<RefundRow, 'reason'>[],
): Refund['reason'] {
  if (outcome !== 'accepted') return outcome
  return all.find(({ reason }) => reason !== 'requested')?.reason ?? refund.reason
}

/**
 * Inserts a refund and publishes it before Stripe is called. The caller holds the lock on the payment's row.
 * @param refund with Stripe's id if it was found there.
 * @returns undefined if there is one already with this id, or with this automatic reason.
 */
export async function writeRefund(
  tx: Transaction,
  { clock }: BillingContext,
  payment: RefundedPayment,
  refund: Pick<RefundRow, 'id' | 'amount' | 'reason'> & { stripeRefundId?: string; changeId?: string },
): Promise<RefundRow | undefined> {
  const [row] = await tx
    .insert(refunds)
    .values({
      ...refund,
      paymentId: payment.id,
      purchaseId: payment.purchaseId,
      currency: payment.currency,
      status: 'pending',
      nextTryAt: clock.now(),
      createdAt: clock.now(),
    })
    .onConflictDoNothing()
    .returning()
  if (!row) return undefined
  await publishRefundProgress(tx, refundRequested, payment, row)
  await updateCredits(tx, payment)
  return row
}

/** Publishes that a refund failed that was never announced as refunded. */
export async function publishRefundDeclined(
  tx: Transaction,
  payment: RefundedPayment,
  row: RefundRow,
  next: { retried?: true } = {},
): Promise<void> {
  await publishRefundProgress(tx, refundDeclined, payment, row, next)
}

async function publishRefundProgress(
  tx: Transaction,
  event: typeof refundRequested | typeof refundDeclined,
  payment: RefundedPayment,
  row: RefundRow,
  next: { retried?: true } = {},
): Promise<void> {
  if (payment.currency !== 'usd') return
  const all = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const { registrationId, orderId, membershipId } = await readPaymentBuyer(tx, payment)
  await publish(tx, event, payment.purchaseId, {
    refundId: row.id,
    paymentId: payment.id,
    registrationId,
    orderId,
    membershipId,
    amount: row.amount,
    currency: 'usd',
    reason: refundReason(payment, row, all),
    underWayTotal: underWayTotal(payment.amount, all),
    paidAmount: payment.amount,
    ...(row.changeId === null ? {} : { changeId: row.changeId }),
    ...next,
  })
}

/** Cents of a payment that are refunded or being refunded. */
export function underWayTotal(paid: number, all: RefundFacts[]): number {
  return paid - refundable(paid, all)
}
