import { cardByLast4 } from '../payments/cards.ts'
import { cardError } from '../payments/charge-card.ts'
import { savedMethod } from '../payments/payment-methods.ts'
import { referencedCustomer } from '../payments/referenced-customer.ts'
import { existingIn, invalidRequest, noSuch, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import {
  boolean,
  clearable,
  expandParam,
  integer,
  list,
  listParams,
  mergeMetadata,
  metadata,
  missing,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  timeRange,
  type Decoded,
  type Decoder,
  type Fields,
} from '../protocol/params.ts'
import {
  noRequest,
  type Cause,
  type Metadata,
  type PaymentIntent,
  type PaymentMethod,
  type Price,
  type Subscription,
} from '../protocol/types.ts'
/** Subscriptions: created by a paid Checkout Session or by a request. */
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type SessionRecord } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import {
  changeItems,
  previewChange,
  scheduleCancel,
  type ItemsChange,
  type PaymentBehavior,
} from './change-subscription.ts'
import { collectInvoice, defaultMethod } from './collect-invoice.ts'
import { atTimeOf } from './customer-time.ts'
import { endSubscription, endedStatuses } from './end-subscription.ts'
import { createPaidInvoice, draftInvoice, finalizeInvoice, fullLine } from './invoices.ts'
import { currentEnd } from './renew-subscription.ts'
import { createItem, newItemParams, recurringPrice } from './subscription-items.ts'
import { periodEnd } from './subscription-periods.ts'
import { rejectScheduled } from './subscription-schedules.ts'

const statuses = ['active', 'canceled', 'incomplete', 'incomplete_expired', 'past_due', 'paused', 'trialing', 'unpaid']
const feedbackOptions = [
  'customer_service',
  'low_quality',
  'missing_features',
  'other',
  'switched_service',
  'too_complex',
  'too_expensive',
  'unused',
] as const

/** Starts the subscription of a paid session with its first invoice, paid by `intent`. */
export function startSubscription(
  ctx: Context,
  record: SessionRecord,
  intent: PaymentIntent,
  method: PaymentMethod,
): Subscription {
  const subscription = createSubscription(ctx, {
    customer: idOf(intent.customer),
    items: record.lineItems.map(({ price, quantity }) => ({ price, quantity: quantity ?? 1 })),
    currency: record.object.currency ?? 'usd',
    defaultMethod: method.id,
    description: record.subscriptionData?.description ?? null,
    metadata: record.subscriptionData?.metadata ?? {},
    status: 'active',
  })
  emit(ctx, 'customer.subscription.created', subscription, noRequest)
  const invoice = createPaidInvoice(ctx, subscription, intent)
  record.object.subscription = subscription.id
  record.object.invoice = invoice.id
  return subscription
}

interface NewSubscription {
  customer: string
  items: readonly { price: Price; quantity: number; metadata?: Metadata }[]
  currency: string
  defaultMethod: string | null
  description: string | null
  metadata: Metadata
  status: Subscription['status']
}

function createSubscription(ctx: Context, of: NewSubscription): Subscription {
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
    currency: of.currency,
    customer: of.customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: of.defaultMethod,
    default_source: null,
    default_tax_rates: [],
    description: of.description,
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
      of.items.map((item) => createItem(id, item, { start: now, end: periodEnd(now, now, item.price) }, now)),
      { limit: 100 },
      `/v1/subscription_items?subscription=${id}`,
      'subscription_item',
    ),
    latest_invoice: null,
    livemode: false,
    managed_payments: { enabled: false },
    metadata: { ...of.metadata },
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
    status: of.status,
    test_clock: idOf(ctx.store.customers.get(of.customer)?.object.test_clock) || null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: null,
  }
  ctx.store.subscriptions.set(id, subscription)
  return subscription
}

const cancellationDetails = object({
  comment: optional(clearable(string())),
  feedback: optional(clearable(oneOf(feedbackOptions))),
})

