import { invalidRequest, noSuch, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { money } from '../protocol/money.ts'
import {
  expandParam,
  integer,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  oneOf,
  optional,
  string,
  timeRange,
  type Fields,
} from '../protocol/params.ts'
import { noRequest, type Cause, type Charge, type Refund } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type RefundRecord } from '../store/store.ts'
import { emit } from '../webhooks/events.ts'
import { recordBalance } from './balance-transactions.ts'
import { cardByLast4 } from './cards.ts'

const createParams = {
  ...expandParam,
  amount: optional(integer(1)),
  charge: optional(string()),
  currency: notSimulated(),
  customer: notSimulated(),
  instructions_email: notSimulated(),
  metadata: optional(metadata()),
  origin: notSimulated(),
  payment_intent: optional(string()),
  reason: optional(oneOf(['duplicate', 'fraudulent', 'requested_by_customer'])),
  refund_application_fee: notSimulated('false'),
  reverse_transfer: notSimulated('false'),
}
type CreateParams = Fields<typeof createParams>

function createRefund(ctx: Context, params: CreateParams, cause: Cause): Refund {
  const charge = chargeToRefund(ctx, params)
  // A won dispute has returned the money, and an inquiry has taken none.
  const taken = [...ctx.store.disputes.values()].some(
    ({ object }) => idOf(object.charge) === charge.id && !object.is_charge_refundable,
  )
  if (taken) {
    throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    })
  }
  const remaining = charge.amount_captured - charge.amount_refunded
  if (remaining === 0) {
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    })
  }
  const amount = params.amount ?? remaining
  if (amount > remaining) {
    const whole = charge.amount_refunded === 0 ? 'charge amount' : 'unrefunded amount on charge'
    throw invalidRequest(
      `Refund amount (${money(amount, charge.currency)}) is greater than ${whole} (${money(remaining, charge.currency)})`,
      { param: 'amount' },
    )
  }

  const behaviour = refundBehaviour(charge)
  const id = newId('re_3')
  const settleAt = ctx.clock.seconds() + ctx.settings.refundSettleSeconds
  const isPending = behaviour === 'pending_then_succeeded'
  const refund: Refund = {
    id,
    object: 'refund',
    amount,
    balance_transaction: recordBalance(ctx, {
      type: 'refund',
      source: id,
      amount: -amount,
      currency: charge.currency,
      description: 'REFUND FOR CHARGE',
    }).id,
    charge: charge.id,
    created: ctx.clock.seconds(),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    destination_details:
      charge.payment_method_details?.type === 'card'
        ? {
            card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
            type: 'card',
          }
        : { type: 'us_bank_transfer', us_bank_transfer: { reference: null, reference_status: 'pending' } },
    metadata: mergeMetadata({}, params.metadata),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    ...(isPending ? { pending_reason: 'processing' } : {}),
    reason: params.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: isPending ? 'pending' : 'succeeded',
    transfer_reversal: null,
  }
  ctx.store.refunds.set(id, {
    object: refund,
    settlement: behaviour === undefined ? null : { at: settleAt, status: isPending ? 'succeeded' : 'failed' },
  })

  const before = { amount_refunded: charge.amount_refunded, refunded: charge.refunded }
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount_captured
  emit(ctx, 'refund.created', refund, cause)
  emit(ctx, 'charge.refunded', charge, cause, {
    amount_refunded: before.amount_refunded,
    ...(charge.refunded ? { refunded: before.refunded } : {}),
  })
  return refund
}

function chargeToRefund(ctx: Context, params: CreateParams): Charge {
  const { charge: chargeId, payment_intent: intentId } = params
  if (chargeId === undefined && intentId === undefined) {
    throw invalidRequest('One of the following params should be provided for this request: payment_intent or charge.', {
      code: 'parameter_missing',
      param: 'payment_intent',
    })
  }
  if (chargeId !== undefined && intentId !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: charge, payment_intent.', {
      param: 'charge',
    })
  }
  if (chargeId !== undefined) {
    const charge = ctx.store.charges.get(chargeId)
    if (charge === undefined) throw noSuchReference('charge', chargeId, 'charge')
    if (charge.status !== 'succeeded') {
      throw invalidRequest(`Charge ${charge.id} has not been paid; it cannot be refunded.`, { param: 'charge' })
    }
    return charge
  }
  const intent = ctx.store.paymentIntents.get(intentId ?? '')
  if (intent === undefined) throw noSuchReference('payment_intent', intentId ?? '', 'payment_intent')
  const charge = ctx.store.charges.get(idOf(intent.latest_charge))
  if (charge?.status !== 'succeeded') {
    throw invalidRequest(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`, {
      param: 'payment_intent',
    })
  }
  return charge
}

function refundBehaviour(charge: Charge) {
  return cardByLast4(charge.payment_method_details?.card?.last4)?.refund
}

/** Applies the due change of a refund. A failed refund returns its amount to the charge. */
export function settleRefund(ctx: Context, record: RefundRecord, status: 'succeeded' | 'failed'): void {
  const refund = record.object
  const before = refund.status
  record.settlement = null
  refund.status = status
  delete refund.pending_reason
  if (status === 'succeeded') {
    emit(ctx, 'refund.updated', refund, noRequest, { status: before, pending_reason: 'processing' })
    return
  }
  refund.failure_reason = 'expired_or_canceled_card'
  refund.failure_balance_transaction = recordBalance(ctx, {
    type: 'refund_failure',
    source: refund.id,
    amount: refund.amount,
    currency: refund.currency,
    description: 'REFUND FAILURE',
  }).id
  const charge = ctx.store.charges.get(idOf(refund.charge))
  if (charge !== undefined) {
    charge.amount_refunded -= refund.amount
    charge.refunded = false
    ctx.store.save(charge)
  }
  emit(ctx, 'refund.updated', refund, noRequest, { status: before })
  emit(ctx, 'refund.failed', refund, noRequest)
}

function existing(ctx: Context, id: string): Refund {
  const record = ctx.store.refunds.get(id)
  if (record === undefined) throw noSuch('refund', id, 'refund')
  return record.object
}

export const refundRoutes: Routes = (route) => {
  route(
    post('/v1/refunds', createParams, (ctx, params, _path, cause) => {
      return createRefund(ctx, params, cause)
    }),
  )

  route(
    get(
      '/v1/refunds',
      {
        ...listParams,
        charge: optional(string()),
        created: timeRange(),
        payment_intent: optional(string()),
      },
      (ctx, { charge, created, payment_intent, ...paging }) => {
        const found = newestFirst(ctx.store.refunds)
          .map((record) => record.object)
          .filter(
            (one) =>
              created(one.created) &&
              (charge === undefined || one.charge === charge) &&
              (payment_intent === undefined || one.payment_intent === payment_intent),
          )
        return page(found, paging, '/v1/refunds', 'refund')
      },
    ),
  )

  route(get('/v1/refunds/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post('/v1/refunds/:id', { ...expandParam, metadata: optional(metadata()) }, (ctx, params, { id }, cause) => {
      const refund = existing(ctx, id)
      const before = refund.metadata
      refund.metadata = mergeMetadata(refund.metadata ?? {}, params.metadata)
      emit(ctx, 'refund.updated', refund, cause, { metadata: before })
      return refund
    }),
  )

  route(
    post('/v1/refunds/:id/cancel', expandParam, (ctx, _params, { id }) => {
      existing(ctx, id)
      throw invalidRequest('Only refunds that require an action of the customer can be canceled.')
    }),
  )
}
