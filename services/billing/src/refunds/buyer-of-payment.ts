import type { Database, Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { checkoutAttempts, memberships, orders, type Payment } from '../schema.ts'

/** What a payment paid for, and who paid, as far as is known here. */
export async function buyerOfPayment(db: Database | Transaction, payment: Pick<Payment, 'attemptId' | 'membershipId'>) {
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