const cancelAt: Decoder<number | 'min_period_end' | 'max_period_end'> = (value, param) =>
  value === 'min_period_end' || value === 'max_period_end' ? value : integer(0)(value, param)

/** Parameters of new and changed subscriptions that are not simulated. */
const refused = {
  add_invoice_items: notSimulated(),
  application_fee_percent: notSimulated(''),
  automatic_tax: optional(object({ enabled: notSimulated('false') })),
  billing_schedules: notSimulated(''),
  billing_thresholds: notSimulated(''),
  collection_method: notSimulated('charge_automatically'),
  days_until_due: notSimulated(),
  default_source: notSimulated(''),
  default_tax_rates: notSimulated(''),
  discounts: notSimulated(''),
  invoice_settings: notSimulated(),
  on_behalf_of: notSimulated(''),
  payment_settings: notSimulated(),
  pending_invoice_item_interval: notSimulated(''),
  transfer_data: notSimulated(''),
  trial_end: notSimulated(),
  trial_from_plan: notSimulated('false'),
  trial_settings: notSimulated(),
}

const createParams = {
  ...expandParam,
  ...refused,
  backdate_start_date: notSimulated(),
  billing_cycle_anchor: notSimulated(),
  billing_cycle_anchor_config: notSimulated(),
  billing_mode: optional(object({ type: oneOf(['flexible']) })),
  cancel_at: optional(cancelAt),
  cancel_at_period_end: optional(boolean()),
  currency: optional(string(10)),
  customer: string(),
  customer_account: notSimulated(),
  default_payment_method: optional(string()),
  description: optional(string(500)),
  items: list(newItemParams, 20),
  metadata: optional(metadata()),
  off_session: optional(boolean()),
  payment_behavior: optional(oneOf(['allow_incomplete', 'default_incomplete', 'error_if_incomplete'])),
  proration_behavior: optional(oneOf(['always_invoice', 'create_prorations', 'none'])),
  trial_period_days: notSimulated(),
}

function subscribe(ctx: Context, params: Fields<typeof createParams>, cause: Cause): Subscription {
  const customer = referencedCustomer(ctx, params.customer, 'customer')
  const items = params.items.map((item, index) => {
    const param = `items[${index}]`
    const price = recurringPrice(ctx, item, param)
    if (price === undefined) throw missing(`${param}[price]`)
    return { price, quantity: item.quantity ?? 1, metadata: mergeMetadata({}, item.metadata) }
  })
  const [first] = items
  if (first === undefined) throw missing('items')
  const isOne = items.every(
    ({ price }) =>
      price.currency === first.price.currency &&
      price.recurring?.interval === first.price.recurring?.interval &&
      price.recurring?.interval_count === first.price.recurring?.interval_count,
  )
  if (!isOne) {
    throw invalidRequest('The payment simulator supports subscriptions whose prices share one currency and interval.', {
      param: 'items',
    })
  }
  const given = params.default_payment_method
  const method = given === undefined ? undefined : savedMethod(ctx, given, customer.id, 'default_payment_method', cause)
  const behavior = params.payment_behavior ?? 'allow_incomplete'
  const payer = method ?? defaultMethod(ctx, undefined, customer.id)
  const decline = cardByLast4(payer?.card?.last4)?.decline
  if (behavior !== 'default_incomplete' && payer === undefined) {
    throw invalidRequest(
      'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.',
      { code: 'resource_missing' },
    )
  }
  if (behavior === 'error_if_incomplete' && decline !== undefined) throw cardError(decline)

  const subscription = createSubscription(ctx, {
    customer: customer.id,
    items,
    currency: first.price.currency,
    defaultMethod: method?.id ?? null,
    description: params.description ?? null,
    metadata: mergeMetadata({}, params.metadata),
    status: 'incomplete',
  })
  const end = cancellationOf(subscription, params)
  if (end !== undefined) scheduleCancel(ctx, subscription, end)
  const now = ctx.clock.seconds()
  const invoice = draftInvoice(ctx, subscription, {
    lines: subscription.items.data.map((item) => fullLine(ctx, subscription, item)),
    reason: 'subscription_create',
    period: { start: now, end: now },
    finalizesAt: null,
  })
  emit(ctx, 'customer.subscription.created', subscription, cause)
  emit(ctx, 'invoice.created', invoice, cause)
  finalizeInvoice(ctx, invoice, cause)
  if (invoice.status === 'open' && behavior !== 'default_incomplete') {
    collectInvoice(ctx, invoice, { offSession: params.off_session ?? false, scheduled: true, cause })
  } else if (invoice.amount_due === 0) {
    const before = structuredClone(subscription)
    subscription.status = 'active'
    emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
  }
  return subscription
}

