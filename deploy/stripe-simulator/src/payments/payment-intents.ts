import { checkAmount, currency } from '../protocol/currency.ts'
import { existingIn, invalidRequest } from '../protocol/errors.ts'
import { idOf, newId, randomToken } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
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
import { noRequest, type Cause, type PaymentIntent, type PaymentMethod } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type SessionRecord } from '../store/store.ts'
import { emit } from '../webhooks/events.ts'
import { cardByLast4 } from './cards.ts'
import { cardError, chargeCard, failIntent, challengeUrl, requireAction } from './charge-card.ts'
import { namedMethod } from './payment-methods.ts'
import { referencedCustomer } from './referenced-customer.ts'

/** The payment of a session; empty before the first attempt. In `subscription` mode the session never shows it. */
export function intentIdOf(record: SessionRecord): string {
  return idOf(record.object.payment_intent) || (record.subscriptionData?.paymentIntentId ?? '')
}

type RequestThreeDSecure = NonNullable<
  NonNullable<NonNullable<PaymentIntent['payment_method_options']>['card']>['request_three_d_secure']
>

interface IntentFields {
  amount: number
  currency: string
  customer: string | null
  description: string | null
  metadata?: PaymentIntent['metadata']
  allowed_payment_method_types?: PaymentIntent['allowed_payment_method_types']
  receipt_email?: string | null
  request_three_d_secure?: RequestThreeDSecure
  setup_future_usage?: PaymentIntent['setup_future_usage']
  statement_descriptor?: string | null
  statement_descriptor_suffix?: string | null
}

