import type { Membership as MembershipView } from '@robokids/contracts/billing'
import type { Stripe } from 'stripe'
import { refreshMembership } from './apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { presentMembership, readMembership } from './read-memberships.ts'
import { hasEnded } from './rules.ts'
import type { Membership } from '../schema.ts'
import { callStripe, idOf, StripeFailure } from '../stripe/client.ts'
import { DomainError } from '@robokids/runtime/errors'

/** Returns a membership after a refresh. @throws DomainError membership_not_found, membership_not_changeable */
export async function requireActiveMembership(context: BillingContext, membershipId: string): Promise<Membership> {
  const known = await readMembership(context.db, membershipId)
  if (known.status !== 'active') throw membershipEnded()
  await refreshMembership(context, known.stripeSubscriptionId)
  const membership = await readMembership(context.db, membershipId)
  if (membership.status !== 'active') throw membershipEnded()
  return membership
}

export async function presentRefreshed(
  context: BillingContext,
  { attemptId, stripeSubscriptionId }: Membership,
): Promise<MembershipView> {
  await refreshMembership(context, stripeSubscriptionId)
  return presentMembership(context.db, await readMembership(context.db, attemptId))
}

export function retrieveSubscription(context: BillingContext, subscriptionId: string): Promise<Stripe.Subscription> {
  return callStripe(context, (stripe) => stripe.subscriptions.retrieve(subscriptionId))
}

/**
 * Fetches the subscription of a running membership: enough to decide on the call to make. A refresh follows that call.
 * @throws DomainError membership_not_found, membership_not_changeable
 */
export async function fetchRunningSubscription(
  context: BillingContext,
  membershipId: string,
): Promise<{ membership: Membership; subscription: Stripe.Subscription }> {
  const membership = await readMembership(context.db, membershipId)
  if (membership.status !== 'active') throw membershipEnded()
  let subscription: Stripe.Subscription | undefined
  try {
    subscription = await retrieveSubscription(context, membership.stripeSubscriptionId)
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.missing) throw error
  }
  if (subscription && !hasEnded(subscription.status)) return { membership, subscription }
  await refreshMembership(context, membership.stripeSubscriptionId)
  throw membershipEnded()
}

/** Cancels a scheduled change of plan, if any: the current plan continues. */
export async function releaseSchedule(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  const scheduleId = idOf(subscription.schedule)
  if (scheduleId === null) return
  try {
    await callStripe(context, (stripe) => stripe.subscriptionSchedules.release(scheduleId))
  } catch (error) {
    // A concurrent request was faster.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
}

export function willEnd({ cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return cancel_at !== null || cancel_at_period_end
}

const membershipEnded = () =>
  new DomainError('membership_not_changeable', 'This membership has ended. You can become a member again.')