/** The requested end: undefined if none was requested, null to undo a cancellation. */
function cancellationOf(
  subscription: Subscription,
  params: { cancel_at?: number | string | null | undefined; cancel_at_period_end?: boolean | undefined },
): { time: number; atPeriodEnd: boolean } | null | undefined {
  const { cancel_at: at, cancel_at_period_end: atPeriodEnd } = params
  if (at !== undefined && at !== null && atPeriodEnd === true) {
    throw invalidRequest('You may only specify one of these parameters: cancel_at, cancel_at_period_end.', {
      param: 'cancel_at',
    })
  }
  if (atPeriodEnd === true) return { time: currentEnd(subscription), atPeriodEnd: true }
  if (typeof at === 'number') return { time: at, atPeriodEnd: false }
  if (typeof at === 'string') return { time: currentEnd(subscription), atPeriodEnd: false }
  return at === null || atPeriodEnd === false ? null : undefined
}

const itemChange = object({
  billing_thresholds: notSimulated(''),
  clear_usage: notSimulated(),
  deleted: optional(boolean()),
  discounts: notSimulated(''),
  id: optional(string()),
  metadata: optional(metadata()),
  plan: notSimulated(),
  price: optional(string()),
  price_data: optional((value, param) => newItemParams({ price_data: value ?? '' }, param).price_data),
  quantity: optional(integer(1, 999_999)),
  tax_rates: notSimulated(''),
})

const anchor = optional(object({ type: oneOf(['now', 'unchanged']) }))
const prorationBehavior = optional(oneOf(['always_invoice', 'create_prorations', 'none']))

const updateParams = {
  ...expandParam,
  ...refused,
  billing_cycle_anchor: anchor,
  cancel_at: optional(clearable(cancelAt)),
  cancel_at_period_end: optional(boolean()),
  cancellation_details: optional(cancellationDetails),
  default_payment_method: optional(string()),
  description: optional(clearable(string(500))),
  items: optional(list(itemChange, 20)),
  metadata: optional(metadata()),
  off_session: optional(boolean()),
  pause_collection: notSimulated(''),
  payment_behavior: optional(oneOf(['allow_incomplete', 'error_if_incomplete', 'pending_if_incomplete'])),
  proration_behavior: prorationBehavior,
  proration_date: optional(integer(0)),
}

/** The requested change of items, or null. */
function itemsChange(
  ctx: Context,
  subscription: Subscription,
  params: {
    items?: Decoded<typeof itemChange>[] | undefined
    billing_cycle_anchor?: { type: 'now' | 'unchanged' } | undefined
    proration_behavior?: ItemsChange['prorationBehavior'] | undefined
    proration_date?: number | undefined
  },
  prefix = '',
): ItemsChange | null {
  const resetsCycle = params.billing_cycle_anchor?.type === 'now'
  if (params.items === undefined && !resetsCycle) return null
  const kept = subscription.items.data.map((item) => item.price.id)
  return {
    items: (params.items ?? []).map(({ id, quantity, metadata, deleted, ...priced }, index) => ({
      id,
      quantity,
      metadata,
      deleted,
      price: recurringPrice(ctx, priced, `${prefix}items[${index}]`, kept),
    })),
    prorationBehavior: params.proration_behavior ?? 'create_prorations',
    prorationDate: params.proration_date,
    resetsCycle,
  }
}

