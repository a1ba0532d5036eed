import { and, asc, eq, inArray, isNotNull, lte } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { StripeFailure } from '../stripe/client.ts'
import { expireCheckoutSession } from '../stripe/checkout-sessions.ts'
import { nextTry, tryEach } from '../try-each.ts'
import { fulfilCheckoutSession } from './fulfil-checkout-session.ts'
import type { AttemptKind } from './attempt-kind.ts'
import { openCheckoutSession } from './open-checkout-session.ts'

/** Closes the payment pages that are to be closed. A failure with one is tried again, later and later. */
export async function closePages(context: BillingContext, signal: AbortSignal, kind: AttemptKind): Promise<void> {
  const { db, clock, log } = context
  const attempts = kind.table
  const { id, tries, nextTryAt, status, closeRequestedAt } = attempts
  const isToClose = and(isNotNull(closeRequestedAt), inArray(status, ['creating', 'open']))
  const due = await db
    .select({ id, tries })
    .from(attempts)
    .where(and(isToClose, lte(nextTryAt, clock.now())))
    .orderBy(asc(tries), asc(nextTryAt))
    .limit(100)
  const putOff = (attempt: { id: string; tries: number }) =>
    db
      .update(attempts)
      .set(nextTry(context, attempt))
      .where(and(eq(id, attempt.id), isToClose))
  await tryEach(
    signal,
    due,
    async (attempt) => {
      await closePage(context, kind, attempt.id)
      await putOff(attempt)
    },
    async (attempt, error) => {
      log.warn({ err: error, attemptId: attempt.id }, 'a checkout could not be closed yet')
      await putOff(attempt)
    },
  )
}

/** Closes an attempt's session, or learns that it was paid, or is being paid, before it could be closed. */
export async function closePage(context: BillingContext, kind: AttemptKind, attemptId: string): Promise<void> {
  // Whether a session was made that somebody could pay is only known once the provider has told.
  if (!(await openCheckoutSession(context, kind, attemptId))) return
  const { id, status, stripeSessionId } = kind.table
  const [attempt] = await context.db.select({ status, stripeSessionId }).from(kind.table).where(eq(id, attemptId))
  if (attempt?.status !== 'open' || attempt.stripeSessionId === null) return
  await closeCheckoutSession(context, kind, attempt.stripeSessionId)
}

/** Closes an open session, or learns what else has become of it. */
export async function closeCheckoutSession(
  context: BillingContext,
  kind: AttemptKind,
  checkoutSessionId: string,
): Promise<void> {
  try {
    const checkoutSession = await expireCheckoutSession(context, checkoutSessionId)
    await context.db.transaction((tx) => kind.apply(tx, context, checkoutSession))
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.refused) throw error
    await fulfilCheckoutSession(context, kind, checkoutSessionId)
  }
}
