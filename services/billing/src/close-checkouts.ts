import { wake, type Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNotNull, isNull, lt, lte } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { applySession, fulfilSession, isLive } from './fulfil-session.ts'
import { openMembershipSession, openSession } from './open-session.ts'
import { isOfRegistration } from './read-checkouts.ts'
import { checkoutAttempts, membershipAttempts } from './schema.ts'
import { expireSession, StripeFailure } from './stripe.ts'
import { nextTry, tryEach } from './try-each.ts'

/**
 * Has the checkout of a registration that is gone closed, if one is open; never that of an order with its id. One that was made after `goneAt` belongs to a
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
        isOfRegistration,
      ),
    )
    .returning({ id: checkoutAttempts.id })
  if (requested.length > 0) await wake(tx, 'close-checkouts')
  return requested.map(({ id }) => id)
}

/** Closes the payment pages of registrations and orders that are to be closed. */
export function closeCheckouts(context: BillingContext, signal: AbortSignal): Promise<void> {
  return closePages(context, signal, checkoutAttempts, openSession)
}

/** As `closeCheckouts`, of memberships. */
export function closeMembershipCheckouts(context: BillingContext, signal: AbortSignal): Promise<void> {
  return closePages(context, signal, membershipAttempts, openMembershipSession)
}

type Attempts = typeof checkoutAttempts | typeof membershipAttempts

/** A failure with one is tried again, later and later. */
async function closePages(
  context: BillingContext,
  signal: AbortSignal,
  attempts: Attempts,
  open: typeof openSession,
): Promise<void> {
  const { db, clock, log } = context
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
      await closePage(context, attempt.id, attempts, open)
      await putOff(attempt)
    },
    async (attempt, error) => {
      log.warn({ err: error, attemptId: attempt.id }, 'a checkout could not be closed yet')
      await putOff(attempt)
    },
  )
}

/** Closes an attempt's session, or learns that it was paid, or is being paid, before it could be closed. */
export function closeCheckout(context: BillingContext, attemptId: string): Promise<void> {
  return closePage(context, attemptId, checkoutAttempts, openSession)
}

async function closePage(
  context: BillingContext,
  attemptId: string,
  attempts: Attempts,
  open: typeof openSession,
): Promise<void> {
  // Whether a session was made that somebody could pay is only known once the provider has told.
  if (!(await open(context, attemptId))) return
  const { id, status, stripeSessionId } = attempts
  const [attempt] = await context.db.select({ status, stripeSessionId }).from(attempts).where(eq(id, attemptId))
  if (attempt?.status !== 'open' || attempt.stripeSessionId === null) return
  await closeSession(context, attempt.stripeSessionId)
}

/**
 * Closes a checkout so that another one can be paid in its place, by the provider's own answer: afterwards it cannot be
 * paid any more, or is known to be paid or being paid.
 * @throws StripeFailure where the provider does not tell; then nothing has changed
 */
export async function closeLive(context: BillingContext, attemptId: string): Promise<void> {
  const { db } = context
  const isThis = eq(checkoutAttempts.id, attemptId)
  // Before the provider is asked, since its notice that the session is closed may be handled before its answer is.
  const [attempt] = await db.update(checkoutAttempts).set({ replaced: true }).where(isThis).returning()
  if (!attempt || !isLive(attempt)) return
  try {
    if (attempt.status === 'processing' && attempt.stripeSessionId !== null)
      await fulfilSession(context, attempt.stripeSessionId)
    else await closeCheckout(context, attemptId)
  } catch (error) {
    const [now] = await db.select().from(checkoutAttempts).where(isThis)
    // A session that the provider refused to make cannot be paid either.
    if (now && isLive(now)) throw error
  }
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
