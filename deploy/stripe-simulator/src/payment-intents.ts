import type { Context } from './context.ts'
import { invalidRequest, noSuch } from './errors.ts'
import { emit } from './events.ts'
import { idOf, newId, randomToken } from './ids.ts'
import { page } from './lists.ts'
import {
  clearable,
  email,
  expandParam,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  oneOf,
  optional,
  string,
  timeRange,
} from './params.ts'
import { get, post, type Routes } from './routes.ts'
import { newestFirst, type SessionRecord } from './store.ts'
import { BY_ITSELF, type Cause, type PaymentIntent } from './types.ts'

/** The payment of a session; empty before the first try. In `subscription` mode the session itself never shows it. */
export function intentIdOf(record: SessionRecord): string {
  return idOf(record.object.payment_intent) || (record.subscriptionData?.paymentIntentId ?? '')
}

/** Checkout makes the PaymentIntent at the first try to pay, and every further try uses the same one. */
export function paymentIntentFor(ctx: Context, record: SessionRecord, customer: string | null): PaymentIntent {
  const session = record.object
  const known = ctx.store.paymentIntents.get(intentIdOf(record))
  if (known !== undefined) return known

  const id = newId('pi_3')
  const data = record.paymentIntentData
  const intent: PaymentIntent = {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: session.allowed_payment_method_types,
    amount: session.amount_total ?? 0,
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
    currency: session.currency ?? 'usd',
    customer,
    customer_account: null,
    description: record.subscriptionData === undefined ? data.description : 'Subscription creation',
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: { ...data.metadata },
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: {
        installments: null,
        mandate_options: null,
        network: null,
        request_three_d_secure: session.payment_method_options?.card?.request_three_d_secure ?? 'automatic',
      },
    },
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: data.receipt_email,
    review: null,
    setup_future_usage: record.subscriptionData === undefined ? null : 'off_session',
    shipping: null,
    source: null,
    statement_descriptor: data.statement_descriptor,
    statement_descriptor_suffix: data.statement_descriptor_suffix,
    status: 'requires_payment_method',
    transfer_group: null,
  }
  ctx.store.paymentIntents.set(id, intent)
  if (record.subscriptionData === undefined) session.payment_intent = id
  else record.subscriptionData.paymentIntentId = id
  emit(ctx, 'payment_intent.created', intent, BY_ITSELF)
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

function existing(ctx: Context, id: string): PaymentIntent {
  const intent = ctx.store.paymentIntents.get(id)
  if (intent === undefined) throw noSuch('payment_intent', id, 'intent')
  return intent
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
      '/v1/payment_intents/:id',
      {
        ...expandParam,
        description: optional(clearable(string(1000))),
        metadata: optional(metadata()),
        receipt_email: optional(clearable(email())),
      },
      (ctx, params, { id }) => {
        const intent = existing(ctx, id)
        if (params.description !== undefined) intent.description = params.description
        if (params.receipt_email !== undefined) intent.receipt_email = params.receipt_email
        intent.metadata = mergeMetadata(intent.metadata, params.metadata ?? {})
        ctx.store.changed()
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
      (ctx, _params, { id }) => {
        const intent = existing(ctx, id)
        const isFinal = intent.status === 'succeeded' || intent.status === 'canceled'
        throw invalidRequest(
          isFinal
            ? `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.`
            : 'You cannot cancel PaymentIntents created by Checkout. You should expire the Checkout Session that created this PaymentIntent instead.',
          { code: 'payment_intent_unexpected_state' },
        )
      },
    ),
  )
}
