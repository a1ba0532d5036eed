import { cancelPaymentIntent, intentIdOf } from '../payments/payment-intents.ts'
import { referencedCustomer } from '../payments/referenced-customer.ts'
import { createLineItem, lineItemParams } from '../prices/line-items.ts'
import { checkAmount, currency } from '../protocol/currency.ts'
import { invalidRequest, noSuch } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page, type ListPage } from '../protocol/lists.ts'
import {
  boolean,
  clearable,
  email,
  expandParam,
  httpUrl,
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
  type Fields,
} from '../protocol/params.ts'
import { noRequest, type Cause, type LineItem, type Session } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type SessionRecord } from '../store/store.ts'
import { createCustomer } from '../subscriptions/customers.ts'
import { emit } from '../webhooks/events.ts'
import { shippingAddressCollection } from './shipping.ts'

const minute = 60
const hour = 60 * minute

const customText = optional(clearable(object({ message: string(1200) })))

const createParams = {
  adaptive_pricing: optional(object({ enabled: optional(boolean()) })),
  after_expiration: notSimulated(),
  allow_promotion_codes: notSimulated('false'),
  allowed_payment_method_types: optional(list(string(60))),
  automatic_tax: optional(object({ enabled: notSimulated('false') })),
  billing_address_collection: optional(oneOf(['auto', 'required'])),
  branding_settings: optional(object({ display_name: optional(string(100)) })),
  cancel_url: optional(httpUrl()),
  client_reference_id: optional(string(200)),
  consent_collection: optional(
    object({
      payment_method_reuse_agreement: notSimulated(),
      promotions: notSimulated('none'),
      terms_of_service: optional(oneOf(['none', 'required'])),
    }),
  ),
  currency: optional(currency),
  custom_fields: notSimulated(),
  custom_text: optional(
    object({
      after_submit: customText,
      shipping_address: customText,
      submit: customText,
      terms_of_service_acceptance: customText,
    }),
  ),
  customer: optional(string()),
  customer_account: notSimulated(),
  customer_creation: optional(oneOf(['always', 'if_required'])),
  customer_email: optional(email()),
  customer_update: optional(
    object({
      address: optional(oneOf(['auto', 'never'])),
      name: optional(oneOf(['auto', 'never'])),
      shipping: optional(oneOf(['auto', 'never'])),
    }),
  ),
  discounts: notSimulated(),
  excluded_payment_method_types: optional(list(string(60))),
  expand: expandParam.expand,
  expires_at: optional(integer(0)),
  integration_identifier: optional(string(200)),
  invoice_creation: optional(object({ enabled: notSimulated('false') })),
  line_items: optional(list(lineItemParams)),
  locale: optional(string(10)),
  managed_payments: optional(object({ enabled: notSimulated('false') })),
  metadata: optional(metadata()),
  mode: oneOf(['payment', 'setup', 'subscription']),
  name_collection: notSimulated(),
  optional_items: notSimulated(),
  origin_context: optional(oneOf(['mobile_app', 'web'])),
  payment_intent_data: optional(
    object({
      application_fee_amount: notSimulated(),
      capture_method: optional(oneOf(['automatic', 'automatic_async'])),
      description: optional(string(1000)),
      metadata: optional(metadata()),
      on_behalf_of: notSimulated(),
      receipt_email: optional(email()),
      setup_future_usage: notSimulated(),
      shipping: notSimulated(),
      statement_descriptor: optional(string(22)),
      statement_descriptor_suffix: optional(string(22)),
      transfer_data: notSimulated(),
      transfer_group: notSimulated(),
    }),
  ),
  payment_method_collection: notSimulated('always'),
  payment_method_configuration: notSimulated(),
  payment_method_data: optional(object({ allow_redisplay: optional(oneOf(['always', 'limited', 'unspecified'])) })),
  payment_method_options: optional(
    object({
      card: optional(
        object({
          request_three_d_secure: optional(oneOf(['any', 'automatic', 'challenge'])),
        }),
      ),
    }),
  ),
  permissions: notSimulated(),
  phone_number_collection: optional(object({ enabled: notSimulated('false') })),
  redirect_on_completion: notSimulated(),
  return_url: notSimulated(),
  saved_payment_method_options: notSimulated(),
  setup_intent_data: notSimulated(),
  shipping_address_collection: shippingAddressCollection,
  shipping_options: notSimulated(),
  submit_type: optional(oneOf(['auto', 'book', 'donate', 'pay'])),
  subscription_data: optional(
    object({
      application_fee_percent: notSimulated(),
      billing_cycle_anchor: notSimulated(),
      billing_mode: notSimulated(),
      default_tax_rates: notSimulated(),
      description: optional(string(500)),
      invoice_settings: notSimulated(),
      metadata: optional(metadata()),
      on_behalf_of: notSimulated(),
      proration_behavior: notSimulated(),
      transfer_data: notSimulated(),
      trial_end: notSimulated(),
      trial_period_days: notSimulated(),
      trial_settings: notSimulated(),
    }),
  ),
  success_url: optional(httpUrl()),
  tax_id_collection: optional(object({ enabled: notSimulated('false') })),
  ui_mode: optional(oneOf(['hosted_page', 'embedded_page', 'elements', 'form'])),
  wallet_options: notSimulated(),
}
type CreateParams = Fields<typeof createParams>