function update(ctx: Context, subscription: Subscription, params: Fields<typeof updateParams>, cause: Cause): void {
  const { expand: _, metadata: __, cancellation_details: ___, ...more } = params
  if (endedStatuses.includes(subscription.status) && Object.values(more).some((value) => value !== undefined)) {
    throw invalidRequest('A canceled subscription can only update its cancellation_details and metadata.')
  }
  const end = cancellationOf(subscription, params)
  if (end !== undefined && end !== null && !end.atPeriodEnd && end.time <= ctx.clock.seconds()) {
    throw invalidRequest('The `cancel_at` timestamp must be in the future.', { param: 'cancel_at' })
  }
  if (end !== undefined) rejectScheduled(subscription)
  const change = itemsChange(ctx, subscription, params)
  if (params.payment_behavior === 'pending_if_incomplete') requirePendable(params)
  const before = structuredClone(subscription)
  if (params.default_payment_method !== undefined) {
    const customer = idOf(subscription.customer)
    subscription.default_payment_method = savedMethod(
      ctx,
      params.default_payment_method,
      customer,
      'default_payment_method',
      cause,
    ).id
  }
  if (params.description !== undefined) subscription.description = params.description
  subscription.metadata = mergeMetadata(subscription.metadata, params.metadata)
  if (end !== undefined) scheduleCancel(ctx, subscription, end)
  const details = params.cancellation_details
  if (details !== undefined && subscription.cancellation_details) {
    if (details.comment !== undefined) subscription.cancellation_details.comment = details.comment
    if (details.feedback !== undefined) subscription.cancellation_details.feedback = details.feedback
  }
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
  if (change !== null) {
    const behavior: PaymentBehavior = params.payment_behavior ?? 'allow_incomplete'
    changeItems(ctx, subscription, change, behavior, cause)
  }
}

/** The parameters allowed in a pending change. */
const pendable = ['billing_cycle_anchor', 'expand', 'items', 'payment_behavior', 'proration_behavior', 'proration_date']

function requirePendable(params: Fields<typeof updateParams>): void {
  const [name] = Object.entries(params).find(([key, value]) => value !== undefined && !pendable.includes(key)) ?? []
  if (name === undefined) return
  throw invalidRequest(`You cannot pass \`${name}\` when \`payment_behavior=pending_if_incomplete\`.`, { param: name })
}

function existingSubscription({ store }: Context, id: string): Subscription {
  return existingIn(store.subscriptions, id, 'subscription', 'id')
}

