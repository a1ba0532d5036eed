import type { Transaction } from '@robokids/runtime/db'
import { asc, eq, or, sql } from 'drizzle-orm'
import { findCartId } from './carts.ts'
import { checkoutAttempts, type Attempt } from '../schema.ts'

export const liveStatuses = ['creating', 'open', 'processing']

/** Whether an attempt can be paid or is being paid. */
export function isLive({ status }: Pick<Attempt, 'status'>): boolean {
  return liveStatuses.includes(status)
}

/**
 * Locks and returns all attempts of a purchase, oldest first. Every writer of an attempt holds this lock; for an order it
 * covers the whole cart.
 * @param cartId the cart of an order that may not be inserted yet.
 */
export async function lockAttempts(tx: Transaction, purchaseId: string, cartId?: string): Promise<Attempt[]> {
  const names = new Set([purchaseId, cartId ?? (await findCartId(tx, purchaseId))])
  // Always in the same order, to avoid deadlocks.
  for (const name of [...names].toSorted())
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('purchase'), hashtext(${name}))`)
  const ofPurchase = eq(checkoutAttempts.purchaseId, purchaseId)
  await tx
    .select({ id: checkoutAttempts.id })
    .from(checkoutAttempts)
    .where(ofPurchase)
    .orderBy(asc(checkoutAttempts.id))
    .for('update')
  // Read again: an attempt inserted by the previous holder of the lock is not among the rows that this waited for.
  return tx.select().from(checkoutAttempts).where(ofPurchase).orderBy(asc(checkoutAttempts.id))
}

/** Finds an attempt by the id in Stripe's metadata or by its session, and locks all attempts of its purchase. */
export async function lockAttempt(
  tx: Transaction,
  attemptId: string | null,
  checkoutSessionId?: string,
): Promise<{ attempt: Attempt; all: Attempt[] } | undefined> {
  const named = attemptId === null ? undefined : eq(checkoutAttempts.id, attemptId)
  const having = checkoutSessionId === undefined ? undefined : eq(checkoutAttempts.stripeSessionId, checkoutSessionId)
  const condition = or(...[named, having].filter((one) => one !== undefined))
  if (!condition) return undefined
  const [found] = await tx
    .select({ id: checkoutAttempts.id, purchaseId: checkoutAttempts.purchaseId })
    .from(checkoutAttempts)
    .where(condition)
  if (!found) return undefined
  const all = await lockAttempts(tx, found.purchaseId)
  const attempt = all.find((one) => one.id === found.id)
  return attempt && { attempt, all }
}
