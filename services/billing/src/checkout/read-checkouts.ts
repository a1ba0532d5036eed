import type { Checkout } from '@robokids/contracts/billing'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { presentRefund } from '../refunds/read-refunds.ts'
import { presentDispute } from '../refunds/record-dispute.ts'
import { refundDue, paymentState } from '../refunds/rules.ts'
import {
  checkoutAttempts,
  disputes,
  payments,
  refunds,
  type DisputeRow,
  type Payment,
  type RefundRow,
} from '../schema.ts'

/**
 * The state of an accepted payment. Duplicate and mismatched payments of the same purchase do not affect it.
 * @param purchaseRefunds all refunds of the purchase.
 */
function toDisplayStatus(payment: Payment, purchaseRefunds: RefundRow[], purchaseDisputes: DisputeRow[]) {
  const back = purchaseRefunds.filter(({ paymentId }) => paymentId === payment.id)
  const state = paymentState(
    payment,
    back,
    purchaseDisputes.filter(({ paymentId }) => paymentId === payment.id),
  )
  return {
    state,
    // A lost dispute has returned the money already.
    owed: state === 'lost' ? 0 : refundDue(payment.amount, back),
    returnedAt: payment.returnedAt?.toString() ?? null,
  }
}

/** Matches attempts of registrations: one that reuses an order's id must not get the order's checkout. */
export const isRegistrationAttempt = sql`${checkoutAttempts.purchase} ->> 'orderId' is null`
const isOrderAttempt = sql`${checkoutAttempts.purchase} ->> 'orderId' is not null`

/**
 * Returns the checkouts of these registrations or orders: for each the paid attempt, or else the newest. Ids without an
 * attempt of this kind are left out.
 */
export async function readCheckouts(
  db: Database | Transaction,
  purchaseIds: string[],
  kind: 'registration' | 'order',
): Promise<Checkout[]> {
  if (purchaseIds.length === 0) return []
  // In one statement, so that a paid attempt is never returned without its payment.
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
    .where(
      and(inArray(checkoutAttempts.purchaseId, purchaseIds), kind === 'order' ? isOrderAttempt : isRegistrationAttempt),
    )
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

  const refundsByPurchase = Map.groupBy(back, (refund) => refund.purchaseId)
  const disputesByPurchase = Map.groupBy(disputed, ({ purchaseId }) => purchaseId)
  return attempts.map(({ attempt, payment }) => {
    const purchaseRefunds = refundsByPurchase.get(attempt.purchaseId) ?? []
    const purchaseDisputes = (disputesByPurchase.get(attempt.purchaseId) ?? []).map(({ dispute }) => dispute)
    // A class is one line item.
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
            ...toDisplayStatus(payment, purchaseRefunds, purchaseDisputes),
          }
        : null,
      refunds: purchaseRefunds.map(presentRefund),
      disputes: purchaseDisputes.map(presentDispute),
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