/** The `invoice_creation` of a session in `payment` mode, which creates no invoice. */
const noInvoice: Session['invoice_creation'] = {
  enabled: false,
  invoice_data: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: null,
    metadata: {},
    rendering_options: null,
  },
}

function createSession(ctx: Context, params: CreateParams): Session {
  rejectUnsimulated(params)
  const now = ctx.clock.seconds()
  const expiresAt = params.expires_at ?? now + 24 * hour
  checkExpiry(expiresAt, now)
  if (params.success_url === undefined) throw missing('success_url')
  if (params.customer !== undefined && params.customer_email !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: customer, customer_email.', {
      param: 'customer_email',
    })
  }
  if (params.customer !== undefined && params.customer_creation !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: customer, customer_creation.', {
      param: 'customer_creation',
    })
  }
  if (params.customer_update !== undefined && params.customer === undefined) {
    throw invalidRequest('`customer_update` can only be used with `customer`.', { param: 'customer_update' })
  }
  const customer = params.customer === undefined ? undefined : referencedCustomer(ctx, params.customer, 'customer')
  const lineItems = createLineItems(ctx, params)
  const total = lineItems.reduce((sum, item) => sum + item.amount_total, 0)
  const money = lineItems[0]?.currency ?? params.currency ?? 'usd'
  checkTotal(total, money)
  checkMode(params, lineItems, total)
  const subscribes = params.mode === 'subscription'

  const knownEmail = params.customer_email ?? null
  const id = newId('cs_test_a1')
  const session: Session = {
    id,
    object: 'checkout.session',
    adaptive_pricing: { enabled: params.adaptive_pricing?.enabled ?? false },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: params.allowed_payment_method_types ?? null,
    amount_subtotal: total,
    amount_total: total,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: params.billing_address_collection ?? null,
    branding_settings: {
      background_color: '#ffffff',
      border_style: 'rounded',
      button_color: '#b8480f',
      display_name: params.branding_settings?.display_name ?? ctx.settings.merchantName,
      font_family: 'default',
      icon: null,
      logo: null,
    },
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    client_secret: null,
    collected_information: {
      business_name: null,
      individual_name: null,
      shipping_details: null,
    },
    consent: null,
    consent_collection:
      params.consent_collection === undefined
        ? null
        : {
            payment_method_reuse_agreement: null,
            promotions: null,
            terms_of_service: params.consent_collection.terms_of_service ?? null,
          },
    created: now,
    currency: money,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: params.custom_text?.after_submit ?? null,
      shipping_address: params.custom_text?.shipping_address ?? null,
      submit: params.custom_text?.submit ?? null,
      terms_of_service_acceptance: params.custom_text?.terms_of_service_acceptance ?? null,
    },
    customer: customer?.id ?? null,
    customer_account: null,
    customer_creation:
      customer !== undefined ? null : subscribes ? 'always' : (params.customer_creation ?? 'if_required'),
    customer_details: knownEmail === null ? null : customerDetails(knownEmail, null),
    customer_email: knownEmail,
    discounts: [],
    ...(params.excluded_payment_method_types === undefined
      ? {}
      : { excluded_payment_method_types: params.excluded_payment_method_types }),
    expires_at: expiresAt,
    integration_identifier: params.integration_identifier ?? null,
    invoice: null,
    invoice_creation: subscribes ? null : noInvoice,
    livemode: false,
    locale: params.locale ?? null,
    managed_payments: { enabled: false },
    metadata: mergeMetadata({}, params.metadata),
    mode: subscribes ? 'subscription' : 'payment',
    origin_context: params.origin_context ?? null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: subscribes ? 'always' : 'if_required',
    payment_method_configuration_details: null,
    payment_method_options: {
      card: {
        request_three_d_secure: params.payment_method_options?.card?.request_three_d_secure ?? 'automatic',
      },
    },
    payment_method_types: ['card'],
    payment_status: total === 0 ? 'no_payment_required' : 'unpaid',
    permissions: null,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: params.shipping_address_collection ?? null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: params.submit_type ?? null,
    subscription: null,
    success_url: params.success_url,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${ctx.settings.publicUrl}/c/pay/${id}`,
    wallet_options: null,
  }
  const intentData = params.payment_intent_data
  ctx.store.sessions.set(id, {
    object: session,
    lineItems,
    paymentIntentData: {
      description: intentData?.description ?? null,
      metadata: mergeMetadata({}, intentData?.metadata),
      receipt_email: intentData?.receipt_email ?? null,
      statement_descriptor: intentData?.statement_descriptor ?? null,
      statement_descriptor_suffix: intentData?.statement_descriptor_suffix ?? null,
    },
    ...(subscribes
      ? {
          subscriptionData: {
            description: params.subscription_data?.description ?? null,
            metadata: mergeMetadata({}, params.subscription_data?.metadata),
            paymentIntentId: null,
          },
        }
      : {}),
    challenge: null,
    completedEventId: null,
    settlement: null,
  })
  return session
}

function rejectUnsimulated(params: CreateParams): void {
  if (params.mode === 'setup') {
    throw invalidRequest(
      'The payment simulator supports Checkout Sessions in `payment` and `subscription` mode only; you passed `setup`.',
      { param: 'mode' },
    )
  }
  if (params.ui_mode !== undefined && params.ui_mode !== 'hosted_page') {
    throw invalidRequest(
      `The payment simulator supports \`ui_mode: hosted_page\` only; you passed \`${params.ui_mode}\`.`,
      { param: 'ui_mode' },
    )
  }
  const allowed = params.allowed_payment_method_types
  if (allowed !== undefined && !allowed.includes('card')) {
    throw invalidRequest(
      'The payment simulator takes cards only: `allowed_payment_method_types` must include `card`.',
      { param: 'allowed_payment_method_types' },
    )
  }
  if (params.excluded_payment_method_types?.includes('card') === true) {
    throw invalidRequest(
      'The payment simulator takes cards only: `excluded_payment_method_types` must not include `card`.',
      { param: 'excluded_payment_method_types' },
    )
  }
}

