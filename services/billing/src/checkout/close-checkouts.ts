import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNull, lt } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closePage, closePages, nextPageToClose } from '../attempts/close-pages.ts'
import { isLive } from './lock-attempts.ts'
import { purchaseAttemptKind } from './apply-session.ts'
import { isRegistrationAttempt } from './read-checkouts.ts'
import { checkoutAttempts } from '../schema.ts'

/**
 * Requests that the open checkout of an ended registration is closed; never that of an order with the same id. A checkout
 * created after `goneAt` stays open: the registration was held again before the late event arrived.
 * @returns the ids of the attempts to close.
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
        isRegistrationAttempt,
      ),
    )
    .returning({ id: checkoutAttempts.id })
  if (requested.length > 0) await wakeJob(tx, 'close-checkouts')
  return requested.map(({ id }) => id)
}

/** Closes the payment pages of registrations and orders whose closing was requested. */
export function closeCheckouts(context: BillingContext, signal: AbortSignal): Promise<void> {
  return closePages(context, signal, purchaseAttemptKind)
}

export const nextCheckoutToClose = (context: BillingContext) => nextPageToClose(context, purchaseAttemptKind)

/**
 * Closes a checkout so that another one can replace it. Afterwards Stripe has confirmed that it can no longer be paid, or it
 * is recorded as paid or being paid.
 * @throws StripeFailure if Stripe did not respond; then nothing has changed
 */
export async function closeLiveCheckout(context: BillingContext, attemptId: string): Promise<void> {
  const { db } = context
  const isThis = eq(checkoutAttempts.id, attemptId)
  // Before the call, since the webhook about the expired session may be handled before the response.
  const [attempt] = await db.update(checkoutAttempts).set({ replaced: true }).where(isThis).returning()
  if (!attempt || !isLive(attempt)) return
  try {
    if (attempt.status === 'processing' && attempt.stripeSessionId !== null)
      await fulfilCheckoutSession(context, purchaseAttemptKind, attempt.stripeSessionId)
    else await closePage(context, purchaseAttemptKind, attemptId)
  } catch (error) {
    const [now] = await db.select().from(checkoutAttempts).where(isThis)
    // A session that Stripe refused to create cannot be paid either.
    if (now && isLive(now)) throw error
  }
}
