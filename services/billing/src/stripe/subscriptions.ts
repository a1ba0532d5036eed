import type { MembershipPlan } from '@robokids/contracts/auth'
import { sql } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import { subscriptionFetches, memberships } from '../schema.ts'
import type { ObservedCheckoutSession, Card, UnpaidInvoice } from './observed.ts'
import { callStripe, attemptIdOf, idOf } from './client.ts'
import { fetchCheckoutSession } from './checkout-sessions.ts'
import type { ObservedInvoice, ObservedMembership } from './observed.ts'

const at = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
const toPlan = (interval: string | undefined): MembershipPlan => (interval === 'year' ? 'yearly' : 'monthly')
/** Longer than a month and shorter than a year. */
const maxMonthSeconds = 100 * 24 * 3600

/** @throws StripeFailure `missing` where the provider has no such subscription. */
export async function fetchMembership(context: BillingContext, subscriptionId: string): Promise<ObservedMembership> {
  // Before the call: any change recorded from now on makes the response stale.
  const {
    rows: [begun],
  } = await context.db.execute<{ fetchNumber: string; version: number | null }>(sql`
    select nextval(${subscriptionFetches.seqName}) as "fetchNumber",
      (select version from ${memberships} where ${memberships.stripeSubscriptionId} = ${subscriptionId}) as version`)
  const subscription = await callStripe(context, (stripe) =>
    stripe.subscriptions.retrieve(subscriptionId, {
      expand: ['default_payment_method', 'customer', 'schedule'],
    }),
  )
  // After the subscription: an invoice paid in between comes with an older period, never the reverse.
  const invoices = await callStripe(context, (stripe) =>
    stripe.invoices
      .list({ subscription: subscriptionId, limit: 100, expand: ['data.payments'] })
      .autoPagingToArray({ limit: 10_000 }),
  )
  const [item] = subscription.items.data
  if (!item) throw new Error(`The subscription ${subscriptionId} has no item.`)
  const periodEnd = at(item.current_period_end)
  const open = invoices.filter(({ status }) => status === 'open')
  const [next, card, unpaid] = await Promise.all([
    fetchNextPlan(context, subscription),
    fetchCard(context, subscription),
    fetchUnpaidInvoice(context, subscription, open),
  ])
  return {
    version: begun?.version ?? null,
    fetchNumber: Number(begun?.fetchNumber),
    subscriptionId,
    attemptId: attemptIdOf(subscription),
    status: subscription.status,
    plan: toPlan(item.price.recurring?.interval),
    amount: item.price.unit_amount ?? 0,
    periodStart: at(item.current_period_start),
    paidUntil: periodEnd,
    // The billing portal sets one or the other.
    cancelAt:
      subscription.cancel_at !== null
        ? at(subscription.cancel_at)
        : subscription.cancel_at_period_end
          ? periodEnd
          : null,
    endedAt: subscription.ended_at === null ? null : at(subscription.ended_at),
    endedUnpaid: subscription.cancellation_details?.reason === 'payment_failed',
    next,
    card,
    unpaid,
    openInvoices: open.map(({ id }) => id),
    // Invoices of the same second in the order of their creation.
    paid: invoices
      .toReversed()
      .flatMap(toPaidInvoices)
      .toSorted((a, b) => Temporal.Instant.compare(a.paidAt, b.paidAt)),
  }
}

function toPaidInvoices(invoice: Stripe.Invoice): ObservedInvoice[] {
  if (invoice.status !== 'paid' || invoice.amount_paid <= 0) return []
  const payment = invoice.payments?.data.find(({ status }) => status === 'paid')
  const intentId = idOf(payment?.payment.payment_intent)
  if (intentId === null) return []
  const paidAt = invoice.status_transitions.paid_at ?? invoice.created
  const [line] = invoice.lines.data.filter(({ amount }) => amount > 0).toSorted((a, b) => b.period.end - a.period.end)
  const period = line?.period ?? { start: invoice.period_start, end: invoice.period_end }
  const reasons: Record<string, ObservedInvoice['reason']> = {
    subscription_create: 'first',
    subscription_update: 'switch',
  }
  return [
    {
      invoiceId: invoice.id,
      intentId,
      amount: invoice.amount_paid,
      currency: invoice.currency,
      paidAt: at(paidAt),
      reason: reasons[invoice.billing_reason ?? ''] ?? 'renewal',
      plan: period.end - period.start > maxMonthSeconds ? 'yearly' : 'monthly',
      periodStart: at(period.start),
      periodEnd: at(period.end),
    },
  ]
}