function checkExpiry(expiresAt: number, now: number): void {
  if (expiresAt < now + 30 * minute) {
    throw invalidRequest('The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.', {
      param: 'expires_at',
    })
  }
  if (expiresAt > now + 24 * hour) {
    throw invalidRequest('The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.', {
      param: 'expires_at',
    })
  }
}

function createLineItems(ctx: Context, params: CreateParams): LineItem[] {
  const given = params.line_items
  if (given === undefined) throw missing('line_items')
  const items = given.map((item, index) => createLineItem(ctx, item, `line_items[${index}]`))
  const first = items[0]?.currency
  const odd = items.findIndex((item) => item.currency !== first)
  if (odd !== -1) {
    throw invalidRequest(
      `All prices on a Checkout session must share the same currency: \`line_items[${odd}]\` is in ${items[odd]?.currency}, the first is in ${first}.`,
      { param: `line_items[${odd}]` },
    )
  }
  if (params.currency !== undefined && params.currency !== first) {
    throw invalidRequest(`The currency ${params.currency} is not that of the line items (${first}).`, {
      param: 'currency',
    })
  }
  return items
}

/** The rules of each mode for prices and parameters. */
function checkMode(params: CreateParams, lineItems: readonly LineItem[], total: number): void {
  const recurring = lineItems.flatMap((item) => item.price.recurring ?? [])
  if (params.mode === 'payment') {
    if (recurring.length > 0) {
      throw invalidRequest(
        'You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.',
        { param: 'mode' },
      )
    }
    if (params.subscription_data !== undefined) {
      throw invalidRequest('You can not pass `subscription_data` in `payment` mode.', { param: 'subscription_data' })
    }
    return
  }
  for (const name of ['payment_intent_data', 'customer_creation'] as const) {
    if (params[name] !== undefined) {
      throw invalidRequest(`You can not pass \`${name}\` in \`subscription\` mode.`, { param: name })
    }
  }
  if (recurring.length === 0) {
    throw invalidRequest('You must provide at least one recurring price in `subscription` mode when using prices.', {
      param: 'mode',
    })
  }
  const [first] = recurring
  const isOneInterval = recurring.every(
    (one) => one.interval === first?.interval && one.interval_count === first.interval_count,
  )
  if (!isOneInterval || recurring.length < lineItems.length || total === 0) {
    throw invalidRequest(
      'The payment simulator supports subscriptions whose prices are all recurring, at one interval, and not free.',
      { param: 'line_items' },
    )
  }
}

