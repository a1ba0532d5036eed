import { refundDeclined, refundRequested, type Refund } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import { buyerOfPayment } from './buyer-of-payment.ts'
import type { BillingContext } from '../config.ts'
import { refundable, type RefundFacts } from './rules.ts'
import { refunds, type Payment, type RefundRow } from '../schema.ts'

export type RefundedPayment = Pick<
  Payment,
  'id' | 'attemptId' | 'membershipId' | 'purchaseId' | 'outcome' | 'amount' | 'currency'
>

/**
 * Why a payment goes back. What an operator gives back of one that was owed by itself makes good for that: its reason stays
 * the one that its payer was told.
 */
export function reasonOf(
  { outcome }: Pick<Payment, 'outcome'>,
  refund: Pick<RefundRow, 'reason'>,
  all: Pick<RefundRow, 'reason'>[],
): Refund['reason'] {
  if (outcome !== 'accepted') return outcome
  return all.find(({ reason }) => reason !== 'requested')?.reason ?? refund.reason
}

/**
 * Writes down that money goes back, and publishes that before the provider is asked. The caller holds the payment's row.
 * @param refund with the provider's id where it was found there.
 * @returns undefined where there is such a refund already: one of this id, or of this reason where that is owed once.
 */
export async function writeRefund(
  tx: Transaction,
  { clock }: BillingContext,
  payment: RefundedPayment,
  refund: Pick<RefundRow, 'id' | 'amount' | 'reason'> & { stripeRefundId?: string },
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
  await publishUnderWay(tx, refundRequested, payment, row)
  return row
}

/** Publishes that a refund failed of which nobody was told that it had gone back. */
export async function publishRefundDeclined(
  tx: Transaction,
  payment: RefundedPayment,
  row: RefundRow,
  next: { retried?: true } = {},
): Promise<void> {
  await publishUnderWay(tx, refundDeclined, payment, row, next)
}

async function publishUnderWay(
  tx: Transaction,
  event: typeof refundRequested | typeof refundDeclined,
  payment: RefundedPayment,
  row: RefundRow,
  next: { retried?: true } = {},
): Promise<void> {
  if (payment.currency !== 'usd') return
  const all = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const { registrationId, orderId, membershipId } = await buyerOfPayment(tx, payment)
  await publish(tx, event, payment.purchaseId, {
    refundId: row.id,
    paymentId: payment.id,
    registrationId,
    orderId,
    membershipId,
    amount: row.amount,
    currency: 'usd',
    reason: reasonOf(payment, row, all),
    underWayTotal: underWayTotal(payment.amount, all),
    paidAmount: payment.amount,
    ...next,
  })
}

/** Cents of a payment that are back or on their way. */
export function underWayTotal(paid: number, all: RefundFacts[]): number {
  return paid - refundable(paid, all)
}
