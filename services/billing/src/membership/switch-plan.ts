import type { Agreement, AgreementTerms } from '@robokids/contracts/agreement'
import {
  membershipSku,
  type Membership as MembershipView,
  type SwitchMembership,
  type SwitchQuote,
} from '@robokids/contracts/billing'
import type { MembershipPlan } from '@robokids/contracts/auth'
import { classTimeZone } from '@robokids/contracts/class-date'
import { periodOf, renewalTermsVersion } from '@robokids/contracts/membership'
import { DomainError } from '@robokids/runtime/errors'
import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import { toAgreement, offerChanged } from '../prices/agreements.ts'
import type { BillingContext } from '../config.ts'
import { retainedOfLastPayment } from './read-memberships.ts'
import { findPrice } from '../prices/read-prices.ts'
import { planOffers, type Membership } from '../schema.ts'
import { callStripe, idOf, StripeFailure, stripeTime } from '../stripe/client.ts'
import {
  requireActiveMembership,
  presentRefreshed,
  retrieveSubscription,
  releaseSchedule,
} from './running-membership.ts'

/** How long a quote is valid. */
const quoteLifetimeSeconds = 15 * 60

interface Change {
  quote: SwitchQuote & { agreement: Agreement }
  /** The update at Stripe, for an immediate change. */
  items: Stripe.SubscriptionUpdateParams.Item[]
  /** Whether the unused time of the current plan is credited. */
  prorates: boolean
  subscription: Stripe.Subscription
}

const instantOf = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
const at = (seconds: number) => instantOf(seconds).toString()

function subscriptionItem({ items }: Stripe.Subscription) {
  const [item] = items.data
  if (!item) throw new Error('A subscription has no item.')
  return item
}

/** Adds the agreement to a quote. */
function offer(quote: Omit<SwitchQuote, 'agreement'>): Change['quote'] {
  const { plan, amount, currency, dueNow, credit, nextChargeAt, reckonedAt } = quote
  const on = Temporal.Instant.from(nextChargeAt).toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
  const terms = {
    kind: 'plan_change' as const,
    lines: [{ sku: membershipSku(plan), quantity: 1, unitAmount: amount }],
    date: null,
    currency,
    dueNow,
    credit,
    renewal: { plan, amount, on },
    termsVersion: renewalTermsVersion,
    reckonedAt,
  }
  return { ...quote, agreement: toAgreement(terms, instantOf(reckonedAt + quoteLifetimeSeconds)) }
}

/** Calculates a change of plan as of one second. */
async function calculateProration(
  context: BillingContext,
  membership: Membership,
  plan: MembershipPlan,
  reckonedAt: number,
): Promise<Change> {
  if (membership.cancelAt !== null || membership.endRequest !== null) {
    throw new DomainError(
      'membership_not_changeable',
      'This membership is canceled. Select “Keep my membership” first, then change the plan.',
    )
  }
  if (membership.subscriptionStatus !== 'active') {
    throw new DomainError(
      'membership_not_changeable',
      'A payment is overdue. Update your card first, then change the plan.',
    )
  }
  const amount = await context.db.transaction((tx) => findPrice(tx, membershipSku(plan), context.clock.now()))
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const { stripeSubscriptionId: subscriptionId } = membership
  const subscription = await retrieveSubscription(context, subscriptionId)
  const item = subscriptionItem(subscription)
  const paidUntil = at(item.current_period_end)
  const later = { plan, currency: 'usd' as const, dueNow: 0, credit: 0, reckonedAt }
  if (plan === membership.plan) {
    if (membership.nextPlan === null) {
      throw new DomainError('membership_not_changeable', `Your membership is already ${plan}.`)
    }
    // Keep the current plan, at its price.
    const quote = offer({ ...later, from: at(reckonedAt), amount: membership.amount, nextChargeAt: paidUntil })
    return { quote, items: [], prorates: false, subscription }
  }
  const price = {
    currency: 'usd',
    product: idOf(item.price.product) ?? '',
    recurring: { interval: periodOf(plan) },
    unit_amount: amount,
  }
  const items = [{ id: item.id, price_data: price }]
  // A paid year is never cut short: monthly renewal starts after it.
  if (plan === 'monthly') {
    const quote = offer({ ...later, amount, from: paidUntil, nextChargeAt: paidUntil })
    return { quote, items, prorates: false, subscription }
  }
  const preview = (prorates: boolean) =>
    callStripe(context, (stripe) =>
      stripe.invoices.createPreview({
        customer: membership.stripeCustomerId,
        subscription: subscriptionId,
        subscription_details: { items, ...prorationParameters(prorates, reckonedAt) },
      }),
    )
  const creditTotal = ({ lines }: Stripe.Invoice) => lines.data.reduce((sum, line) => sum - Math.min(0, line.amount), 0)
  const prorated = await preview(true)
  // No credit for money that is refunded, being refunded or disputed.
  const prorates = creditTotal(prorated) <= (await retainedOfLastPayment(context.db, membership.attemptId))
  const invoice = prorates ? prorated : await preview(false)
  const quote = offer({
    plan,
    from: at(reckonedAt),
    dueNow: invoice.amount_due,
    credit: creditTotal(invoice),
    amount,
    currency: 'usd' as const,
    nextChargeAt: at(Math.max(...invoice.lines.data.map(({ period }) => period.end))),
    reckonedAt,
  })
  return { quote, items, prorates, subscription }
}

