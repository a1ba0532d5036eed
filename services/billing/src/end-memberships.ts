import { isNotNull } from 'drizzle-orm'
import { refreshMembership } from './apply-membership.ts'
import { cancelSubscription } from './change-membership.ts'
import type { BillingContext } from './config.ts'
import { memberships, type Membership } from './schema.ts'
import { ask, StripeFailure } from './stripe.ts'

/** Has the provider end the memberships that are to end. A failure with one is tried again at the next run. */
export async function endMemberships(context: BillingContext): Promise<void> {
  const due = await context.db.select().from(memberships).where(isNotNull(memberships.endRequest)).limit(100)
  for (const membership of due) {
    try {
      await end(context, membership)
    } catch (error) {
      context.log.warn({ err: error, membershipId: membership.attemptId }, 'a membership could not be ended yet')
    }
  }
}

async function end(context: BillingContext, membership: Membership): Promise<void> {
  const { endRequest, stripeSubscriptionId: subscriptionId } = membership
  try {
    if (endRequest === 'at_period_end') await cancelSubscription(context, subscriptionId)
    else await ask(context, (stripe) => stripe.subscriptions.cancel(subscriptionId))
  } catch (error) {
    // It has ended already: what is asked after next says so.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
  await refreshMembership(context, subscriptionId)
}
