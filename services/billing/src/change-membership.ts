import {
  membershipSku,
  type Membership as MembershipView,
  type SwitchMembership,
  type SwitchQuote,
} from '@robokids/contracts/billing'
import type { MembershipPlan } from '@robokids/contracts/auth'
import { periodOf } from '@robokids/contracts/membership'
import { DomainError } from '@robokids/runtime/errors'
import type { Stripe } from 'stripe'
import { refreshMembership } from './apply-membership.ts'
import type { BillingContext } from './config.ts'
import { presentMembership, readMembership } from './read-memberships.ts'
import { priceOf } from './read-prices.ts'
import { hasEnded } from './rules.ts'
import type { Membership } from './schema.ts'
import { ask, idOf, StripeFailure, stripeTime } from './stripe.ts'

/** How long the money of a quote may stand. */
const quoteLifetimeSeconds = 15 * 60

const ended = () =>
  new DomainError('membership_not_changeable', 'This membership has ended. You can become a member again.')

/** @throws DomainError membership_not_found, membership_not_changeable */
async function running(context: BillingContext, membershipId: string): Promise<Membership> {
  const known = await readMembership(context.db, membershipId)
  if (known.status !== 'active') throw ended()
  await refreshMembership(context, known.stripeSubscriptionId)
  const membership = await readMembership(context.db, membershipId)
  if (membership.status !== 'active') throw ended()
  return membership
}

async function answer(
  context: BillingContext,
  { attemptId, stripeSubscriptionId }: Membership,
): Promise<MembershipView> {
  await refreshMembership(context, stripeSubscriptionId)
  return presentMembership(context.db, await readMembership(context.db, attemptId))
}

export function retrieveSubscription(context: BillingContext, subscriptionId: string): Promise<Stripe.Subscription> {
  return ask(context, (stripe) => stripe.subscriptions.retrieve(subscriptionId))
}

/**
 * A running membership's subscription as it is now: enough to decide what to ask for. All of it is looked at afterwards.
 * @throws DomainError membership_not_found, membership_not_changeable
 */
async function runningSubscription(
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
async function releaseSchedule(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  const scheduleId = idOf(subscription.schedule)
  if (scheduleId === null) return
  try {
    await ask(context, (stripe) => stripe.subscriptionSchedules.release(scheduleId))
  } catch (error) {
    // Somebody was faster.
    if (!(error instanceof StripeFailure) || !error.refused) throw error
  }
}

/** Has the provider end a subscription with the time that is paid. */
export async function cancelSubscription(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  if (willEnd(subscription)) return
  await releaseSchedule(context, subscription)
  await ask(context, (stripe) => stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true }))
}

