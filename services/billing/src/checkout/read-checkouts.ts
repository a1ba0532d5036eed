import type { Checkout, Refund } from '@robokids/contracts/billing'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { presentDispute } from '../refunds/record-dispute.ts'
import { owed, paymentState } from '../refunds/rules.ts'
import {
  checkoutAttempts,
  disputes,
  payments,
  refunds,
  type DisputeRow,
  type Payment,
  type RefundRow,
} from '../schema.ts'

export function presentRefund(row: RefundRow): Refund {
  return {
    refundId: row.id,
    stripeRefundId: row.stripeRefundId,
    amount: row.amount,
    currency: 'usd',
    reason: row.reason,
    status: row.status,
  }
}

/**
 * How a payment stands. What was paid beside it, twice or otherwise than agreed, goes back without touching it.
 * @param ofPurchase all refunds and disputes of what it paid for.
 */
function toDisplayStatus(payment: Payment, ofPurchase: RefundRow[], disputesOfPurchase: DisputeRow[]) {
  const back = ofPurchase.filter(({ paymentId }) => paymentId === payment.id)
  const state = paymentState(
    payment,
    back,
    disputesOfPurchase.filter(({ paymentId }) => paymentId === payment.id),
  )
  return {
    state,
    // A lost dispute has given the payer the money already.
    owed: state === 'lost' ? 0 : owed(payment.amount, back),
    returnedAt: payment.returnedAt?.toString() ?? null,
  }
}

/** Attempts at paying registrations. An order's id may be given to a registration, and must not give it the order's checkout. */
export const isOfRegistration = sql`${checkoutAttempts.purchase} ->> 'orderId' is null`
const isOfOrder = sql`${checkoutAttempts.purchase} ->> 'orderId' is not null`

/**
 * The checkouts of these registrations or orders, of each the paid attempt or else the newest; none for one that never had
 * any, or whose id belongs to something of another kind.
 */
export async function readCheckouts(
  db: Database | Transaction,
  purchaseIds: string[],
  kind: 'registration' | 'order',
): Promise<Checkout[]> {
  if (purchaseIds.length === 0) return []
  // Together, so that an attempt that is shown as paid is never shown without its payment.
  const attempts = await db
    .selectDistinctOn([checkoutAttempts.purchaseId], { attempt: checkoutAttempts, payment: payments })
    .from(checkoutAttempts)
    .leftJoin(
      payments,
      and(
        eq(payments.purchaseId, checkoutAttempts.purchaseId),
        eq(payments.outcome, 'accepted'),
        isNull(payments.membershipId),
      ),
    )
    .where(and(inArray(checkoutAttempts.purchaseId, purchaseIds), kind === 'order' ? isOfOrder : isOfRegistration))
    .orderBy(checkoutAttempts.purchaseId, desc(sql`${checkoutAttempts.status} = 'paid'`), desc(checkoutAttempts.id))
  const back = await db
    .select()
    .from(refunds)
    .where(inArray(refunds.purchaseId, purchaseIds))
    .orderBy(asc(refunds.createdAt), asc(refunds.id))
  const disputed = await db
    .select({ dispute: disputes, purchaseId: payments.purchaseId })
    .from(disputes)
    .innerJoin(payments, eq(payments.id, disputes.paymentId))
    .where(inArray(payments.purchaseId, purchaseIds))

  const refundsOf = Map.groupBy(back, (refund) => refund.purchaseId)
  const disputesOf = Map.groupBy(disputed, ({ purchaseId }) => purchaseId)
  return attempts.map(({ attempt, payment }) => {
    const itsRefunds = refundsOf.get(attempt.purchaseId) ?? []
    const itsDisputes = (disputesOf.get(attempt.purchaseId) ?? []).map(({ dispute }) => dispute)
    // A class is one line of what the provider was asked for.
    const [seats] = isOrder(attempt.purchase) ? [] : attempt.parameters.line_items
    return {
      attemptId: attempt.id,
      registrationId: attempt.purchaseId,
      status: attempt.status,
      checkoutUrl: attempt.status === 'open' ? attempt.checkoutUrl : null,
      amount: attempt.amount,
      currency: attempt.currency,
      unitAmount: seats?.price_data.unit_amount ?? null,
      paidSeats: seats?.quantity ?? null,
      createdAt: attempt.createdAt.toString(),
      expiresAt: attempt.expiresAt.toString(),
      payment: payment
        ? {
            paymentId: payment.id,
            stripePaymentIntentId: payment.stripePaymentIntentId,
            receiptNumber: payment.receiptNumber ?? '',
            paidAt: payment.paidAt.toString(),
            amount: payment.amount,
            currency: 'usd' as const,
            ...toDisplayStatus(payment, itsRefunds, itsDisputes),
          }
        : null,
      refunds: itsRefunds.map(presentRefund),
      disputes: itsDisputes.map(presentDispute),
      lastDecline: attempt.lastDecline,
    }
  })
}

/** @throws DomainError checkout_not_found */
export async function readCheckout(db: Database | Transaction, registrationId: string): Promise<Checkout> {
  const [checkout] = await readCheckouts(db, [registrationId], 'registration')
  if (!checkout) throw new DomainError('checkout_not_found', 'There is no checkout for this registration.')
  return checkout
}
