import { earliest } from '@robokids/runtime/jobs'
import { and, asc, eq, isNotNull, lte, min } from 'drizzle-orm'
import { refreshMembership } from './apply-membership.ts'
import { cancelSubscription, voidOpenInvoices } from './cancel-membership.ts'
import { retrieveSubscription } from './running-membership.ts'
import { closePages, nextPageToClose } from '../attempts/close-pages.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import type { BillingContext } from '../config.ts'
import { memberships, type Membership } from '../schema.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { nextAttempt, tryEach } from '../try-each.ts'

/** Ends the requested memberships at Stripe, and closes payment pages for new ones. */
export async function endMemberships(context: BillingContext, signal: AbortSignal): Promise<void> {
  await closePages(context, signal, membershipAttemptKind)
  await endRequested(context, signal)
}

/** A failed one is retried with backoff. */
async function endRequested(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const isToEnd = isNotNull(memberships.endRequest)
  const due = await db
    .select()
    .from(memberships)
    .where(and(isToEnd, lte(memberships.nextTryAt, clock.now())))
    .orderBy(asc(memberships.tries), asc(memberships.nextTryAt))
    .limit(100)
  const scheduleRetry = (membership: Membership) =>
    db
      .update(memberships)
      .set(nextAttempt(context, membership))
      .where(and(eq(memberships.attemptId, membership.attemptId), isToEnd))
  await tryEach(
    signal,
    due,
    async (membership) => {
      await end(context, membership)
      await scheduleRetry(membership)
    },
    async (membership, error) => {
      log.warn({ err: error, membershipId: membership.attemptId }, 'a membership could not be ended yet')
      await scheduleRetry(membership)
    },
  )
}

async function end(context: BillingContext, membership: Membership): Promise<void> {
  const { endRequest, stripeSubscriptionId: subscriptionId } = membership
  try {
    if (endRequest === 'at_period_end') {
      await cancelSubscription(context, await retrieveSubscription(context, subscriptionId))
    } else await callStripe(context, (stripe) => stripe.subscriptions.cancel(subscriptionId))
  } catch (error) {
    // It has ended already: the refresh below records that.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
  await voidOpenInvoices(context, subscriptionId)
  await refreshMembership(context, subscriptionId)
}

/** When the next membership is to be ended, or the next payment page of one to be closed. */
export async function nextMembershipToEnd(context: BillingContext): Promise<Temporal.Instant | null> {
  const page = await nextPageToClose(context, membershipAttemptKind)
  const [membership] = await context.db
    .select({ at: min(memberships.nextTryAt) })
    .from(memberships)
    .where(isNotNull(memberships.endRequest))
  return earliest(page, membership?.at)
}
