/** (b) Calls of the SDK with their errors: status, type, code and parameter. */
import assert from 'node:assert/strict'
import { Stripe } from 'stripe'
import { paid, payer, plan, prices, purchase, subscribed } from './records.ts'
import { eventually, targetAt, type Check, type Target } from './target.ts'

interface Refusal {
  status: number
  type?: string
  code?: string
  param?: string
  /** Null: there is none. */
  declineCode?: string | null
}

/** Expects the call to be rejected as by Stripe. */
async function refuses(call: Promise<unknown>, expected: Refusal): Promise<void> {
  const error = await call.then(
    () => assert.fail('The call was not refused'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Stripe.errors.StripeError)) throw error
  const seen: Refusal = { status: error.statusCode ?? 0 }
  if (expected.type !== undefined && error.rawType !== undefined) seen.type = error.rawType
  if (expected.code !== undefined && error.code !== undefined) seen.code = error.code
  if (expected.param !== undefined && error.param !== undefined) seen.param = error.param
  if (expected.declineCode !== undefined) seen.declineCode = error.decline_code || null
  assert.deepEqual(seen, expected)
}

const invalid = { status: 400, type: 'invalid_request_error' } as const
const missing = (param: string) => ({ status: 404, type: 'invalid_request_error', code: 'resource_missing', param })
const names = (param: string) => ({ ...invalid, code: 'resource_missing', param })

const call = (name: string, run: (target: Target) => Promise<void>): Check => ({ section: 'calls', name, run })
const openSession = ({ stripe }: Target) => stripe.checkout.sessions.create(purchase)

