/** Payment methods: made when a parent pays, and kept without the card's number. */
import { createHash } from 'node:crypto'

import type { CheckedCard } from './cards.ts'
import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import { newId } from './ids.ts'
import { expandParam } from './params.ts'
import { get, type Routes } from './routes.ts'
import type { PaymentMethod } from './types.ts'

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

/** The same for the same card; the listed cards differ in their last four digits. */
function fingerprintOf(last4: string): string {
  return createHash('sha256').update(`test card ${last4}`).digest('base64url').replaceAll(/[-_]/g, 'x').slice(0, 16)
}

export const paymentMethodRoutes: Routes = (route) => {
  route(
    get('/v1/payment_methods/:id', expandParam, (ctx, _params, { id }) => {
      const method = ctx.store.paymentMethods.get(id)
      if (method === undefined) throw noSuch('PaymentMethod', id, 'payment_method')
      return method
    }),
  )
}
