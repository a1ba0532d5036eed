import { checkoutCreated, checkoutExpired, paymentCompleted, paymentFailed } from '@robokids/contracts/billing'
import { orderPaid } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq, sql } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { claimOrder } from '../ownership/owners.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { orders, type Attempt } from '../schema.ts'

// A registration's seats are held, and let go, by what is told of its checkout. Nothing waits for an order's: it is told of
// when it is paid.

export async function publishCheckoutCreated(tx: Transaction, attempt: Attempt): Promise<void> {
  const { purchase, amount, currency, expiresAt } = attempt
  if (isOrder(purchase)) return
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
  await publish(tx, checkoutExpired, registrationId, { attemptId, registrationId, ...(replaced ? { replaced } : {}) })
}

export async function publishPaymentFailed(
  tx: Transaction,
  { id: attemptId, purchase }: Attempt,
  failure: { final: boolean; reason: string },
): Promise<void> {
  if (isOrder(purchase)) return
  const { registrationId } = purchase
  await publish(tx, paymentFailed, registrationId, { attemptId, registrationId, ...failure })
}

export async function publishPaymentCompleted(
  tx: Transaction,
  { id: attemptId, purchase, amount, currency }: Attempt,
  payment: { paymentId: string; receiptNumber: string; paidAt: Temporal.Instant },
): Promise<void> {
  const fact = { attemptId, amount, currency, ...payment, paidAt: payment.paidAt.toString() }
  if (!isOrder(purchase)) {
    const { registrationId } = purchase
    await publish(tx, paymentCompleted, registrationId, { registrationId, ...fact })
    return
  }
  const { orderId, lines } = purchase
  await publish(tx, orderPaid, orderId, { orderId, lines, ...(await buyerOf(tx, orderId)), ...fact })
}

/** Who bought an order and where it goes to, as far as the payment page was told. */
export async function buyerOf(tx: Transaction, orderId: string) {
  const [buyer] = await tx
    .select({ email: orders.email, shipTo: orders.shipTo })
    .from(orders)
    .where(eq(orders.id, orderId))
  return buyer ?? { email: null, shipTo: null }
}

/** Keeps what the payment page was told of who bought an order; what is known already stays. */
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