export const callChecks: readonly Check[] = [
  call('checkout.sessions.create', async (target) => {
    const session = await openSession(target)
    assert.equal(session.status, 'open')
    assert.equal(session.payment_status, 'unpaid')
    assert.equal(session.amount_total, 40_000)
    assert.equal(session.payment_intent, null)
    assert(session.url?.startsWith('http'))
  }),
  call('checkout.sessions.create in subscription mode', async ({ stripe }) => {
    assert.equal((await stripe.checkout.sessions.create(plan)).mode, 'subscription')
  }),
  call('checkout.sessions.create refuses no success_url', async ({ stripe }) => {
    const { success_url: _, ...rest } = purchase
    await refuses(stripe.checkout.sessions.create(rest), { ...invalid, param: 'success_url' })
  }),
  call('checkout.sessions.create refuses an unknown parameter', async ({ stripe }) => {
    const wrong = { ...purchase, colour: 'red' } as Stripe.Checkout.SessionCreateParams
    await refuses(stripe.checkout.sessions.create(wrong), { ...invalid, code: 'parameter_unknown', param: 'colour' })
  }),
  call('checkout.sessions.create refuses an unknown mode', async ({ stripe }) => {
    await refuses(stripe.checkout.sessions.create({ ...purchase, mode: 'gift' as 'payment' }), {
      ...invalid,
      param: 'mode',
    })
  }),
  call('checkout.sessions.create refuses expires_at within 30 minutes', async ({ stripe }) => {
    const soon = Math.floor(Date.now() / 1000) + 60
    await refuses(stripe.checkout.sessions.create({ ...purchase, expires_at: soon }), {
      ...invalid,
      param: 'expires_at',
    })
  }),
  call('checkout.sessions.create refuses expires_at after 24 hours', async ({ stripe }) => {
    const late = Math.floor(Date.now() / 1000) + 40 * 24 * 3600
    await refuses(stripe.checkout.sessions.create({ ...purchase, expires_at: late }), {
      ...invalid,
      param: 'expires_at',
    })
  }),
  call('checkout.sessions.create refuses a customer that is not there', async ({ stripe }) => {
    const { customer_creation: _, ...rest } = purchase
    await refuses(stripe.checkout.sessions.create({ ...rest, customer: 'cus_none' }), names('customer'))
  }),
  call('checkout.sessions.create refuses an invalid e-mail address', async ({ stripe }) => {
    await refuses(stripe.checkout.sessions.create({ ...purchase, customer_email: 'ada' }), {
      ...invalid,
      code: 'email_invalid',
      param: 'customer_email',
    })
  }),
  call('checkout.sessions.create refuses a negative amount', async ({ stripe }) => {
    const data = { currency: 'usd', unit_amount: -1, product_data: { name: 'One' } }
    const wrong = { ...purchase, line_items: [{ quantity: 1, price_data: data }] }
    await refuses(stripe.checkout.sessions.create(wrong), {
      ...invalid,
      code: 'parameter_invalid_integer',
      param: 'line_items[0][price_data][unit_amount]',
    })
  }),
  call('checkout.sessions.create refuses a recurring price in payment mode', async ({ stripe }) => {
    const { line_items: items } = plan
    await refuses(stripe.checkout.sessions.create({ ...purchase, ...(items && { line_items: items }) }), {
      ...invalid,
      param: 'mode',
    })
  }),
  call('checkout.sessions.create refuses a price that is archived, or whose product is', async ({ stripe }) => {
    const product = await stripe.products.create({ name: 'Spider' })
    const make = () => stripe.prices.create({ currency: 'usd', unit_amount: 500, product: product.id })
    const [archived, price] = [await make(), await make()]
    await stripe.prices.update(archived.id, { active: false })
    const sell = (id: string) =>
      stripe.checkout.sessions.create({ ...purchase, line_items: [{ quantity: 1, price: id }] })
    assert.equal((await sell(price.id)).amount_total, 500)
    await refuses(sell(archived.id), { ...invalid, param: 'line_items[0][price]' })
    await stripe.products.update(product.id, { active: false })
    await refuses(sell(price.id), { ...invalid, param: 'line_items[0][price]' })
  }),
  call('checkout.sessions.create refuses less than 50 cents as amount_too_small', async ({ stripe }) => {
    const data = { currency: 'usd', unit_amount: 7, product_data: { name: 'One' } }
    const wrong = { ...purchase, line_items: [{ quantity: 7, price_data: data }] }
    await refuses(stripe.checkout.sessions.create(wrong), { ...invalid, code: 'amount_too_small' })
  }),
  call('checkout.sessions.retrieve', async (target) => {
    const { id } = await openSession(target)
    assert.equal((await target.stripe.checkout.sessions.retrieve(id)).id, id)
  }),
  call('checkout.sessions.retrieve expands line_items', async (target) => {
    const { id } = await openSession(target)
    const session = await target.stripe.checkout.sessions.retrieve(id, { expand: ['line_items'] })
    assert.equal(session.line_items?.data.length, 1)
  }),
  call('checkout.sessions.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.checkout.sessions.retrieve('cs_test_none'), { ...missing('session') })
  }),
  call('checkout.sessions.retrieve refuses to expand what cannot be', async (target) => {
    const { id } = await openSession(target)
    const wrong = target.stripe.checkout.sessions.retrieve(id, { expand: ['amount_total'] })
    await refuses(wrong, invalid)
  }),
  call('checkout.sessions.update', async (target) => {
    const { id } = await openSession(target)
    const session = await target.stripe.checkout.sessions.update(id, { metadata: { a: '1' } })
    assert.deepEqual({ ...session.metadata }, { a: '1' })
  }),
  call('checkout.sessions.list', async (target) => {
    const { id } = await openSession(target)
    const page = await target.stripe.checkout.sessions.list({ limit: 1 })
    assert.deepEqual([page.object, page.data[0]?.id, page.data.length], ['list', id, 1])
  }),
  call('checkout.sessions.listLineItems', async (target) => {
    const { id } = await openSession(target)
    const { data } = await target.stripe.checkout.sessions.listLineItems(id)
    assert.equal(data[0]?.amount_total, 40_000)
  }),
  call('checkout.sessions.expire', async (target) => {
    const { id } = await openSession(target)
    const session = await target.stripe.checkout.sessions.expire(id)
    assert.deepEqual([session.status, session.url], ['expired', null])
  }),
  call('checkout.sessions.expire refuses a second time', async (target) => {
    const { id } = await openSession(target)
    await target.stripe.checkout.sessions.expire(id)
    await refuses(target.stripe.checkout.sessions.expire(id), invalid)
  }),
  call('customers.create', async ({ stripe }) => {
    const customer = await stripe.customers.create({ email: 'ada@example.com', metadata: { a: '1' } })
    assert.deepEqual([customer.email, customer.metadata['a'], customer.balance], ['ada@example.com', '1', 0])
  }),
  call('customers.create refuses an invalid e-mail address', async ({ stripe }) => {
    await refuses(stripe.customers.create({ email: 'ada' }), { ...invalid, code: 'email_invalid', param: 'email' })
  }),
  call('customers.create refuses a declined card', async ({ stripe }) => {
    await refuses(stripe.customers.create({ payment_method: 'pm_card_visa_chargeDeclined' }), {
      status: 402,
      type: 'card_error',
      code: 'card_declined',
      declineCode: 'generic_decline',
    })
  }),
  call('customers.update', async ({ stripe }) => {
    const { id } = await stripe.customers.create({ metadata: { keep: '1', drop: '2' } })
    const customer = await stripe.customers.update(id, { name: 'Ada', metadata: { drop: '' } })
    assert.deepEqual([customer.name, { ...customer.metadata }], ['Ada', { keep: '1' }])
  }),
  call('customers.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.customers.retrieve('cus_none'), missing('id'))
  }),
  call('customers.list by e-mail', async ({ stripe }) => {
    const email = `ada+${Date.now()}@example.com`
    const { id } = await stripe.customers.create({ email })
    assert.deepEqual(
      (await stripe.customers.list({ email })).data.map((one) => one.id),
      [id],
    )
  }),
  call('customers.search by e-mail address, part of a name and metadata', async ({ stripe }) => {
    const mark = `m${Date.now()}`
    const ada = await stripe.customers.create({
      email: `ada.${mark}@example.com`,
      name: `Ada ${mark}`,
      metadata: { mark },
    })
    const byron = await stripe.customers.create({ name: `Byron ${mark}`, metadata: { mark, born: '1788' } })
    const queries: [string, string[]][] = [
      [`email:"ada.${mark}@example.com"`, [ada.id]],
      [`name~"${mark}"`, [byron.id, ada.id]],
      [`metadata['mark']:'${mark}' AND -name~"byron"`, [ada.id]],
      [`metadata["mark"]:"${mark}" metadata["born"]:null`, [ada.id]],
      [`email:"ada.${mark}@example.com" OR name:"byron ${mark}"`, [byron.id, ada.id]],
      [`created>=${ada.created} AND created<=${byron.created} AND metadata["mark"]:"${mark}"`, [byron.id, ada.id]],
      [`email:"nobody.${mark}@example.com"`, []],
    ]
    for (const [query, expected] of queries) {
      // Stripe's search has a delay of up to a minute.
      await eventually(async () => {
        const { object, data } = await stripe.customers.search({ query })
        assert.deepEqual([object, data.map((one) => one.id).toSorted()], ['search_result', expected.toSorted()], query)
      }, 90_000)
    }
    const query = `metadata["mark"]:"${mark}"`
    const page = await stripe.customers.search({ query, limit: 1 })
    assert(page.has_more && page.next_page)
    const next = await stripe.customers.search({ query, limit: 1, page: page.next_page })
    assert.equal(next.has_more, false)
    assert.notEqual(page.data[0]?.id, next.data[0]?.id)
    assert.equal((await stripe.customers.search({ query, limit: 1 }).autoPagingToArray({ limit: 10 })).length, 2)
  }),
  ...[
    ['an unknown field', 'colour:"red"'],
    ['AND beside OR', 'name:"Ada" AND name:"Byron" OR name:"Clara"'],
    ['part of a number', 'created~"17"'],
    ['two letters', 'name~"ad"'],
    ['no value', 'name:'],
    ['half a quotation', 'name:"Ada'],
    ['words', 'find me Ada'],
  ].map(([name, query = '']) =>
    call(`customers.search refuses ${name}`, async ({ stripe }) => {
      await refuses(stripe.customers.search({ query }), invalid)
    }),
  ),
  call('customers.search refuses no query', async ({ stripe }) => {
    await refuses(stripe.customers.search({} as Stripe.CustomerSearchParams), {
      ...invalid,
      code: 'parameter_missing',
      param: 'query',
    })
  }),
  call('customers.update unsets with an empty string, metadata as a whole', async ({ stripe }) => {
    const { id } = await stripe.customers.create({
      email: 'ada@example.com',
      name: 'Ada',
      description: 'First',
      phone: '1815',
      address: { city: 'London' },
      metadata: { a: '1', b: '2' },
    })
    const unset = { email: '', name: '', description: '', phone: '', address: '', metadata: '' } as const
    const customer = await stripe.customers.update(id, unset)
    const { email, name, description, phone, address, metadata } = customer
    assert.deepEqual([email, name, description, phone, address], [null, null, null, null, null])
    assert.deepEqual({ ...metadata }, {})
  }),
  call('metadata as a whole is unset wherever it can be changed', async (target) => {
    const { stripe } = target
    const metadata = { a: '1' }
    const intent = await paid(target)
    const charge = intent.latest_charge as string
    const refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 100, metadata })
    const { id: session } = await openSession(target)
    const { subscription, itemId } = await subscribed(target)
    const invoice = subscription.latest_invoice as string
    const product = await stripe.products.create({ name: 'Spider', metadata })
    const hook = await stripe.webhookEndpoints.create({
      url: 'https://example.com/hook',
      enabled_events: ['*'],
      metadata,
    })
    const updates: ((given: typeof metadata | '') => Promise<{ metadata: Stripe.Metadata | null }>)[] = [
      (given) => stripe.paymentIntents.update(intent.id, { metadata: given }),
      (given) => stripe.charges.update(charge, { metadata: given }),
      (given) => stripe.refunds.update(refund.id, { metadata: given }),
      (given) => stripe.checkout.sessions.update(session, { metadata: given }),
      (given) => stripe.subscriptions.update(subscription.id, { metadata: given }),
      async (given) =>
        (await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, metadata: given }] })).items
          .data[0] ?? { metadata: null },
      (given) => stripe.invoices.update(invoice, { metadata: given }),
      (given) => stripe.products.update(product.id, { metadata: given }),
      (given) => stripe.webhookEndpoints.update(hook.id, { metadata: given }),
    ]
    for (const update of updates) {
      assert.equal((await update(metadata)).metadata?.['a'], '1')
      assert.deepEqual({ ...(await update('')).metadata }, {})
    }
    await stripe.webhookEndpoints.del(hook.id)
  }),
  call('products.update unsets with an empty string', async ({ stripe }) => {
    const { id } = await stripe.products.create({
      name: 'Spider',
      description: 'Eight legs',
      images: ['https://example.com/spider.png'],
      unit_label: 'robot',
      url: 'https://example.com/spider',
    })
    const product = await stripe.products.update(id, { description: '', images: '', unit_label: '', url: '' })
    const { description, images, unit_label: label, url } = product
    assert.deepEqual([description, images, label ?? null, url], [null, [], null, null])
    await refuses(stripe.products.update(id, { name: '' }), {
      ...invalid,
      code: 'parameter_invalid_empty',
      param: 'name',
    })
  }),
  call('paymentIntents.update unsets with an empty string', async ({ stripe }) => {
    const { id } = await stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      receipt_email: 'ada@example.com',
      setup_future_usage: 'off_session',
    })
    const intent = await stripe.paymentIntents.update(id, { receipt_email: '', setup_future_usage: '' })
    assert.deepEqual([intent.receipt_email, intent.setup_future_usage], [null, null])
  }),
  call('customers.list refuses a limit of 101', async ({ stripe }) => {
    await refuses(stripe.customers.list({ limit: 101 }), { ...invalid, param: 'limit' })
  }),
  call('customers.list pages without repeating', async ({ stripe }) => {
    for (let made = 0; made < 3; made++) await stripe.customers.create({})
    const first = await stripe.customers.list({ limit: 2 })
    assert.equal(first.has_more, true)
    const next = await stripe.customers.list({ limit: 2, starting_after: first.data[1]?.id ?? '' })
    assert(!next.data.some((one) => first.data.some((other) => other.id === one.id)))
  }),
  call('customers.del', async ({ stripe }) => {
    const { id } = await stripe.customers.create({})
    assert.equal((await stripe.customers.del(id)).deleted, true)
    assert.equal((await stripe.customers.retrieve(id)).deleted, true)
  }),
  call('products.create and update', async ({ stripe }) => {
    const { id, active } = await stripe.products.create({ name: 'Spider' })
    assert.equal(active, true)
    assert.equal((await stripe.products.update(id, { active: false })).active, false)
  }),
  call('products.create refuses no name', async ({ stripe }) => {
    await refuses(stripe.products.create({} as Stripe.ProductCreateParams), {
      ...invalid,
      code: 'parameter_missing',
      param: 'name',
    })
  }),
  call('products.create with default_price_data', async ({ stripe }) => {
    const product = await stripe.products.create({
      name: 'Membership',
      default_price_data: {
        currency: 'usd',
        unit_amount: 700,
        recurring: { interval: 'month' },
        tax_behavior: 'exclusive',
        metadata: { plan: 'monthly' },
      },
      expand: ['default_price'],
    })
    const price = product.default_price as Stripe.Price
    assert.deepEqual(
      [price.product, price.active, price.unit_amount, price.currency, price.recurring?.interval, price.tax_behavior],
      [product.id, true, 700, 'usd', 'month', 'exclusive'],
    )
    assert.deepEqual({ ...price.metadata }, { plan: 'monthly' })
    assert.equal((await stripe.products.retrieve(product.id)).default_price, price.id)
    await refuses(stripe.prices.update(price.id, { active: false }), invalid)
    const other = await stripe.products.create({ name: 'Spider' })
    await refuses(stripe.products.update(other.id, { default_price: price.id }), invalid)
  }),
  call('products.create refuses default_price_data without an amount, and makes nothing', async ({ stripe }) => {
    const id = `prod_none${Date.now()}`
    await refuses(stripe.products.create({ id, name: 'Spider', default_price_data: { currency: 'usd' } }), invalid)
    await refuses(stripe.products.retrieve(id), missing('id'))
  }),
  call('products.list', async ({ stripe }) => {
    const { id } = await stripe.products.create({ name: 'Spider' })
    assert.deepEqual(
      (await stripe.products.list({ ids: [id] })).data.map((one) => one.id),
      [id],
    )
  }),
  call('products.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.products.retrieve('prod_none'), missing('id'))
  }),
  call('prices.create', async (target) => {
    const { monthly } = await prices(target)
    assert.deepEqual([monthly.unit_amount, monthly.recurring?.interval, monthly.type], [700, 'month', 'recurring'])
  }),
  call('prices.create refuses a product that is not there', async ({ stripe }) => {
    await refuses(stripe.prices.create({ currency: 'usd', unit_amount: 1, product: 'prod_none' }), names('product'))
  }),
  call('prices.create refuses an unknown currency', async ({ stripe }) => {
    const { id } = await stripe.products.create({ name: 'Spider' })
    await refuses(stripe.prices.create({ currency: 'zzz', unit_amount: 1, product: id }), {
      ...invalid,
      param: 'currency',
    })
  }),
  call('prices.list by lookup key, and one key for one price', async ({ stripe }) => {
    const { id } = await stripe.products.create({ name: 'Spider' })
    const key = `key-${Date.now()}`
    const made = await stripe.prices.create({ currency: 'usd', unit_amount: 100, product: id, lookup_key: key })
    assert.deepEqual(
      (await stripe.prices.list({ lookup_keys: [key] })).data.map((one) => one.id),
      [made.id],
    )
    await refuses(stripe.prices.create({ currency: 'usd', unit_amount: 2, product: id, lookup_key: key }), invalid)
  }),
  call('paymentIntents.create and confirm', async (target) => {
    const intent = await paid(target)
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 40_000])
  }),
  call('paymentIntents.create by itself keeps its amount', async ({ stripe }) => {
    const made = await stripe.paymentIntents.create({ amount: 1099, currency: 'usd' })
    const raw = await stripe.rawRequest('POST', '/v1/payment_intents', { amount: 1099, currency: 'usd' })
    for (const { id } of [made, raw as unknown as Stripe.PaymentIntent]) {
      const intent = await stripe.paymentIntents.retrieve(id)
      assert.deepEqual(
        [intent.amount, intent.amount_received, intent.currency, intent.status, intent.latest_charge],
        [1099, 0, 'usd', 'requires_payment_method', null],
      )
    }
  }),
  call('paymentIntents.create refuses no amount, nothing, and half a cent', async ({ stripe }) => {
    const create = (amount?: number) =>
      stripe.paymentIntents.create({ amount, currency: 'usd' } as Stripe.PaymentIntentCreateParams)
    await refuses(create(), { ...invalid, code: 'parameter_missing', param: 'amount' })
    await refuses(create(0), { ...invalid, code: 'parameter_invalid_integer', param: 'amount' })
    await refuses(create(99.5), { ...invalid, code: 'parameter_invalid_integer', param: 'amount' })
  }),
  ...(
    [
      ['usd', 50],
      ['gbp', 30],
      ['jpy', 50],
      ['mxn', 1000],
    ] as const
  ).map(([currency, least]) =>
    call(
      `paymentIntents.create takes ${least} ${currency} and refuses less as amount_too_small`,
      async ({ stripe }) => {
        assert.equal((await stripe.paymentIntents.create({ amount: least, currency })).amount, least)
        await refuses(stripe.paymentIntents.create({ amount: least - 1, currency }), {
          ...invalid,
          code: 'amount_too_small',
          param: 'amount',
        })
      },
    ),
  ),
  call('paymentIntents.create refuses nine digits as amount_too_large', async ({ stripe }) => {
    await refuses(stripe.paymentIntents.create({ amount: 100_000_000, currency: 'usd' }), {
      ...invalid,
      code: 'amount_too_large',
      param: 'amount',
    })
  }),
  call('a price in yen is whole, and is charged whole', async ({ stripe }) => {
    const data = { currency: 'jpy', unit_amount: 500, product_data: { name: 'Spider' } }
    const session = await stripe.checkout.sessions.create({
      ...purchase,
      line_items: [{ quantity: 3, price_data: data }],
    })
    assert.deepEqual([session.amount_total, session.currency], [1500, 'jpy'])
    const few = { ...purchase, line_items: [{ quantity: 1, price_data: { ...data, unit_amount: 49 } }] }
    await refuses(stripe.checkout.sessions.create(few), { ...invalid, code: 'amount_too_small' })
    const intent = await stripe.paymentIntents.create({
      amount: 500,
      currency: 'JPY',
      payment_method: 'pm_card_visa',
      confirm: true,
      return_url: 'http://localhost:3000/back',
    })
    const refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 200 })
    assert.deepEqual(
      [intent.currency, intent.amount_received, refund.currency, refund.amount],
      ['jpy', 500, 'jpy', 200],
    )
  }),
  ...(
    [
      ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline'],
      ['pm_card_visa_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
      ['pm_card_visa_chargeDeclinedLostCard', 'card_declined', 'lost_card'],
      ['pm_card_visa_chargeDeclinedStolenCard', 'card_declined', 'stolen_card'],
      // These have no separate decline code.
      ['pm_card_chargeDeclinedExpiredCard', 'expired_card', null],
      ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', null],
      ['pm_card_chargeDeclinedProcessingError', 'processing_error', null],
    ] as const
  ).map(([method, code, declineCode]) =>
    call(`paymentIntents.create with ${method}`, async (target) => {
      await refuses(paid(target, method), { status: 402, type: 'card_error', code, declineCode })
      const [intent] = (await target.stripe.paymentIntents.list({ limit: 1 })).data
      const error = intent?.last_payment_error
      assert.deepEqual([error?.code, error?.decline_code ?? null], [code, declineCode])
      const { stripe } = target
      await refuses(stripe.customers.create({ payment_method: method }), { status: 402, code, declineCode })
    }),
  ),
  call('paymentIntents.create asks for 3-D Secure', async (target) => {
    const { stripe } = target
    const intent = await stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method: 'pm_card_authenticationRequired',
      confirm: true,
      return_url: 'http://localhost:3000/back',
    })
    assert.deepEqual([intent.status, intent.next_action?.type], ['requires_action', 'redirect_to_url'])
  }),
  call('paymentIntents.retrieve expands latest_charge.balance_transaction', async (target) => {
    const { id } = await paid(target)
    const intent = await target.stripe.paymentIntents.retrieve(id, { expand: ['latest_charge.balance_transaction'] })
    const charge = intent.latest_charge as Stripe.Charge
    assert.equal((charge.balance_transaction as Stripe.BalanceTransaction).amount, 40_000)
  }),
  call('paymentIntents.cancel', async ({ stripe }) => {
    const { id } = await stripe.paymentIntents.create({ amount: 500, currency: 'usd' })
    assert.equal((await stripe.paymentIntents.cancel(id)).status, 'canceled')
  }),
  call('paymentIntents.cancel refuses one that succeeded', async (target) => {
    const { id } = await paid(target)
    await refuses(target.stripe.paymentIntents.cancel(id), { ...invalid, code: 'payment_intent_unexpected_state' })
  }),
  call('paymentIntents.confirm refuses one that succeeded', async (target) => {
    const { id } = await paid(target)
    await refuses(target.stripe.paymentIntents.confirm(id), { ...invalid, code: 'payment_intent_unexpected_state' })
  }),
  call('paymentMethods.attach and detach', async ({ stripe }) => {
    const { id } = await stripe.customers.create({})
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: id })
    assert.deepEqual([method.customer, method.card?.last4], [id, '4242'])
    assert.equal((await stripe.paymentMethods.detach(method.id)).customer, null)
  }),
  call('paymentMethods.attach refuses a customer that is not there', async ({ stripe }) => {
    await refuses(stripe.paymentMethods.attach('pm_card_visa', { customer: 'cus_none' }), { ...names('customer') })
  }),
  call('charges.list by payment', async (target) => {
    const intent = await paid(target)
    const { data } = await target.stripe.charges.list({ payment_intent: intent.id })
    assert.deepEqual(
      data.map((one) => [one.id, one.captured]),
      [[intent.latest_charge, true]],
    )
  }),
  call('charges.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.charges.retrieve('ch_none'), missing('id'))
  }),
  call('refunds.create in parts, cumulatively', async (target) => {
    const { id } = await paid(target)
    await target.stripe.refunds.create({ payment_intent: id, amount: 100 })
    await target.stripe.refunds.create({ payment_intent: id, amount: 200 })
    const [charge] = (await target.stripe.charges.list({ payment_intent: id })).data
    assert.deepEqual([charge?.amount_refunded, charge?.refunded], [300, false])
  }),
  call('refunds.create refuses more than is left', async (target) => {
    const { id } = await paid(target)
    await refuses(target.stripe.refunds.create({ payment_intent: id, amount: 40_001 }), { ...invalid, param: 'amount' })
  }),
  call('refunds.create refuses a charge that is refunded', async (target) => {
    const { id } = await paid(target)
    await target.stripe.refunds.create({ payment_intent: id })
    const again = target.stripe.refunds.create({ payment_intent: id })
    await refuses(again, { ...invalid, code: 'charge_already_refunded' })
  }),
  call('refunds.create refuses a payment that is not there', async ({ stripe }) => {
    await refuses(stripe.refunds.create({ payment_intent: 'pi_none' }), { ...invalid, code: 'resource_missing' })
  }),
  call('refunds.list', async (target) => {
    const { id } = await paid(target)
    const refund = await target.stripe.refunds.create({ payment_intent: id })
    const { data } = await target.stripe.refunds.list({ payment_intent: id })
    assert.deepEqual(
      data.map((one) => one.id),
      [refund.id],
    )
  }),
  call('balanceTransactions.list by source', async (target) => {
    const intent = await paid(target)
    const { data } = await target.stripe.balanceTransactions.list({ source: intent.latest_charge as string })
    assert.deepEqual(
      data.map((one) => [one.amount, one.net + one.fee]),
      [[40_000, 40_000]],
    )
  }),
  call('subscriptions.create', async (target) => {
    const { subscription } = await subscribed(target)
    assert.equal(subscription.status, 'active')
    assert(subscription.items.data[0]?.current_period_end)
  }),
  call('subscriptions.create refuses a price that is not there', async (target) => {
    const { id } = await payer(target)
    const wrong = target.stripe.subscriptions.create({ customer: id, items: [{ price: 'price_none' }] })
    await refuses(wrong, names('items[0][price]'))
  }),
  call('subscriptions.create and update refuse an archived price, unless it is theirs already', async (target) => {
    const { stripe } = target
    const { customer, subscription, itemId, yearly } = await subscribed(target)
    await stripe.prices.update(yearly.id, { active: false })
    const wrong = stripe.subscriptions.create({ customer: customer.id, items: [{ price: yearly.id }] })
    await refuses(wrong, { ...invalid, param: 'items[0][price]' })
    const change = (price: string) =>
      stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price, quantity: 2 }] })
    await refuses(change(yearly.id), { ...invalid, param: 'items[0][price]' })
    const own = subscription.items.data[0]?.price.id ?? ''
    await stripe.prices.update(own, { active: false })
    assert.equal((await change(own)).items.data[0]?.quantity, 2)
  }),
  call('subscriptions.create refuses a customer without a payment method', async (target) => {
    const { monthly } = await prices(target)
    const { id } = await target.stripe.customers.create({})
    await refuses(target.stripe.subscriptions.create({ customer: id, items: [{ price: monthly.id }] }), {
      ...invalid,
      code: 'resource_missing',
    })
  }),
  call('subscriptions.create refuses a declined first payment where asked to', async (target) => {
    const { monthly } = await prices(target)
    const card = 'pm_card_chargeCustomerFail'
    const { id } = await payer(target, { payment_method: card, invoice_settings: { default_payment_method: card } })
    const wrong = target.stripe.subscriptions.create({
      customer: id,
      items: [{ price: monthly.id }],
      payment_behavior: 'error_if_incomplete',
    })
    await refuses(wrong, { status: 402, type: 'card_error', code: 'card_declined' })
  }),
  call('subscriptions.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.subscriptions.retrieve('sub_none'), missing('id'))
  }),
  call('subscriptions.update sets cancel_at_period_end and takes it back', async (target) => {
    const { subscription } = await subscribed(target)
    const asked = await target.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    assert.deepEqual(
      [asked.cancel_at_period_end, asked.cancel_at],
      [true, subscription.items.data[0]?.current_period_end],
    )
    const kept = await target.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false })
    assert.deepEqual([kept.cancel_at_period_end, kept.cancel_at], [false, null])
  }),
  call('subscriptions.update refuses an item that is not there', async (target) => {
    const { subscription, yearly } = await subscribed(target)
    const items = [{ id: 'si_none', price: yearly.id }]
    await refuses(target.stripe.subscriptions.update(subscription.id, { items }), { ...invalid, param: 'items[0][id]' })
  }),
  call('subscriptions.cancel, once', async (target) => {
    const { subscription } = await subscribed(target)
    assert.equal((await target.stripe.subscriptions.cancel(subscription.id)).status, 'canceled')
    await refuses(target.stripe.subscriptions.cancel(subscription.id), { status: 404, code: 'resource_missing' })
  }),
  call('subscriptions.list hides those that are cancelled', async (target) => {
    const { customer, subscription } = await subscribed(target)
    await target.stripe.subscriptions.cancel(subscription.id)
    assert.equal((await target.stripe.subscriptions.list({ customer: customer.id })).data.length, 0)
    assert.equal((await target.stripe.subscriptions.list({ customer: customer.id, status: 'all' })).data.length, 1)
  }),
  call('subscriptionItems.list', async (target) => {
    const { itemId, subscription } = await subscribed(target)
    const { data } = await target.stripe.subscriptionItems.list({ subscription: subscription.id })
    assert.deepEqual(
      data.map((one) => one.id),
      [itemId],
    )
  }),
  call('invoices.retrieve names subscription and payments where they are now', async (target) => {
    const { subscription } = await subscribed(target)
    const id = subscription.latest_invoice as string
    const invoice = await target.stripe.invoices.retrieve(id, { expand: ['payments'] })
    assert.equal(invoice.parent?.subscription_details?.subscription, subscription.id)
    assert.deepEqual(
      invoice.payments?.data.map((one) => one.status),
      ['paid'],
    )
    assert(!('payment_intent' in invoice) && !('subscription' in invoice))
  }),
  call('invoices.pay refuses one that is paid', async (target) => {
    const { subscription } = await subscribed(target)
    await refuses(target.stripe.invoices.pay(subscription.latest_invoice as string), invalid)
  }),
  call('invoices.finalizeInvoice refuses one that is final', async (target) => {
    const { subscription } = await subscribed(target)
    await refuses(target.stripe.invoices.finalizeInvoice(subscription.latest_invoice as string), invalid)
  }),
  call('invoices.createPreview', async (target) => {
    const { subscription } = await subscribed(target)
    const preview = await target.stripe.invoices.createPreview({ subscription: subscription.id })
    assert.deepEqual([preview.amount_due, preview.status], [700, 'draft'])
  }),
  call('invoices.listLineItems', async (target) => {
    const { subscription } = await subscribed(target)
    const { data } = await target.stripe.invoices.listLineItems(subscription.latest_invoice as string)
    assert.deepEqual(
      data.map((one) => one.amount),
      [700],
    )
  }),
  call('invoicePayments.list', async (target) => {
    const { subscription } = await subscribed(target)
    const invoice = subscription.latest_invoice as string
    const { data } = await target.stripe.invoicePayments.list({ invoice })
    assert.deepEqual(
      data.map((one) => [one.status, one.amount_paid]),
      [['paid', 700]],
    )
  }),
  call('billingPortal.sessions.create', async (target) => {
    const { customer, subscription } = await subscribed(target)
    const session = await target.stripe.billingPortal.sessions.create({
      customer: customer.id,
      return_url: 'http://localhost:3000/profile',
      flow_data: { type: 'subscription_cancel', subscription_cancel: { subscription: subscription.id } },
    })
    assert.deepEqual([session.customer, session.flow?.type], [customer.id, 'subscription_cancel'])
    assert(session.url.startsWith('http'))
  }),
  call('billingPortal.sessions.create refuses a customer that is not there', async ({ stripe }) => {
    await refuses(stripe.billingPortal.sessions.create({ customer: 'cus_none' }), { ...names('customer') })
  }),
  call('disputes.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.disputes.retrieve('du_none'), { status: 404, code: 'resource_missing' })
  }),
  call('webhookEndpoints.create shows its secret once', async ({ stripe }) => {
    const made = await stripe.webhookEndpoints.create({ url: 'https://example.com/hook', enabled_events: ['*'] })
    assert.match(made.secret ?? '', /^whsec_/)
    assert(!('secret' in (await stripe.webhookEndpoints.retrieve(made.id))))
    assert.equal((await stripe.webhookEndpoints.del(made.id)).deleted, true)
  }),
  call('webhookEndpoints.create refuses an address that is none', async ({ stripe }) => {
    const wrong = stripe.webhookEndpoints.create({ url: 'nowhere', enabled_events: ['*'] })
    await refuses(wrong, { ...invalid, param: 'url' })
  }),
  call('webhookEndpoints.create and update refuse a type of event that is none', async ({ stripe }) => {
    const url = 'https://example.com/hook'
    type Types = Stripe.WebhookEndpointCreateParams.EnabledEvent[]
    for (const wrong of ['customer.creatd', 'customer.*', 'Customer.created', 'v1.customer.created']) {
      const types = ['customer.created', wrong] as Types
      await refuses(stripe.webhookEndpoints.create({ url, enabled_events: types }), {
        ...invalid,
        param: 'enabled_events[1]',
      })
    }
    const { id } = await stripe.webhookEndpoints.create({ url, enabled_events: ['payout.paid'] })
    const wrong = stripe.webhookEndpoints.update(id, { enabled_events: ['customer.creatd'] as unknown as Types })
    await refuses(wrong, { ...invalid, param: 'enabled_events[0]' })
    assert.deepEqual((await stripe.webhookEndpoints.retrieve(id)).enabled_events, ['payout.paid'])
    await stripe.webhookEndpoints.del(id)
  }),
  call('v2.core.eventDestinations: create, retrieve, update, disable, enable, list and del', async ({ stripe }) => {
    const { eventDestinations: destinations } = stripe.v2.core
    const made = await destinations.create({
      name: 'Thin',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['v1.customer.created'],
      webhook_endpoint: { url: 'https://example.com/thin' },
      metadata: { a: '1' },
      include: ['webhook_endpoint.signing_secret', 'webhook_endpoint.url'],
    })
    assert.deepEqual(
      [made.object, made.event_payload, made.enabled_events, made.status, made.webhook_endpoint?.url],
      ['v2.core.event_destination', 'thin', ['v1.customer.created'], 'enabled', 'https://example.com/thin'],
    )
    assert.match(made.webhook_endpoint?.signing_secret ?? '', /^whsec_/)
    const found = await destinations.retrieve(made.id)
    assert.deepEqual([found.name, found.webhook_endpoint?.signing_secret ?? null], ['Thin', null])
    const changed = await destinations.update(made.id, { name: 'Thinner', enabled_events: ['v1.product.created'] })
    assert.deepEqual([changed.name, changed.enabled_events], ['Thinner', ['v1.product.created']])
    assert.equal((await destinations.disable(made.id)).status_details?.disabled?.reason, 'user')
    assert.equal((await destinations.enable(made.id)).status, 'enabled')
    const listed: string[] = []
    for await (const one of destinations.list({ limit: 1 })) listed.push(one.id)
    assert(listed.includes(made.id))
    assert.equal((await destinations.del(made.id)).id, made.id)
    await refuses(destinations.retrieve(made.id), { status: 404, code: 'not_found' })
  }),
  call('v2.core.eventDestinations.create refuses what is no destination', async ({ stripe }) => {
    const right: Stripe.V2.Core.EventDestinationCreateParams = {
      name: 'Thin',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['v1.customer.created'],
      webhook_endpoint: { url: 'https://example.com/thin' },
    }
    const { webhook_endpoint: _, ...nowhere } = right
    const wrong: Stripe.V2.Core.EventDestinationCreateParams[] = [
      { ...right, enabled_events: ['customer.created'] },
      { ...right, enabled_events: ['v1.customer.creatd'] },
      { ...right, event_payload: 'snapshot' },
      { ...right, event_payload: 'fat' as 'thin' },
      { ...right, snapshot_api_version: '2026-10-28.endive' },
      { ...right, webhook_endpoint: { url: 'nowhere' } },
      nowhere,
    ]
    for (const params of wrong) await refuses(stripe.v2.core.eventDestinations.create(params), { status: 400 })
  }),
  call('events.list by type', async ({ stripe }) => {
    const { id } = await stripe.customers.create({})
    const { data } = await stripe.events.list({ type: 'customer.created', limit: 20 })
    assert(data.some((event) => event.data.object.object === 'customer' && event.data.object.id === id))
  }),
  call('events.retrieve refuses one that is not there', async ({ stripe }) => {
    await refuses(stripe.events.retrieve('evt_none'), { status: 404, code: 'resource_missing' })
  }),
  call('a wrong key is refused', async (target) => {
    const { stripe } = targetAt(target.url, 'nonsense', false)
    await refuses(stripe.customers.list(), { status: 401, type: 'invalid_request_error' })
  }),
  call('an address that is none is refused', async ({ stripe }) => {
    await refuses(stripe.rawRequest('GET', '/v1/nothing'), { status: 404, type: 'invalid_request_error' })
  }),
  call('metadata of more than 500 characters is refused', async ({ stripe }) => {
    const wrong = stripe.customers.create({ metadata: { long: 'x'.repeat(501) } })
    await refuses(wrong, { ...invalid, param: 'metadata[long]' })
  }),
]
