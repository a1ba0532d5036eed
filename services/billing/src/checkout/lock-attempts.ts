import type { Transaction } from '@robokids/runtime/db'
import { asc, eq, or, sql } from 'drizzle-orm'
import { cartOf } from '../orders/carts.ts'
import { checkoutAttempts, type Attempt } from '../schema.ts'

export const liveStatuses = ['creating', 'open', 'processing']

/** Whether an attempt can be paid, or is being paid. */
export function isLive({ status }: Pick<Attempt, 'status'>): boolean {
  return liveStatuses.includes(status)
}

/**
 * All attempts at one purchase, oldest first, locked: whoever changes one of them holds them all, and with an order's its
 * whole cart.
 * @param cartId of an order that may not be written down yet.
 */
export async function lockAttempts(tx: Transaction, purchaseId: string, cartId?: string): Promise<Attempt[]> {
  const names = new Set([purchaseId, cartId ?? (await cartOf(tx, purchaseId))])
  // In one order, so that no two wait for each other.
  for (const name of [...names].toSorted())
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('purchase'), hashtext(${name}))`)
  const ofPurchase = eq(checkoutAttempts.purchaseId, purchaseId)
  await tx
    .select({ id: checkoutAttempts.id })
    .from(checkoutAttempts)
    .where(ofPurchase)
    .orderBy(asc(checkoutAttempts.id))
    .for('update')
  // Read anew: an attempt that whoever held the lock has added is not among the rows that were waited for.
  return tx.select().from(checkoutAttempts).where(ofPurchase).orderBy(asc(checkoutAttempts.id))
}

/** The attempt that the provider's metadata names, or that has this session; with all attempts at its purchase locked. */
export async function lockAttemptOf(
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