function prorationParameters(prorates: boolean, reckonedAt: number) {
  return prorates
    ? { proration_behavior: 'always_invoice' as const, proration_date: reckonedAt }
    : { proration_behavior: 'none' as const }
}

/** Quotes a change of plan and saves the offer. @throws DomainError membership_not_changeable */
export async function quoteSwitch(
  context: BillingContext,
  membershipId: string,
  plan: MembershipPlan,
): Promise<Change['quote']> {
  const membership = await requireActiveMembership(context, membershipId)
  const { quote } = await calculateProration(context, membership, plan, stripeSeconds(context))
  await saveOffer(context, membershipId, quote.agreement)
  return quote
}

function stripeSeconds(context: BillingContext): number {
  return Math.floor(stripeTime(context).epochMilliseconds / 1000)
}

async function saveOffer({ db }: BillingContext, membershipId: string, agreement: Agreement): Promise<void> {
  const createdAt = Temporal.Now.instant()
  const isOver = lt(planOffers.createdAt, createdAt.subtract({ hours: 24 }))
  await db.delete(planOffers).where(and(eq(planOffers.membershipId, membershipId), isNull(planOffers.agreedAt), isOver))
  await db.insert(planOffers).values({ membershipId, id: agreement.id, agreement, createdAt }).onConflictDoNothing()
}

/** Finds the terms that were offered to a page of the previous version, which does not send them. */
async function offeredTerms(
  { db }: BillingContext,
  membershipId: string,
  { plan, dueNow, reckonedAt }: SwitchMembership,
): Promise<AgreementTerms | undefined> {
  const offers = await db
    .select()
    .from(planOffers)
    .where(eq(planOffers.membershipId, membershipId))
    .orderBy(desc(planOffers.createdAt))
  return offers
    .map(({ agreement }) => agreement.terms)
    .find((terms) => terms.reckonedAt === reckonedAt && terms.dueNow === dueNow && terms.renewal?.plan === plan)
}

/**
 * Changes the plan as quoted: monthly to yearly immediately, with a credit for the rest of the month; yearly to monthly after
 * the paid year. Idempotent.
 * @throws DomainError membership_not_changeable, quote_outdated, payment_declined, payment_confirmation_required
 */
export async function switchMembership(
  context: BillingContext,
  membershipId: string,
  request: SwitchMembership,
): Promise<MembershipView> {
  const { plan, dueNow, reckonedAt } = request
  const membership = await requireActiveMembership(context, membershipId)
  const { stripeSubscriptionId: subscriptionId } = membership
  if (hasPlan(membership, plan)) return presentRefreshed(context, membership)
  const agreed = request.agreed ?? (await offeredTerms(context, membershipId, request))
  // No quote has a distant time, and Stripe cannot calculate prorations for one.
  const isRecent = Math.abs(stripeSeconds(context) - reckonedAt) <= quoteLifetimeSeconds
  const change = isRecent ? await calculateProration(context, membership, plan, reckonedAt) : undefined
  const isOffered =
    change?.quote.dueNow === dueNow && (agreed === undefined || toAgreement(agreed).id === change.quote.agreement.id)
  if (!change || !isOffered) {
    // The same request may have succeeded a moment ago, and changed the price thereby.
    const now = await requireActiveMembership(context, membershipId)
    if (hasPlan(now, plan)) return presentRefreshed(context, now)
    throw offerChanged('quote_outdated', (await quoteSwitch(context, membershipId, plan)).agreement)
  }
  const { agreement } = change.quote
  await saveOffer(context, membershipId, agreement)
  await context.db
    .update(planOffers)
    .set({ agreedAt: context.clock.now().round('millisecond') })
    .where(and(eq(planOffers.membershipId, membershipId), eq(planOffers.id, agreement.id), isNull(planOffers.agreedAt)))
  const idempotencyKey = `switch:${membershipId}:${plan}:${reckonedAt}`
  if (plan === membership.plan) await releaseSchedule(context, change.subscription)
  else if (plan === 'monthly') await switchLater(context, change)
  else await switchNow(context, subscriptionId, change, idempotencyKey)
  return presentRefreshed(context, membership)
}