export const subscriptionRoutes: Routes = (route) => {
  route(
    post('/v1/subscriptions', createParams, (ctx, params, _path, cause) =>
      atTimeOf(ctx, params.customer, () => subscribe(ctx, params, cause)),
    ),
  )

  route(
    get(
      '/v1/subscriptions',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        price: optional(string()),
        status: optional(oneOf([...statuses, 'all', 'ended'])),
        test_clock: optional(string()),
      },
      (ctx, { created, customer, price, status, test_clock: clock, ...paging }) => {
        const isWanted = (one: Subscription) => {
          if (status === 'all') return true
          if (status === undefined) return one.status !== 'canceled'
          return status === 'ended' ? endedStatuses.includes(one.status) : one.status === status
        }
        const found = newestFirst(ctx.store.subscriptions).filter(
          (one) =>
            created(one.created) &&
            (customer === undefined || one.customer === customer) &&
            (price === undefined || one.items.data.some((item) => item.price.id === price)) &&
            (clock === undefined || one.test_clock === clock) &&
            isWanted(one),
        )
        return page(found, paging, '/v1/subscriptions', 'subscription')
      },
    ),
  )

  route(get('/v1/subscriptions/:id', expandParam, (ctx, _params, { id }) => existingSubscription(ctx, id)))

  route(
    post('/v1/subscriptions/:id', updateParams, (ctx, params, { id }, cause) => {
      const subscription = existingSubscription(ctx, id)
      atTimeOf(ctx, subscription.customer, () => update(ctx, subscription, params, cause))
      return subscription
    }),
  )

  route(
    del(
      '/v1/subscriptions/:id',
      {
        ...expandParam,
        cancellation_details: optional(cancellationDetails),
        invoice_now: notSimulated('false'),
        prorate: notSimulated('false'),
      },
      (ctx, params, { id }, cause) => {
        const subscription = existingSubscription(ctx, id)
        if (endedStatuses.includes(subscription.status)) throw noSuch('subscription', id, 'id')
        const { comment, feedback } = params.cancellation_details ?? {}
        subscription.cancellation_details = {
          comment: comment ?? null,
          feedback: feedback ?? null,
          feedback_option: null,
          reason: null,
        }
        atTimeOf(ctx, subscription.customer, () => endSubscription(ctx, subscription, cause))
        return subscription
      },
    ),
  )

  route(
    post(
      '/v1/subscriptions/:id/resume',
      { ...expandParam, billing_cycle_anchor: anchor, proration_behavior: prorationBehavior },
      (ctx, _params, { id }) => {
        const { status } = existingSubscription(ctx, id)
        throw invalidRequest(
          `You can only resume a subscription with \`status=paused\`; this one is ${status}. To take a cancellation back, update \`cancel_at_period_end\` or \`cancel_at\`.`,
        )
      },
    ),
  )

  route(
    get('/v1/subscription_items', { ...listParams, subscription: string() }, (ctx, { subscription, ...paging }) => {
      const owner = ctx.store.subscriptions.get(subscription)
      if (owner === undefined) throw noSuchReference('subscription', subscription, 'subscription')
      return page(owner.items.data, paging, '/v1/subscription_items', 'subscription_item')
    }),
  )

  route(
    get('/v1/subscription_items/:id', expandParam, (ctx, _params, { id }) => {
      for (const { items } of ctx.store.subscriptions.values()) {
        const item = items.data.find((one) => one.id === id)
        if (item !== undefined) return item
      }
      throw noSuch('subscription_item', id, 'item')
    }),
  )

  route(
    post(
      '/v1/invoices/create_preview',
      {
        ...expandParam,
        automatic_tax: optional(object({ enabled: notSimulated('false') })),
        customer: optional(string()),
        preview_mode: optional(oneOf(['next'])),
        subscription: string(),
        subscription_details: optional(
          object({
            billing_cycle_anchor: anchor,
            items: optional(list(itemChange, 20)),
            proration_behavior: prorationBehavior,
            proration_date: optional(integer(0)),
          }),
        ),
      },
      (ctx, params) => {
        const subscription = ctx.store.subscriptions.get(params.subscription)
        if (subscription === undefined) throw noSuchReference('subscription', params.subscription, 'subscription')
        if (params.customer !== undefined && params.customer !== subscription.customer) {
          throw invalidRequest(`The subscription ${subscription.id} does not belong to customer ${params.customer}.`, {
            param: 'subscription',
          })
        }
        if (endedStatuses.includes(subscription.status) || subscription.cancel_at !== null) {
          if (params.subscription_details?.items === undefined) {
            throw invalidRequest('No upcoming invoices for customer', { code: 'invoice_upcoming_none' })
          }
        }
        return atTimeOf(ctx, subscription.customer, () =>
          previewChange(
            ctx,
            subscription,
            itemsChange(ctx, subscription, params.subscription_details ?? {}, 'subscription_details['),
          ),
        )
      },
    ),
  )
}
