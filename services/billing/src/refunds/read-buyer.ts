import type { Database, Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { checkoutAttempts, memberships, orders, type Payment } from '../schema.ts'

/** Returns the purchase of a payment and the buyer's email, where known. */
export async function readPaymentBuyer(
  db: Database | Transaction,
  payment: Pick<Payment, 'attemptId' | 'membershipId'>,
) {
  const { attemptId, membershipId } = payment
  const nothing = { registrationId: null, orderId: null, membershipId, email: null }
  if (membershipId !== null) {
    const [membership] = await db.select().from(memberships).where(eq(memberships.attemptId, membershipId))
    return { ...nothing, email: membership?.email ?? null }
  }
  const [attempt] = await db
    .select()
    .from(checkoutAttempts)
    .where(eq(checkoutAttempts.id, attemptId ?? ''))
  if (!attempt) return nothing
  const { purchase } = attempt
  if (!isOrder(purchase)) return { ...nothing, registrationId: purchase.registrationId, email: purchase.email }
  const [order] = await db.select({ email: orders.email }).from(orders).where(eq(orders.id, purchase.orderId))
  return { ...nothing, orderId: purchase.orderId, email: order?.email ?? null }
}

/** Returns the email and shipping address of an order; null until they were entered on the payment page. */
export async function readOrderBuyer(tx: Transaction, orderId: string) {
  const [buyer] = await tx
    .select({ email: orders.email, shipTo: orders.shipTo })
    .from(orders)
    .where(eq(orders.id, orderId))
  return buyer ?? { email: null, shipTo: null }
}