/** @param invoices the open ones, newest first */
async function fetchUnpaidInvoice(
  context: BillingContext,
  { pending_update, latest_invoice }: Stripe.Subscription,
  invoices: Stripe.Invoice[],
): Promise<UnpaidInvoice | null> {
  // The invoice of a pending change of plan is optional: unpaid, nothing changes.
  const offered = pending_update ? idOf(latest_invoice) : null
  const open = invoices.find(({ id, attempt_count }) => id !== offered && attempt_count > 0)
  if (!open) return null
  const nextTry = open.next_payment_attempt
  return {
    invoiceId: open.id,
    amount: open.amount_remaining,
    attempts: open.attempt_count,
    nextTryAt: nextTry === null ? null : at(nextTry).toString(),
    confirmUrl: (await needsConfirmation(context, open)) ? (open.hosted_invoice_url ?? null) : null,
  }
}

/** Stripe's error codes for payments that the cardholder has to confirm, or failed to. */
const confirmationCodes = ['authentication_required', 'payment_intent_authentication_failure']

async function needsConfirmation(context: BillingContext, { payments }: Stripe.Invoice): Promise<boolean> {
  const intentId = idOf(payments?.data.find(({ status }) => status === 'open')?.payment.payment_intent)
  if (intentId === null) return false
  const intent = await callStripe(context, (stripe) => stripe.paymentIntents.retrieve(intentId))
  return intent.status === 'requires_action' || confirmationCodes.includes(intent.last_payment_error?.code ?? '')
}

async function fetchNextPlan(
  context: BillingContext,
  { schedule }: Stripe.Subscription,
): Promise<ObservedMembership['next']> {
  if (typeof schedule === 'string' || schedule?.status !== 'active') return null
  const now = schedule.current_phase?.end_date
  const phase = schedule.phases.find(({ start_date }) => start_date === now)
  const priceId = idOf(phase?.items[0]?.price)
  if (priceId === null) return null
  const price = await callStripe(context, (stripe) => stripe.prices.retrieve(priceId))
  return { plan: toPlan(price.recurring?.interval), amount: price.unit_amount ?? 0 }
}

/** Returns the card that will be charged next: the subscription's own, or else the customer's default. */
async function fetchCard(context: BillingContext, subscription: Stripe.Subscription): Promise<Card | null> {
  const { customer, default_payment_method: own } = subscription
  const ofCustomer =
    typeof customer === 'string' || customer.deleted ? null : customer.invoice_settings.default_payment_method
  const shown = own ?? ofCustomer
  const method =
    typeof shown === 'string' ? await callStripe(context, (stripe) => stripe.paymentMethods.retrieve(shown)) : shown
  if (!method?.card) return null
  const { brand, last4, exp_month: expMonth, exp_year: expYear } = method.card
  return { brand, last4, expMonth, expYear }
}

/** Fetches a checkout session with the whole subscription that it started. */
export async function fetchWholeCheckoutSession(
  context: BillingContext,
  checkoutSessionId: string,
): Promise<ObservedCheckoutSession> {
  const checkoutSession = await fetchCheckoutSession(context, checkoutSessionId)
  if (!checkoutSession.subscription) return checkoutSession
  const observed = await fetchMembership(context, checkoutSession.subscription.subscriptionId)
  return { ...checkoutSession, subscription: { ...checkoutSession.subscription, observed } }
}