/** Whether a plan is the scheduled one, or else the current one. */
function hasPlan({ plan, nextPlan }: Membership, wanted: MembershipPlan): boolean {
  return (nextPlan ?? plan) === wanted
}

const maxKeys = 5

/** Stripe's error codes for payments that the cardholder has to confirm. */
const confirmationCodes = ['subscription_payment_intent_requires_action', 'authentication_required']

async function switchNow(
  context: BillingContext,
  subscriptionId: string,
  change: Change,
  key: string,
  generation = 0,
): Promise<void> {
  const idempotencyKey = generation === 0 ? key : `${key}.${generation}`
  try {
    // If the card is declined, nothing changes.
    await updateSubscription(context, subscriptionId, change, 'error_if_incomplete', idempotencyKey)
  } catch (error) {
    if (!(error instanceof StripeFailure) || error.httpStatus !== 402) throw error
    // An earlier attempt was declined and changed nothing; the card may have been replaced since.
    if (error.replayed && generation < maxKeys) {
      return switchNow(context, subscriptionId, change, key, generation + 1)
    }
    if (!confirmationCodes.includes(error.stripeCode ?? '')) throw paymentDeclined()
    await requestConfirmation(context, subscriptionId, change, key)
  }
}

const paymentDeclined = () =>
  new DomainError(
    'payment_declined',
    'Your card was declined, and nothing was changed. Update your card, then try again.',
  )

function updateSubscription(
  context: BillingContext,
  subscriptionId: string,
  { items, prorates, quote }: Change,
  behavior: 'error_if_incomplete' | 'pending_if_incomplete',
  idempotencyKey: string,
): Promise<Stripe.Subscription> {
  return callStripe(context, (stripe) =>
    stripe.subscriptions.update(
      subscriptionId,
      {
        items,
        ...prorationParameters(prorates, quote.reckonedAt),
        payment_behavior: behavior,
      },
      { idempotencyKey },
    ),
  )
}

/**
 * Leaves the change pending until the cardholder confirms the payment on the invoice's page. Until then nothing changes, and
 * Stripe voids the invoice after a day.
 * @throws DomainError payment_confirmation_required with the invoice's page, or payment_declined
 */
async function requestConfirmation(
  context: BillingContext,
  subscriptionId: string,
  change: Change,
  key: string,
  generation = 0,
): Promise<void> {
  const { plan, dueNow } = change.quote
  await updateSubscription(context, subscriptionId, change, 'pending_if_incomplete', `${key}:confirm.${generation}`)
  // The response may be a replay of an earlier attempt: fetch the current state.
  const now = await callStripe(context, (stripe) =>
    stripe.subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] }),
  )
  // The bank required no confirmation this time, and it is paid.
  if (subscriptionItem(now).price.recurring?.interval === periodOf(plan)) return
  const invoice = typeof now.latest_invoice === 'string' ? null : now.latest_invoice
  if (now.pending_update && invoice?.hosted_invoice_url && invoice.amount_due === dueNow) {
    throw new DomainError(
      'payment_confirmation_required',
      'Your bank needs you to confirm this payment. Nothing changes until you do.',
      undefined,
      { url: invoice.hosted_invoice_url },
    )
  }
  // The pending change has expired, or was replaced by another one.
  if (generation >= maxKeys) throw paymentDeclined()
  return requestConfirmation(context, subscriptionId, change, key, generation + 1)
}

/** Two calls: after a crash in between, the new schedule changes nothing and is found again. */
async function switchLater(context: BillingContext, { subscription, items }: Change): Promise<void> {
  const schedule = await getOrCreateSchedule(context, subscription)
  const [phase] = schedule.phases
  const item = subscriptionItem(subscription)
  const next = items[0]?.price_data
  if (!phase || !next) throw new Error(`The schedule ${schedule.id} has no phase.`)
  await callStripe(context, (stripe) =>
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

/** Returns the schedule of a subscription, which has at most one, or creates it. */
async function getOrCreateSchedule(
  context: BillingContext,
  { id, schedule }: Stripe.Subscription,
): Promise<Stripe.SubscriptionSchedule> {
  const known = idOf(schedule)
  if (known !== null) return callStripe(context, (stripe) => stripe.subscriptionSchedules.retrieve(known))
  try {
    return await callStripe(context, (stripe) => stripe.subscriptionSchedules.create({ from_subscription: id }))
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.refused) throw error
    // A concurrent request was faster.
    const made = idOf((await retrieveSubscription(context, id)).schedule)
    if (made === null) throw error
    return callStripe(context, (stripe) => stripe.subscriptionSchedules.retrieve(made))
  }
}
