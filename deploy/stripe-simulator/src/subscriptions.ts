/** Subscriptions: made by a Checkout Session in `subscription` mode once its first payment has succeeded. */
import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import { emit } from './events.ts'
import { idOf, newId } from './ids.ts'
import { createPaidInvoice } from './invoices.ts'
import { page } from './lists.ts'
import { expandParam, listParams, object, oneOf, optional, string, timeRange } from './params.ts'
import { del, get, type Routes } from './routes.ts'
import { newestFirst, type SessionRecord } from './store.ts'
import {
  BY_ITSELF,
  type Cause,
  type LineItem,
  type PaymentIntent,
  type PaymentMethod,
  type Price,
  type Subscription,
  type SubscriptionItem,
} from './types.ts'

const STATUSES = ['active', 'canceled', 'incomplete', 'incomplete_expired', 'past_due', 'paused', 'trialing', 'unpaid']
const GONE = ['canceled', 'incomplete_expired']

/** Seconds at which a period of a price ends that begins at `start`. */
function periodEnd(start: number, { recurring }: Price): number {
  const unit = `${recurring?.interval ?? 'month'}s` as 'days' | 'weeks' | 'months' | 'years'
  return (
    Temporal.Instant.fromEpochMilliseconds(start * 1000)
      .toZonedDateTimeISO('UTC')
      .add({ [unit]: recurring?.interval_count ?? 1 }).epochMilliseconds / 1000
  )
}

/** What a paid session begins: the subscription and its first invoice, paid by `intent`. */
export function startSubscription(
  ctx: Context,
  record: SessionRecord,
  intent: PaymentIntent,
  method: PaymentMethod,
): Subscription {
  const subscription = createSubscription(ctx, record, idOf(intent.customer), method)
  emit(ctx, 'customer.subscription.created', subscription, BY_ITSELF)
  const invoice = createPaidInvoice(ctx, subscription, record.lineItems, intent)
  subscription.latest_invoice = invoice.id
  record.object.subscription = subscription.id
  record.object.invoice = invoice.id
  return subscription
}

function createSubscription(
  ctx: Context,
  record: SessionRecord,
  customer: string,
  method: PaymentMethod,
): Subscription {
  const now = ctx.clock.seconds()
  const id = newId('sub_1')
  const subscription: Subscription = {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: now,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: now,
    currency: record.object.currency ?? 'usd',
    customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: method.id,
    default_source: null,
    default_tax_rates: [],
    description: record.subscriptionData?.description ?? null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: page(
      record.lineItems.map((item) => createItem(id, item, now)),
      { limit: 100 },
      `/v1/subscription_items?subscription=${id}`,
      'subscription_item',
    ),
    latest_invoice: null,
    livemode: false,
    managed_payments: { enabled: false },
    metadata: { ...record.subscriptionData?.metadata },
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: now,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: null,
  }
  ctx.store.subscriptions.set(id, subscription)
  return subscription
}

function createItem(subscription: string, { price, quantity }: LineItem, now: number): SubscriptionItem {
  return {
    id: newId('si_'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: now,
    current_period_end: periodEnd(now, price),
    current_period_start: now,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity: quantity ?? 1,
    subscription,
    tax_rates: [],
  }
}

/** The price in the shape that came before prices. */
function planOf(price: Price): SubscriptionItem['plan'] {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: null,
    product: idOf(price.product),
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  }
}

/** Ends a subscription at once. What was paid stays paid. */
function endSubscription(ctx: Context, subscription: Subscription, cause: Cause): void {
  const now = ctx.clock.seconds()
  subscription.status = 'canceled'
  subscription.canceled_at = now
  subscription.ended_at = now
  subscription.cancellation_details = {
    comment: null,
    feedback: null,
    feedback_option: null,
    reason: 'cancellation_requested',
  }
  emit(ctx, 'customer.subscription.deleted', subscription, cause)
}

/** A customer who is deleted has no subscriptions any more. */
export function endSubscriptionsOf(ctx: Context, customer: string, cause: Cause): void {
  for (const subscription of ctx.store.subscriptions.values()) {
    if (idOf(subscription.customer) === customer && !GONE.includes(subscription.status)) {
      endSubscription(ctx, subscription, cause)
    }
  }
}

function existing(ctx: Context, id: string): Subscription {
  const subscription = ctx.store.subscriptions.get(id)
  if (subscription === undefined) throw noSuch('subscription', id, 'id')
  return subscription
}

export const subscriptionRoutes: Routes = (route) => {
  route(
    get(
      '/v1/subscriptions',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        price: optional(string()),
        status: optional(oneOf([...STATUSES, 'all', 'ended'])),
      },
      (ctx, { created, customer, price, status, ...paging }) => {
        const isWanted = (one: Subscription) => {
          if (status === 'all') return true
          if (status === undefined) return one.status !== 'canceled'
          return status === 'ended' ? GONE.includes(one.status) : one.status === status
        }
        const found = newestFirst(ctx.store.subscriptions).filter(
          (one) =>
            created(one.created) &&
            (customer === undefined || one.customer === customer) &&
            (price === undefined || one.items.data.some((item) => item.price.id === price)) &&
            isWanted(one),
        )
        return page(found, paging, '/v1/subscriptions', 'subscription')
      },
    ),
  )

  route(get('/v1/subscriptions/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    del(
      '/v1/subscriptions/:id',
      { ...expandParam, cancellation_details: optional(object({ comment: optional(string()) })) },
      (ctx, params, { id }, cause) => {
        const subscription = existing(ctx, id)
        if (GONE.includes(subscription.status)) throw noSuch('subscription', id, 'id')
        endSubscription(ctx, subscription, cause)
        if (params.cancellation_details?.comment !== undefined && subscription.cancellation_details) {
          subscription.cancellation_details.comment = params.cancellation_details.comment
        }
        return subscription
      },
    ),
  )
}
