import type { Membership as MembershipView } from '@robokids/contracts/billing'
import type { Stripe } from 'stripe'
import { refreshMembership } from './apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { presentMembership, readMembership } from './read-memberships.ts'
import { hasEnded } from './rules.ts'
import type { Membership } from '../schema.ts'
import { callStripe, idOf, StripeFailure } from '../stripe/client.ts'
import { DomainError } from '@robokids/runtime/errors'

/** @throws DomainError membership_not_found, membership_not_changeable */
export async function requireActiveMembership(context: BillingContext, membershipId: string): Promise<Membership> {
  const known = await readMembership(context.db, membershipId)
  if (known.status !== 'active') throw ended()
  await refreshMembership(context, known.stripeSubscriptionId)
  const membership = await readMembership(context.db, membershipId)
  if (membership.status !== 'active') throw ended()
  return membership
}

export async function answer(
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
 * A running membership's subscription as it is now: enough to decide what to callStripe for. All of it is looked at afterwards.
 * @throws DomainError membership_not_found, membership_not_changeable
 */
export async function runningSubscription(
  context: BillingContext,
  membershipId: string,
): Promise<{ membership: Membership; subscription: Stripe.Subscription }> {
  const membership = await readMembership(context.db, membershipId)
  if (membership.status !== 'active') throw ended()
  let subscription: Stripe.Subscription | undefined
  try {
    subscription = await retrieveSubscription(context, membership.stripeSubscriptionId)
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.missing) throw error
  }
  if (subscription && !hasEnded(subscription.status)) return { membership, subscription }
  await refreshMembership(context, membership.stripeSubscriptionId)
  throw ended()
}

/** A plan that was to begin later does not: what runs goes on. Nothing happens where there is none. */
export async function releaseSchedule(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  const scheduleId = idOf(subscription.schedule)
  if (scheduleId === null) return
  try {
    await callStripe(context, (stripe) => stripe.subscriptionSchedules.release(scheduleId))
  } catch (error) {
    // Somebody was faster.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
}

export function willEnd({ cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return cancel_at !== null || cancel_at_period_end
}

const ended = () =>
  new DomainError('membership_not_changeable', 'This membership has ended. You can become a member again.')
