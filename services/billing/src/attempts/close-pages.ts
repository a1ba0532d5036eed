import { and, asc, eq, inArray, isNotNull, lte, min } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { StripeFailure } from '../stripe/client.ts'
import { expireCheckoutSession } from '../stripe/checkout-sessions.ts'
import { nextAttempt, tryEach } from '../try-each.ts'
import { fulfilCheckoutSession } from './fulfil-checkout-session.ts'
import type { AttemptKind } from './attempt-kind.ts'
import { openCheckoutSession } from './open-checkout-session.ts'

/** Closes the payment pages whose closing was requested. A failed one is retried with backoff. */
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
  const scheduleRetry = (attempt: { id: string; tries: number }) =>
    db
      .update(attempts)
      .set(nextAttempt(context, attempt))
      .where(and(eq(id, attempt.id), isToClose))
  await tryEach(
    signal,
    due,
    async (attempt) => {
      await closePage(context, kind, attempt.id)
      await scheduleRetry(attempt)
    },
    async (attempt, error) => {
      log.warn({ err: error, attemptId: attempt.id }, 'a checkout could not be closed yet')
      await scheduleRetry(attempt)
    },
  )
}

/** When the next page is to be closed. */
export async function nextPageToClose(
  { db }: BillingContext,
  { table: { nextTryAt, status, closeRequestedAt }, table }: AttemptKind,
): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(nextTryAt) })
    .from(table)
    .where(and(isNotNull(closeRequestedAt), inArray(status, ['creating', 'open'])))
  return next?.at ?? null
}

/** Closes an attempt's session, or records that it was paid, or is being paid, before it could be closed. */
export async function closePage(context: BillingContext, kind: AttemptKind, attemptId: string): Promise<void> {
  // Only Stripe knows whether a session that can be paid was created.
  if (!(await openCheckoutSession(context, kind, attemptId))) return
  const { id, status, stripeSessionId } = kind.table
  const [attempt] = await context.db.select({ status, stripeSessionId }).from(kind.table).where(eq(id, attemptId))
  if (attempt?.status !== 'open' || attempt.stripeSessionId === null) return
  await closeCheckoutSession(context, kind, attempt.stripeSessionId)
}

/** Expires an open session, or applies its current state if it is no longer open. */
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
