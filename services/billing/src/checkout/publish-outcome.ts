import { checkoutCreated, checkoutExpired, paymentCompleted, paymentFailed } from '@robokids/contracts/billing'
import { moveCheckoutEnded, movePaid } from '@robokids/contracts/changes'
import { orderPaid } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq, sql } from 'drizzle-orm'
import { isMove, isOrder } from '../purchase.ts'
import { readOrderBuyer } from '../refunds/read-buyer.ts'
import { claimOrder } from '../ownership/owners.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { orders, type Attempt } from '../schema.ts'

// Enrollment holds and releases a registration's seats by the events of its checkout. An order holds nothing, so only its
// payment is published.

export async function publishCheckoutCreated(tx: Transaction, attempt: Attempt): Promise<void> {
  const { purchase, amount, currency, expiresAt } = attempt
  // Enrollment holds the seats of a move until its time is over.
  if (isOrder(purchase) || isMove(purchase)) return
  const { registrationId } = purchase
  await publish(tx, checkoutCreated, registrationId, {
    attemptId: attempt.id,
    registrationId,
    amount,
    currency,
    expiresAt: expiresAt.toString(),
  })
}

export async function publishCheckoutExpired(
  tx: Transaction,
  { id: attemptId, purchase, replaced }: Attempt,
): Promise<void> {
  if (isOrder(purchase)) return
  const { registrationId } = purchase
  if (isMove(purchase)) {
    const { changeId } = purchase.move
    if (!replaced) await publish(tx, moveCheckoutEnded, registrationId, { changeId, registrationId, reason: 'expired' })
    return
  }
  await publish(tx, checkoutExpired, registrationId, { attemptId, registrationId, ...(replaced ? { replaced } : {}) })
}

export async function publishPaymentFailed(
  tx: Transaction,
  { id: attemptId, purchase }: Attempt,
  failure: { final: boolean; reason: string },
): Promise<void> {
  if (isOrder(purchase)) return
  const { registrationId } = purchase
  if (isMove(purchase)) {
    const { changeId } = purchase.move
    const data = { changeId, registrationId, reason: 'failed' as const }
    if (failure.final) await publish(tx, moveCheckoutEnded, registrationId, data)
    return
  }
  await publish(tx, paymentFailed, registrationId, { attemptId, registrationId, ...failure })
}

export async function publishPaymentCompleted(
  tx: Transaction,
  { id: attemptId, purchase, amount, currency, parameters }: Attempt,
  payment: { paymentId: string; receiptNumber: string; paidAt: Temporal.Instant },
): Promise<void> {
  const paymentData = { attemptId, amount, currency, ...payment, paidAt: payment.paidAt.toString() }
  if (!isOrder(purchase)) {
    const { registrationId } = purchase
    if (isMove(purchase)) {
      const { changeId } = purchase.move
      const { receiptNumber, paymentId } = payment
      const paid = { paymentId, receiptNumber, paidAt: paymentData.paidAt, amount, currency }
      return publish(tx, movePaid, registrationId, { changeId, registrationId, ...paid })
    }
    // A class is one line item.
    const [seats] = parameters.line_items
    const price = seats && { unitAmount: seats.price_data.unit_amount, paidSeats: seats.quantity }
    await publish(tx, paymentCompleted, registrationId, { registrationId, ...paymentData, ...price })
    return
  }
  const { orderId, lines } = purchase
  await publish(tx, orderPaid, orderId, { orderId, lines, ...(await readOrderBuyer(tx, orderId)), ...paymentData })
}

/** Records the buyer's data from the payment page on an order; existing values stay. */
export async function recordBuyer(
  tx: Transaction,
  { purchase }: Attempt,
  { buyer }: ObservedCheckoutSession,
): Promise<void> {
  if (!isOrder(purchase)) return
  const { email, shipTo } = buyer
  await tx
    .update(orders)
    .set({
      email: sql`coalesce(${orders.email}, ${email})`,
      shipTo: sql`coalesce(${orders.shipTo}, ${shipTo === null ? null : JSON.stringify(shipTo)}::jsonb)`,
    })
    .where(eq(orders.id, purchase.orderId))
  await claimOrder(tx, purchase.orderId)
}