function willEnd({ cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return cancel_at !== null || cancel_at_period_end
}

/** A membership is not renewed any more. Safe to repeat. @throws DomainError membership_not_found */
export async function cancelMembership(context: BillingContext, membershipId: string): Promise<MembershipView> {
  const { membership, subscription } = await runningSubscription(context, membershipId)
  await cancelSubscription(context, subscription)
  return answer(context, membership)
}

/** A membership that was to end goes on. Safe to repeat. */
export async function resumeMembership(context: BillingContext, membershipId: string): Promise<MembershipView> {
  const { membership, subscription } = await runningSubscription(context, membershipId)
  if (willEnd(subscription)) {
    const changes = subscription.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' as const }
    await ask(context, (stripe) => stripe.subscriptions.update(subscription.id, changes))
  }
  return answer(context, membership)
}

/** The provider's page where a member changes the card and finds the invoices. */
export async function openPortal(context: BillingContext, membershipId: string): Promise<{ url: string }> {
  const { stripeCustomerId: customer } = await readMembership(context.db, membershipId)
  const { url } = await ask(context, (stripe) =>
    stripe.billingPortal.sessions.create({ customer, return_url: `${context.config.SITE_URL}/profile` }),
  )
  return { url }
}

interface Change {
  quote: SwitchQuote
  /** What the provider is asked for, where it begins at once. */
  items: Stripe.SubscriptionUpdateParams.Item[]
  subscription: Stripe.Subscription
}

const at = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toString()

function itemOf({ items }: Stripe.Subscription) {
  const [item] = items.data
  if (!item) throw new Error('A subscription has no item.')
  return item
}

/** What a change of plan comes to, reckoned for one second. */
async function reckon(
  context: BillingContext,
  membership: Membership,
  plan: MembershipPlan,
  reckonedAt: number,
): Promise<Change> {
  if (membership.cancelAt !== null) {
    throw new DomainError(
      'membership_not_changeable',
      'This membership is cancelled. Resume it first, then change the plan.',
    )
  }
  if (membership.subscriptionStatus !== 'active') {
    throw new DomainError(
      'membership_not_changeable',
      'A payment is open. Update your card first, then change the plan.',
    )
  }
  const amount = await context.db.transaction((tx) => priceOf(tx, membershipSku(plan), context.clock.now()))
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const { stripeSubscriptionId: subscriptionId } = membership
  const subscription = await retrieveSubscription(context, subscriptionId)
  const item = itemOf(subscription)
  const paidUntil = at(item.current_period_end)
  const later = { plan, currency: 'usd' as const, dueNow: 0, credit: 0, reckonedAt }
  if (plan === membership.plan) {
    if (membership.nextPlan === null) {
      throw new DomainError('membership_not_changeable', `Your membership is ${plan} already.`)
    }
    // Back to what runs: at the price it has.
    const quote = { ...later, from: at(reckonedAt), amount: membership.amount, nextChargeAt: paidUntil }
    return { quote, items: [], subscription }
  }
  const price = {
    currency: 'usd',
    product: idOf(item.price.product) ?? '',
    recurring: { interval: periodOf(plan) },
    unit_amount: amount,
  }
  const items = [{ id: item.id, price_data: price }]
  // A year that is paid is never cut short: the months begin after it.
  if (plan === 'monthly') {
    return { quote: { ...later, amount, from: paidUntil, nextChargeAt: paidUntil }, items, subscription }
  }
  const preview = await ask(context, (stripe) =>
    stripe.invoices.createPreview({
      customer: membership.stripeCustomerId,
      subscription: subscriptionId,
      subscription_details: { items, proration_behavior: 'always_invoice', proration_date: reckonedAt },
    }),
  )
  const credit = preview.lines.data.reduce((sum, line) => sum - Math.min(0, line.amount), 0)
  const end = Math.max(...preview.lines.data.map(({ period }) => period.end))
  const quote = {
    plan,
    from: at(reckonedAt),
    dueNow: preview.amount_due,
    credit,
    amount,
    currency: 'usd' as const,
    nextChargeAt: at(end),
    reckonedAt,
  }
  return { quote, items, subscription }
}

/** What a change of plan costs, before anybody agrees to it. @throws DomainError membership_not_changeable */
export async function quoteSwitch(
  context: BillingContext,
  membershipId: string,
  plan: MembershipPlan,
): Promise<SwitchQuote> {
  const membership = await running(context, membershipId)
  const now = Math.floor(stripeTime(context).epochMilliseconds / 1000)
  const { quote } = await reckon(context, membership, plan, now)
  return quote
}

/**
 * Changes the plan as it was quoted: monthly to yearly at once, with the unused time of the month taken off; yearly to
 * monthly when the year that is paid is over. Safe to repeat.
 * @throws DomainError membership_not_changeable, quote_outdated, payment_declined
 */
export async function switchMembership(
  context: BillingContext,
  membershipId: string,
  { plan, dueNow, reckonedAt }: SwitchMembership,
): Promise<MembershipView> {
  const membership = await running(context, membershipId)
  const { stripeSubscriptionId: subscriptionId } = membership
  if (isOn(membership, plan)) return answer(context, membership)
  const age = Math.abs(Math.floor(stripeTime(context).epochMilliseconds / 1000) - reckonedAt)
  const change = await reckon(context, membership, plan, reckonedAt)
  if (age > quoteLifetimeSeconds || change.quote.dueNow !== dueNow) {
    // The same request, a moment earlier, may be why it costs something else now.
    const now = await running(context, membershipId)
    if (isOn(now, plan)) return answer(context, now)
    throw new DomainError('quote_outdated', 'The amount has changed meanwhile. Please look at it again.')
  }
  const idempotencyKey = `switch:${membershipId}:${plan}:${reckonedAt}`
  if (plan === membership.plan) await releaseSchedule(context, change.subscription)
  else if (plan === 'monthly') await switchLater(context, change)
  else await switchNow(context, subscriptionId, change, idempotencyKey)
  return answer(context, membership)
}

/** Whether a plan runs, or is what comes next. */
function isOn({ plan, nextPlan }: Membership, wanted: MembershipPlan): boolean {
  return (nextPlan ?? plan) === wanted
}

const mostKeys = 5

async function switchNow(
  context: BillingContext,
  subscriptionId: string,
  { items, quote }: Pick<Change, 'items' | 'quote'>,
  key: string,
  generation = 0,
): Promise<void> {
  const idempotencyKey = generation === 0 ? key : `${key}.${generation}`
  try {
    await ask(context, (stripe) =>
      stripe.subscriptions.update(
        subscriptionId,
        {
          items,
          proration_behavior: 'always_invoice',
          proration_date: quote.reckonedAt,
          // Where the card is declined, nothing changes.
          payment_behavior: 'error_if_incomplete',
        },
        { idempotencyKey },
      ),
    )
  } catch (error) {
    if (!(error instanceof StripeFailure) || error.httpStatus !== 402) throw error
    // An earlier try was declined and changed nothing; the card may be another one by now.
    if (error.replayed && generation < mostKeys) {
      return switchNow(context, subscriptionId, { items, quote }, key, generation + 1)
    }
    throw new DomainError(
      'payment_declined',
      'Your card was declined, and nothing was changed. Update your card, then try again.',
    )
  }
}

/** Two questions: killed in between, the first leaves a schedule that changes nothing, and is found again. */
async function switchLater(context: BillingContext, { subscription, items }: Change): Promise<void> {
  const schedule = await scheduleOf(context, subscription)
  const [phase] = schedule.phases
  const item = itemOf(subscription)
  const next = items[0]?.price_data
  if (!phase || !next) throw new Error(`The schedule ${schedule.id} has no phase.`)
  await ask(context, (stripe) =>
    stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [
        {
          items: [{ price: item.price.id, quantity: 1 }],
          start_date: phase.start_date,
          end_date: item.current_period_end,
        },
        { items: [{ price_data: next, quantity: 1 }], duration: { interval: 'month', interval_count: 1 } },
      ],
    }),
  )
}

/** The schedule of a subscription, which has one at most. */
async function scheduleOf(
  context: BillingContext,
  { id, schedule }: Stripe.Subscription,
): Promise<Stripe.SubscriptionSchedule> {
  const known = idOf(schedule)
  if (known !== null) return ask(context, (stripe) => stripe.subscriptionSchedules.retrieve(known))
  try {
    return await ask(context, (stripe) => stripe.subscriptionSchedules.create({ from_subscription: id }))
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.refused) throw error
    // Somebody was faster.
    const made = idOf((await retrieveSubscription(context, id)).schedule)
    if (made === null) throw error
    return ask(context, (stripe) => stripe.subscriptionSchedules.retrieve(made))
  }
}