export function createIntent(ctx: Context, fields: IntentFields, cause: Cause): PaymentIntent {
  const id = newId('pi_3')
  const intent: PaymentIntent = {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: fields.allowed_payment_method_types ?? null,
    amount: fields.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${randomToken(25)}`,
    confirmation_method: 'automatic',
    created: ctx.clock.seconds(),
    currency: fields.currency,
    customer: fields.customer,
    customer_account: null,
    description: fields.description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: { ...fields.metadata },
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: {
        installments: null,
        mandate_options: null,
        network: null,
        request_three_d_secure: fields.request_three_d_secure ?? 'automatic',
      },
    },
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: fields.receipt_email ?? null,
    review: null,
    setup_future_usage: fields.setup_future_usage ?? null,
    shipping: null,
    source: null,
    statement_descriptor: fields.statement_descriptor ?? null,
    statement_descriptor_suffix: fields.statement_descriptor_suffix ?? null,
    status: 'requires_payment_method',
    transfer_group: null,
  }
  ctx.store.paymentIntents.set(id, intent)
  emit(ctx, 'payment_intent.created', intent, cause)
  return intent
}

/** Checkout creates the PaymentIntent on the first attempt to pay, and every further attempt uses it. */
export function paymentIntentFor(ctx: Context, record: SessionRecord, customer: string | null): PaymentIntent {
  const session = record.object
  const known = ctx.store.paymentIntents.get(intentIdOf(record))
  if (known !== undefined) return known

  const data = record.paymentIntentData
  const isFirst = record.subscriptionData !== undefined
  const intent = createIntent(
    ctx,
    {
      ...data,
      allowed_payment_method_types: session.allowed_payment_method_types,
      amount: session.amount_total ?? 0,
      currency: session.currency ?? 'usd',
      customer,
      description: isFirst ? 'Subscription creation' : data.description,
      request_three_d_secure: session.payment_method_options?.card?.request_three_d_secure ?? 'automatic',
      setup_future_usage: isFirst ? 'off_session' : null,
    },
    noRequest,
  )
  if (record.subscriptionData === undefined) session.payment_intent = intent.id
  else record.subscriptionData.paymentIntentId = intent.id
  ctx.store.save(session)
  return intent
}

export function cancelPaymentIntent(
  ctx: Context,
  intent: PaymentIntent,
  reason: NonNullable<PaymentIntent['cancellation_reason']>,
  cause: Cause,
): void {
  intent.status = 'canceled'
  intent.canceled_at = ctx.clock.seconds()
  intent.cancellation_reason = reason
  intent.next_action = null
  emit(ctx, 'payment_intent.canceled', intent, cause)
}

const confirmParams = {
  error_on_requires_action: optional(boolean()),
  off_session: optional(boolean()),
  payment_method: optional(string()),
  return_url: optional(httpUrl()),
}
type ConfirmParams = Fields<typeof confirmParams>

/** @throws ApiError 402 if the card is declined */
function confirm(
  ctx: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  params: ConfirmParams,
  cause: Cause,
): void {
  const authentication = cardByLast4(method.card?.last4)?.authentication
  if (authentication !== undefined && !(authentication === 'once' && params.off_session === true)) {
    const decline = {
      code: 'authentication_required',
      declineCode: 'authentication_required',
      message: 'Your card was declined. This transaction requires authentication.',
    }
    if (params.off_session === true || params.error_on_requires_action === true) {
      failIntent(ctx, intent, method, decline, null, cause)
      throw cardError(decline, intent)
    }
    requireAction(ctx, intent, method, { url: challengeUrl(ctx, intent), returnUrl: params.return_url ?? null }, cause)
    return
  }
  const decline = chargeCard(ctx, intent, method, false, cause)
  if (decline !== null) throw cardError(decline, intent)
}

function existing({ store }: Context, id: string): PaymentIntent {
  return existingIn(store.paymentIntents, id, 'payment_intent', 'intent')
}

export const paymentIntentRoutes: Routes = (route) => {
  route(
    get(
      '/v1/payment_intents',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        customer_account: notSimulated(),
      },
      (ctx, { created, customer, ...paging }) => {
        const found = newestFirst(ctx.store.paymentIntents).filter(
          (one) => created(one.created) && (customer === undefined || one.customer === customer),
        )
        return page(found, paging, '/v1/payment_intents', 'payment_intent')
      },
    ),
  )

  route(
    get('/v1/payment_intents/:id', { ...expandParam, client_secret: optional(string()) }, (ctx, _params, { id }) =>
      existing(ctx, id),
    ),
  )

  route(
    post(
      '/v1/payment_intents',
      {
        ...expandParam,
        ...confirmParams,
        allowed_payment_method_types: optional(list(string(60))),
        amount: integer(1),
        automatic_payment_methods: optional(
          object({ allow_redirects: optional(oneOf(['always', 'never'])), enabled: boolean() }),
        ),
        capture_method: optional(oneOf(['automatic', 'automatic_async'])),
        confirm: optional(boolean()),
        currency,
        customer: optional(string()),
        description: optional(string(1000)),
        metadata: optional(metadata()),
        payment_method_types: notSimulated(),
        receipt_email: optional(email()),
        setup_future_usage: optional(oneOf(['off_session', 'on_session'])),
        statement_descriptor: optional(string(22)),
        statement_descriptor_suffix: optional(string(22)),
      },
      (ctx, params, _path, cause) => {
        checkAmount(params.amount, params.currency, 'Amount must', 'amount')
        if (params.customer !== undefined) referencedCustomer(ctx, params.customer, 'customer')
        const method =
          params.payment_method === undefined ? undefined : namedMethod(ctx, params.payment_method, 'payment_method')
        if (params.confirm === true && method === undefined) throw missing('payment_method')
        const intent = createIntent(
          ctx,
          {
            allowed_payment_method_types: params.allowed_payment_method_types ?? null,
            amount: params.amount,
            currency: params.currency,
            customer: params.customer ?? null,
            description: params.description ?? null,
            metadata: mergeMetadata({}, params.metadata),
            receipt_email: params.receipt_email ?? null,
            setup_future_usage: params.setup_future_usage ?? null,
            statement_descriptor: params.statement_descriptor ?? null,
            statement_descriptor_suffix: params.statement_descriptor_suffix ?? null,
          },
          cause,
        )
        if (params.automatic_payment_methods?.enabled === true) {
          intent.automatic_payment_methods = {
            allow_redirects: params.automatic_payment_methods.allow_redirects ?? 'always',
            enabled: true,
          }
        }
        if (method !== undefined) {
          intent.payment_method = method.id
          intent.status = 'requires_confirmation'
        }
        if (params.confirm === true && method !== undefined) confirm(ctx, intent, method, params, cause)
        return intent
      },
    ),
  )

  route(
    post('/v1/payment_intents/:id/confirm', { ...expandParam, ...confirmParams }, (ctx, params, { id }, cause) => {
      const intent = existing(ctx, id)
      if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)) {
        throw invalidRequest(
          `You cannot confirm this PaymentIntent because it has ${intent.status === 'succeeded' ? 'already succeeded after being previously confirmed' : `a status of ${intent.status}`}.`,
          { code: 'payment_intent_unexpected_state' },
        )
      }
      const named = params.payment_method ?? idOf(intent.payment_method)
      if (named === '') {
        throw invalidRequest(
          `You cannot confirm this PaymentIntent because it's missing a payment method. To confirm the PaymentIntent with ${idOf(intent.customer) === '' ? 'a payment method' : "the customer's payment method"}, specify a payment method attached to this customer along with the customer ID.`,
          { code: 'payment_intent_unexpected_state' },
        )
      }
      confirm(ctx, intent, namedMethod(ctx, named, 'payment_method'), params, cause)
      return intent
    }),
  )

  route(
    post(
      '/v1/payment_intents/:id',
      {
        ...expandParam,
        description: optional(clearable(string(1000))),
        metadata: optional(metadata()),
        receipt_email: optional(clearable(email())),
        setup_future_usage: optional(clearable(oneOf(['off_session', 'on_session']))),
      },
      (ctx, params, { id }) => {
        const intent = existing(ctx, id)
        if (params.setup_future_usage !== undefined) intent.setup_future_usage = params.setup_future_usage
        if (params.description !== undefined) intent.description = params.description
        if (params.receipt_email !== undefined) intent.receipt_email = params.receipt_email
        intent.metadata = mergeMetadata(intent.metadata, params.metadata)
        ctx.store.save(intent)
        return intent
      },
    ),
  )

  route(
    post(
      '/v1/payment_intents/:id/cancel',
      {
        ...expandParam,
        cancellation_reason: optional(oneOf(['abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'])),
      },
      (ctx, params, { id }, cause) => {
        const intent = existing(ctx, id)
        if (intent.status === 'succeeded' || intent.status === 'canceled') {
          throw invalidRequest(
            `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.`,
            { code: 'payment_intent_unexpected_state' },
          )
        }
        const isCheckouts = [...ctx.store.sessions.values()].some((record) => intentIdOf(record) === id)
        const isInvoices = [...ctx.store.invoicePayments.values()].some((one) => one.payment.payment_intent === id)
        if (isCheckouts || isInvoices) {
          throw invalidRequest(
            isCheckouts
              ? 'You cannot cancel PaymentIntents created by Checkout. You should expire the Checkout Session that created this PaymentIntent instead.'
              : 'You cannot cancel PaymentIntents created by an Invoice. You should void the Invoice instead.',
            { code: 'payment_intent_unexpected_state' },
          )
        }
        cancelPaymentIntent(ctx, intent, params.cancellation_reason ?? 'requested_by_customer', cause)
        return intent
      },
    ),
  )
}