/** A free order needs no payment; an amount between zero and the minimum cannot be charged. */
function checkTotal(total: number, money: string): void {
  if (total > 0) checkAmount(total, money, "The Checkout Session's total amount must")
}

export function customerDetails(emailAddress: string, name: string | null): NonNullable<Session['customer_details']> {
  return {
    address: null,
    business_name: null,
    email: emailAddress,
    individual_name: null,
    name,
    phone: null,
    tax_exempt: 'none',
    tax_ids: null,
  }
}

/** Returns the session, after expiring it if it is due. */
export function currentSession(ctx: Context, id: string): SessionRecord | undefined {
  const record = ctx.store.sessions.get(id)
  if (record !== undefined) expireIfDue(ctx, record)
  return record
}

function existing(ctx: Context, id: string, param = 'session'): SessionRecord {
  const record = currentSession(ctx, id)
  if (record === undefined) throw noSuch('checkout.session', id, param)
  return record
}

export function expireIfDue(ctx: Context, record: SessionRecord): void {
  if (record.object.status !== 'open') return
  if (ctx.clock.seconds() >= record.object.expires_at) expireSession(ctx, record, noRequest)
}

/** Expires a session and cancels its pending payment, if any. */
export function expireSession(ctx: Context, record: SessionRecord, cause: Cause): void {
  const session = record.object
  session.status = 'expired'
  session.url = null
  record.challenge = null
  const intent = ctx.store.paymentIntents.get(intentIdOf(record))
  if (intent !== undefined) cancelPaymentIntent(ctx, intent, 'automatic', cause)
  emit(ctx, 'checkout.session.expired', session, cause)
}

/** Creates the customer on the first attempt to pay, if the session requires one. */
export function customerFor(ctx: Context, session: Session, details: { name: string; email: string }): string | null {
  if (session.customer === null && session.customer_creation === 'always') {
    session.customer = createCustomer(ctx, details, noRequest).id
  }
  return session.customer === null || typeof session.customer === 'string' ? session.customer : session.customer.id
}

export function lineItemsOf(ctx: Context, id: string): ListPage<LineItem> {
  const items = ctx.store.sessions.get(id)?.lineItems ?? []
  return page(items, { limit: 100 }, `/v1/checkout/sessions/${id}/line_items`, 'line_item')
}

export const sessionRoutes: Routes = (route) => {
  route(post('/v1/checkout/sessions', createParams, (ctx, params) => createSession(ctx, params)))

  route(
    get(
      '/v1/checkout/sessions',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        customer_account: notSimulated(),
        customer_details: optional(object({ email: string() })),
        payment_intent: optional(string()),
        payment_link: notSimulated(),
        status: optional(oneOf(['complete', 'expired', 'open'])),
        subscription: notSimulated(),
      },
      (ctx, { created, customer, customer_details, payment_intent, status, ...paging }) => {
        for (const record of ctx.store.sessions.values()) expireIfDue(ctx, record)
        const found = newestFirst(ctx.store.sessions)
          .map((record) => record.object)
          .filter(
            (one) =>
              created(one.created) &&
              (customer === undefined || one.customer === customer) &&
              (customer_details === undefined || one.customer_details?.email === customer_details.email) &&
              (payment_intent === undefined || one.payment_intent === payment_intent) &&
              (status === undefined || one.status === status),
          )
        return page(found, paging, '/v1/checkout/sessions', 'checkout.session')
      },
    ),
  )

  route(get('/v1/checkout/sessions/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id).object))

  route(
    post('/v1/checkout/sessions/:id', { ...expandParam, metadata: optional(metadata()) }, (ctx, params, { id }) => {
      const session = existing(ctx, id).object
      session.metadata = mergeMetadata(session.metadata ?? {}, params.metadata)
      ctx.store.save(session)
      return session
    }),
  )

  route(
    post('/v1/checkout/sessions/:id/expire', expandParam, (ctx, _params, { id }, cause) => {
      const record = existing(ctx, id)
      if (record.object.status !== 'open') {
        throw invalidRequest(
          `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${record.object.status}\`.`,
        )
      }
      expireSession(ctx, record, cause)
      return record.object
    }),
  )

  route(
    get('/v1/checkout/sessions/:id/line_items', listParams, (ctx, paging, { id }) => {
      const { lineItems } = existing(ctx, id)
      return page(lineItems, paging, `/v1/checkout/sessions/${id}/line_items`, 'line_item')
    }),
  )
}
