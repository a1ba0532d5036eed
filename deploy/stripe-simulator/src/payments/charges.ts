import { existingIn } from '../protocol/errors.ts'
import { newId, randomToken } from '../protocol/ids.ts'
import { page, type ListPage } from '../protocol/lists.ts'
import {
  clearable,
  email,
  expandParam,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  optional,
  string,
  timeRange,
} from '../protocol/params.ts'
import type { Charge, PaymentIntent, PaymentMethod, Refund } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { recordBalance } from './balance-transactions.ts'
import type { Decline } from './cards.ts'

export type ChargeResult = { status: 'succeeded' } | { status: 'pending' } | { status: 'failed'; decline: Decline }

/** Creates a charge. A PaymentIntent has one per attempt. */
export function createCharge(
  ctx: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  result: ChargeResult,
  authenticated: boolean,
): Charge {
  const isCard = method.type === 'card'
  const id = newId(isCard ? 'ch_3' : 'py_3')
  const charge: Charge = {
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: structuredClone(method.billing_details),
    calculated_statement_descriptor: 'ROBO KIDS LEARNING',
    captured: false,
    created: ctx.clock.seconds(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: false,
    metadata: { ...intent.metadata },
    on_behalf_of: null,
    outcome: null,
    paid: false,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: isCard
      ? { card: cardDetails(intent, method, authenticated), type: 'card' }
      : { type: 'us_bank_account', us_bank_account: bankDetails(method) },
    radar_options: {},
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: intent.statement_descriptor,
    statement_descriptor_suffix: intent.statement_descriptor_suffix,
    status: result.status,
    transfer_data: null,
    transfer_group: null,
  }
  ctx.store.charges.set(id, charge)
  settleCharge(ctx, charge, result)
  return charge
}

/** Sets the outcome of a charge: immediately for a card, later for a bank debit. */
export function settleCharge(ctx: Context, charge: Charge, result: ChargeResult): void {
  charge.status = result.status
  if (result.status === 'pending') return
  if (result.status === 'succeeded') {
    charge.paid = true
    charge.captured = true
    charge.amount_captured = charge.amount
    charge.receipt_url = `${ctx.settings.publicUrl}/receipts/${charge.id}`
    charge.balance_transaction = recordBalance(ctx, {
      type: 'charge',
      source: charge.id,
      amount: charge.amount,
      currency: charge.currency,
      description: charge.description,
    }).id
    charge.outcome = {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      risk_score: 20,
      seller_message: 'Payment complete.',
      type: 'authorized',
    }
    return
  }
  const { decline } = result
  const reason = decline.declineCode ?? decline.code
  charge.failure_code = decline.code
  charge.failure_message = decline.message
  charge.outcome = {
    advice_code: reason === 'processing_error' ? 'try_again_later' : null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: 'declined_by_network',
    reason,
    risk_level: 'normal',
    risk_score: 20,
    seller_message: `The bank returned the decline code \`${reason}\`.`,
    type: 'issuer_declined',
  }
}

type PaymentDetails = NonNullable<Charge['payment_method_details']>

function cardDetails(
  intent: PaymentIntent,
  method: PaymentMethod,
  authenticated: boolean,
): NonNullable<PaymentDetails['card']> {
  const card = method.card
  return {
    amount_authorized: intent.amount,
    authorization_code: randomToken(6).toUpperCase(),
    brand: card?.brand ?? null,
    checks: card?.checks ?? null,
    country: card?.country ?? null,
    electronic_commerce_indicator: authenticated ? '05' : null,
    exp_month: card?.exp_month ?? 0,
    exp_year: card?.exp_year ?? 0,
    extended_authorization: { status: 'disabled' },
    fingerprint: card?.fingerprint ?? null,
    funding: card?.funding ?? null,
    incremental_authorization: { status: 'unavailable' },
    installments: null,
    last4: card?.last4 ?? null,
    mandate: null,
    multicapture: { status: 'unavailable' },
    network: card?.brand ?? null,
    network_token: { used: false },
    network_transaction_id: null,
    overcapture: { maximum_amount_capturable: intent.amount, status: 'unavailable' },
    regulated_status: 'unregulated',
    three_d_secure: authenticated
      ? {
          authentication_flow: 'challenge',
          electronic_commerce_indicator: '05',
          exemption_indicator: null,
          result: 'authenticated',
          result_reason: null,
          transaction_id: null,
          version: '2.2.0',
        }
      : null,
    transaction_link_id: null,
    wallet: null,
  }
}

function bankDetails(method: PaymentMethod): NonNullable<PaymentDetails['us_bank_account']> {
  const account = method.us_bank_account
  return {
    account_holder_type: account?.account_holder_type ?? null,
    account_type: account?.account_type ?? null,
    bank_name: account?.bank_name ?? null,
    fingerprint: account?.fingerprint ?? null,
    last4: account?.last4 ?? null,
    payment_reference: null,
    routing_number: account?.routing_number ?? null,
  }
}

export function refundsOf(ctx: Context, chargeId: string): ListPage<Refund> {
  const found = newestFirst(ctx.store.refunds)
    .map((record) => record.object)
    .filter((refund) => refund.charge === chargeId)
  return page(found, { limit: 10 }, `/v1/charges/${chargeId}/refunds`, 'refund')
}

function existing({ store }: Context, id: string): Charge {
  return existingIn(store.charges, id, 'charge', 'id')
}

export const chargeRoutes: Routes = (route) => {
  route(
    get(
      '/v1/charges',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        payment_intent: optional(string()),
        transfer_group: notSimulated(),
      },
      (ctx, { created, customer, payment_intent, ...paging }) => {
        const found = newestFirst(ctx.store.charges).filter(
          (one) =>
            created(one.created) &&
            (customer === undefined || one.customer === customer) &&
            (payment_intent === undefined || one.payment_intent === payment_intent),
        )
        return page(found, paging, '/v1/charges', 'charge')
      },
    ),
  )

  route(get('/v1/charges/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post(
      '/v1/charges/:id',
      {
        ...expandParam,
        description: optional(clearable(string(1000))),
        metadata: optional(metadata()),
        receipt_email: optional(clearable(email())),
      },
      (ctx, params, { id }) => {
        const charge = existing(ctx, id)
        if (params.description !== undefined) charge.description = params.description
        if (params.receipt_email !== undefined) charge.receipt_email = params.receipt_email
        charge.metadata = mergeMetadata(charge.metadata, params.metadata)
        ctx.store.save(charge)
        return charge
      },
    ),
  )
}
