import { wake, type Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNull, lt } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closePage, closePages } from '../attempts/close-pages.ts'
import { isLive } from './lock-attempts.ts'
import { purchaseAttemptKind } from './apply-session.ts'
import { isOfRegistration } from './read-checkouts.ts'
import { checkoutAttempts } from '../schema.ts'

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
  return closePages(context, signal, purchaseAttemptKind)
}

/**
 * Closes a checkout so that another one can be paid in its place, by the provider's own answer: afterwards it cannot be
 * paid any more, or is known to be paid or being paid.
 * @throws StripeFailure where the provider does not tell; then nothing has changed
 */
export async function closeLive(context: BillingContext, attemptId: string): Promise<void> {
  const { db } = context
  const isThis = eq(checkoutAttempts.id, attemptId)
  // Before the provider is asked, since its webhook that the session is closed may be handled before its response is.
  const [attempt] = await db.update(checkoutAttempts).set({ replaced: true }).where(isThis).returning()
  if (!attempt || !isLive(attempt)) return
  try {
    if (attempt.status === 'processing' && attempt.stripeSessionId !== null)
      await fulfilCheckoutSession(context, purchaseAttemptKind, attempt.stripeSessionId)
    else await closePage(context, purchaseAttemptKind, attemptId)
  } catch (error) {
    const [now] = await db.select().from(checkoutAttempts).where(isThis)
    // A session that the provider refused to make cannot be paid either.
    if (now && isLive(now)) throw error
  }
}
