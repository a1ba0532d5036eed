import { wake, type Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNotNull, isNull, lt, lte } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { applySession, fulfilSession } from './fulfil-session.ts'
import { openSession } from './open-session.ts'
import { checkoutAttempts } from './schema.ts'
import { expireSession, StripeFailure } from './stripe.ts'
import { nextTry, tryEach } from './try-each.ts'

/**
 * Has the checkout of a registration that is gone closed, if one is open. One that was made after `goneAt` belongs to a
 * registration that has come back since and is left alone: the news of its end was late.
 * @returns the attempts that are to be closed because of this.
 */
export async function requestClose(
  tx: Transaction,
  { clock }: BillingContext,
  purchaseId: string,
  goneAt: Temporal.Instant,
): Promise<string[]> {
  const requested = await tx
    .update(checkoutAttempts)
    .set({ closeRequestedAt: clock.now(), tries: 0, nextTryAt: clock.now() })
    .where(
      and(
        eq(checkoutAttempts.purchaseId, purchaseId),
        inArray(checkoutAttempts.status, ['creating', 'open']),
        isNull(checkoutAttempts.closeRequestedAt),
        lt(checkoutAttempts.createdAt, goneAt),
      ),
    )
    .returning({ id: checkoutAttempts.id })
  if (requested.length > 0) await wake(tx, 'close-checkouts')
  return requested.map(({ id }) => id)
}

/** Closes the sessions that are to be closed. A failure with one is tried again, later and later. */
export async function closeCheckouts(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const { id, tries, nextTryAt, status, closeRequestedAt } = checkoutAttempts
  const isToClose = and(isNotNull(closeRequestedAt), inArray(status, ['creating', 'open']))
  const due = await db
    .select({ id, tries })
    .from(checkoutAttempts)
    .where(and(isToClose, lte(nextTryAt, clock.now())))
    .orderBy(asc(tries), asc(nextTryAt))
    .limit(100)
  const putOff = (attempt: { id: string; tries: number }) =>
    db
      .update(checkoutAttempts)
      .set(nextTry(context, attempt))
      .where(and(eq(id, attempt.id), isToClose))
  await tryEach(
    signal,
    due,
    async (attempt) => {
      await closeCheckout(context, attempt.id)
      await putOff(attempt)
    },
    async (attempt, error) => {
      log.warn({ err: error, attemptId: attempt.id }, 'a checkout could not be closed yet')
      await putOff(attempt)
    },
  )
}

/** Closes an attempt's session, or learns that it was paid, or is being paid, before it could be closed. */
export async function closeCheckout(context: BillingContext, attemptId: string): Promise<void> {
  // Whether a session was made that somebody could pay is only known once the provider has told.
  if (!(await openSession(context, attemptId))) return
  const [attempt] = await context.db.select().from(checkoutAttempts).where(eq(checkoutAttempts.id, attemptId))
  if (attempt?.status !== 'open' || attempt.stripeSessionId === null) return
  await closeSession(context, attempt.stripeSessionId)
}

/** Closes an open session, whatever it sells, or learns what else has become of it. */
export async function closeSession(context: BillingContext, sessionId: string): Promise<void> {
  try {
    const session = await expireSession(context, sessionId)
    await context.db.transaction((tx) => applySession(tx, context, session))
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.refused) throw error
    await fulfilSession(context, sessionId)
  }
}
