/** Payment methods: created by payments, and stored without the card's number. */
import { createHash } from 'node:crypto'
import { existingIn, invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { expandParam, listParams, notSimulated, oneOf, optional, string } from '../protocol/params.ts'
import type { Cause, PaymentMethod } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { emit } from '../webhooks/events.ts'
import { cardByLast4, cardByToken, type CheckedCard } from './cards.ts'
import { cardError } from './charge-card.ts'

export interface Payer {
  name: string
  email: string
}

function billingDetails(payer: Payer): PaymentMethod['billing_details'] {
  return {
    address: {
      city: null,
      country: 'US',
      line1: null,
      line2: null,
      postal_code: null,
      state: null,
    },
    email: payer.email,
    name: payer.name,
    phone: null,
    tax_id: null,
  }
}

function save(ctx: Context, method: PaymentMethod): PaymentMethod {
  ctx.store.paymentMethods.set(method.id, method)
  return method
}

export function createCardMethod(
  ctx: Context,
  checked: CheckedCard,
  payer: Payer,
  customer: string | null,
): PaymentMethod {
  return save(ctx, {
    id: newId('pm_1'),
    object: 'payment_method',
    allow_redisplay: 'limited',
    billing_details: billingDetails(payer),
    card: {
      brand: checked.brand,
      checks: {
        address_line1_check: null,
        address_postal_code_check: null,
        cvc_check: checked.card.decline?.code === 'incorrect_cvc' ? 'fail' : 'pass',
      },
      country: 'US',
      display_brand: checked.brand,
      exp_month: checked.expMonth,
      exp_year: checked.expYear,
      fingerprint: fingerprintOf(checked.last4),
      funding: 'credit',
      generated_from: null,
      last4: checked.last4,
      networks: { available: [checked.brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: ctx.clock.seconds(),
    customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  })
}

export function createBankMethod(ctx: Context, payer: Payer, customer: string | null): PaymentMethod {
  return save(ctx, {
    id: newId('pm_1'),
    object: 'payment_method',
    allow_redisplay: 'limited',
    billing_details: billingDetails(payer),
    created: ctx.clock.seconds(),
    customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'us_bank_account',
    us_bank_account: {
      account_holder_type: 'individual',
      account_type: 'checking',
      bank_name: 'STRIPE TEST BANK',
      financial_connections_account: null,
      fingerprint: fingerprintOf('6789'),
      last4: '6789',
      networks: { preferred: 'ach', supported: ['ach'] },
      routing_number: '110000000',
      status_details: {},
    },
  })
}

/** Equal for the same card; the listed cards differ in their last four digits. */
function fingerprintOf(last4: string): string {
  return createHash('sha256').update(`test card ${last4}`).digest('base64url').replaceAll(/[-_]/g, 'x').slice(0, 16)
}

/**
 * Resolves the payment method of a request: an existing one, or a predefined one (`pm_card_visa`), of which
 * each use creates another. It is attached to `customer` afterwards.
 * @throws ApiError 402 where the bank refuses to have the card saved
 */
export function savedMethod(ctx: Context, id: string, customer: string, param: string, cause: Cause): PaymentMethod {
  const method = namedMethod(ctx, id, param)
  if (method.customer === customer) return method
  if (method.customer !== null) {
    throw invalidRequest(
      'The payment method you provided has already been attached to a customer. Detach it first to use it with another one.',
      { param },
    )
  }
  attach(ctx, method, customer, cause)
  return method
}

/** Resolves the payment method of a request, of any customer. */
export function namedMethod(ctx: Context, id: string, param: string): PaymentMethod {
  const checked = cardByToken(id, new Date(ctx.clock.ms()))
  if (checked !== undefined) return createCardMethod(ctx, checked, { name: '', email: '' }, null)
  const method = ctx.store.paymentMethods.get(id)
  if (method === undefined) throw noSuchReference('PaymentMethod', id, param)
  return method
}

/** @throws ApiError 402 where the bank refuses to have the card saved */
export function requireSavable(method: PaymentMethod): void {
  const card = cardByLast4(method.card?.last4)
  if (card?.decline === undefined || card.attaches === true) return
  throw cardError(card.decline)
}

/** Attaches a card to a customer. Some cards are rejected at that point. */
export function attach(ctx: Context, method: PaymentMethod, customer: string, cause: Cause): void {
  requireSavable(method)
  method.customer = customer
  emit(ctx, 'payment_method.attached', method, cause)
}

function existing({ store }: Context, id: string): PaymentMethod {
  return existingIn(store.paymentMethods, id, 'PaymentMethod', 'payment_method')
}

export const paymentMethodRoutes: Routes = (route) => {
  route(
    get(
      '/v1/payment_methods',
      {
        ...listParams,
        allow_redisplay: notSimulated(),
        customer: optional(string()),
        customer_account: notSimulated(),
        type: optional(oneOf(['card', 'us_bank_account'])),
      },
      (ctx, { customer, type, ...paging }) => {
        const found = newestFirst(ctx.store.paymentMethods).filter(
          (one) => (customer === undefined || one.customer === customer) && (type === undefined || one.type === type),
        )
        return page(found, paging, '/v1/payment_methods', 'payment_method')
      },
    ),
  )

  route(get('/v1/payment_methods/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post(
      '/v1/payment_methods/:id/attach',
      { ...expandParam, customer: string(), customer_account: notSimulated() },
      (ctx, params, { id }, cause) => {
        const customer = ctx.store.customers.get(params.customer)
        if (customer === undefined || customer.deleted) {
          throw noSuchReference('customer', params.customer, 'customer')
        }
        return savedMethod(ctx, id, params.customer, 'payment_method', cause)
      },
    ),
  )

  route(
    post('/v1/payment_methods/:id/detach', expandParam, (ctx, _params, { id }, cause) => {
      const method = existing(ctx, id)
      if (method.customer === null) {
        throw invalidRequest(
          'The payment method you provided is not attached to a customer so detachment is impossible.',
          { param: 'payment_method' },
        )
      }
      const before = method.customer
      method.customer = null
      emit(ctx, 'payment_method.detached', method, cause, { customer: before })
      return method
    }),
  )
}
