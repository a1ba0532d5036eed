import { and, asc, eq, isNotNull, lte } from 'drizzle-orm'
import { refreshMembership } from './apply-membership.ts'
import { cancelSubscription, voidOpenInvoices } from './cancel-membership.ts'
import { retrieveSubscription } from './running-membership.ts'
import { closePages } from '../attempts/close-pages.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import type { BillingContext } from '../config.ts'
import { memberships, type Membership } from '../schema.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { nextTry, tryEach } from '../try-each.ts'

/** Has the provider end what is to end: memberships, and pages where one could still be paid. */
export async function endMemberships(context: BillingContext, signal: AbortSignal): Promise<void> {
  await closePages(context, signal, membershipAttemptKind)
  await endRequested(context, signal)
}

/** A failure with one is tried again, later and later. */
async function endRequested(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const isToEnd = isNotNull(memberships.endRequest)
  const due = await db
    .select()
    .from(memberships)
    .where(and(isToEnd, lte(memberships.nextTryAt, clock.now())))
    .orderBy(asc(memberships.tries), asc(memberships.nextTryAt))
    .limit(100)
  const putOff = (membership: Membership) =>
    db
      .update(memberships)
      .set(nextTry(context, membership))
      .where(and(eq(memberships.attemptId, membership.attemptId), isToEnd))
  await tryEach(
    signal,
    due,
    async (membership) => {
      await end(context, membership)
      await putOff(membership)
    },
    async (membership, error) => {
      log.warn({ err: error, membershipId: membership.attemptId }, 'a membership could not be ended yet')
      await putOff(membership)
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
    // It has ended already: what is asked after next says so.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
  await voidOpenInvoices(context, subscriptionId)
  await refreshMembership(context, subscriptionId)
}
