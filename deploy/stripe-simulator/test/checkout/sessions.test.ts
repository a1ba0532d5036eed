import { describe, expect, it } from 'vitest'
import { control, create, eventTypes, pay, refusal, start, subscribe } from '../fixture.ts'

const minute = 60

describe('POST /v1/checkout/sessions', () => {
  it('creates an open, unpaid session with a url', async () => {
    const { simulator, stripe } = await start()
    const session = await stripe.checkout.sessions.create(create)
    expect(session).toMatchObject({
      object: 'checkout.session',
      amount_total: 40_000,
      currency: 'usd',
      customer_email: 'ada.lind@example.com',
      livemode: false,
      metadata: { registration: 'r-1' },
      payment_intent: null,
      payment_status: 'unpaid',
      status: 'open',
      url: `${simulator.url}/c/pay/${session.id}`,
    })
    expect(session.id).toMatch(/^cs_test_/)
    expect(session.line_items).toBeUndefined()
    expect(session.expires_at).toBe(session.created + 24 * 60 * minute)
  })

  it('uses the public URL for the page', async () => {
    const { stripe } = await start({ publicUrl: 'http://localhost:4010/' })
    const session = await stripe.checkout.sessions.create(create)
    expect(session.url).toBe(`http://localhost:4010/c/pay/${session.id}`)
  })

  it('lists line items on request and expands the product', async () => {
    const { stripe } = await start()
    const { id } = await stripe.checkout.sessions.create({
      ...create,
      line_items: [
        ...(create.line_items ?? []),
        { quantity: 2, price_data: { currency: 'usd', unit_amount: 1500, product_data: { name: 'Battery' } } },
      ],
    })
    const items = await stripe.checkout.sessions.listLineItems(id, { limit: 1 })
    expect(items.data.map((item) => item.description)).toEqual(['Robotics Foundations'])
    expect(items.has_more).toBe(true)

    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['line_items.data.price.product'] })
    expect(session.amount_total).toBe(43_000)
    const second = session.line_items?.data[1]
    expect(second).toMatchObject({ amount_total: 3000, quantity: 2, price: { unit_amount: 1500 } })
    expect(second).toMatchObject({ price: { product: { name: 'Battery' } } })
  })

  const refused: [string, Record<string, unknown>, { code?: string; param?: string; message?: RegExp }][] = [
    [
      'an unknown parameter',
      { payment_method_types: ['card'] },
      { code: 'parameter_unknown', param: 'payment_method_types' },
    ],
    [
      'a nested unknown parameter',
      { line_items: [{ quantity: 1, colour: 'red' }] },
      { code: 'parameter_unknown', param: 'line_items[0][colour]' },
    ],
    ['no line items', { line_items: undefined }, { code: 'parameter_missing', param: 'line_items' }],
    [
      'no quantity',
      { line_items: [{ price_data: { currency: 'usd', unit_amount: 1000, product_data: { name: 'x' } } }] },
      { code: 'parameter_missing', param: 'line_items[0][quantity]' },
    ],
    ['no success address', { success_url: undefined }, { code: 'parameter_missing', param: 'success_url' }],
    ['an empty success address', { success_url: '' }, { code: 'parameter_invalid_empty', param: 'success_url' }],
    ['an address that is none', { cancel_url: 'javascript:alert(1)' }, { code: 'url_invalid', param: 'cancel_url' }],
    [
      'an amount with a fraction',
      {
        line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 10.5, product_data: { name: 'x' } } }],
      },
      { code: 'parameter_invalid_integer', param: 'line_items[0][price_data][unit_amount]' },
    ],
    [
      'a negative amount',
      { line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: -1, product_data: { name: 'x' } } }] },
      { code: 'parameter_invalid_integer', message: /non-negative/ },
    ],
    [
      'an amount below the minimum',
      { line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 49, product_data: { name: 'x' } } }] },
      { code: 'amount_too_small' },
    ],
    [
      'a currency that is none',
      {
        line_items: [
          { quantity: 1, price_data: { currency: 'robots', unit_amount: 1000, product_data: { name: 'x' } } },
        ],
      },
      { param: 'line_items[0][price_data][currency]' },
    ],
    [
      'an unknown price',
      { line_items: [{ quantity: 1, price: 'price_none' }] },
      { code: 'resource_missing', param: 'line_items[0][price]' },
    ],
    ['an e-mail that is none', { customer_email: 'nobody' }, { code: 'email_invalid', param: 'customer_email' }],
    ['customer and e-mail at once', { customer: 'cus_1' }, { message: /only specify one/ }],
    ['setup mode', { mode: 'setup' }, { param: 'mode', message: /`payment` and `subscription` mode only/ }],
    [
      'a subscription to what is paid once',
      { mode: 'subscription', payment_intent_data: undefined },
      { param: 'mode', message: /at least one recurring price/ },
    ],
    [
      'a recurring price to be paid once',
      { line_items: subscribe.line_items },
      { param: 'mode', message: /passed a recurring price/ },
    ],
    [
      'what is for subscriptions only',
      { subscription_data: { metadata: {}, description: 'x' } },
      { param: 'subscription_data', message: /in `payment` mode/ },
    ],
    [
      'what is for payments only',
      { mode: 'subscription', line_items: subscribe.line_items },
      { param: 'payment_intent_data', message: /in `subscription` mode/ },
    ],
    [
      'an interval that is none',
      {
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: 'usd',
              unit_amount: 700,
              recurring: { interval: 'fortnight' },
              product_data: { name: 'x' },
            },
          },
        ],
      },
      { param: 'line_items[0][price_data][recurring][interval]' },
    ],
    ['a mode that is none', { mode: 'gift' }, { param: 'mode', message: /must be one of/ }],
    ['what is not simulated', { discounts: [{ coupon: 'x' }] }, { param: 'discounts', message: /does not support/ }],
    [
      'too much metadata',
      { metadata: { long: 'x'.repeat(501) } },
      { param: 'metadata[long]', message: /501 characters/ },
    ],
    [
      'an end within 30 minutes',
      { expires_at: Math.floor(Date.now() / 1000) + 29 * minute },
      {
        param: 'expires_at',
        message: /^The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation\.$/,
      },
    ],
    [
      'an end after 24 hours',
      { expires_at: Math.floor(Date.now() / 1000) + 25 * 60 * minute },
      { param: 'expires_at', message: /less than 24 hours/ },
    ],
  ]
  it.each(refused)('answers 400 to %s', async (_what, change, expected) => {
    const { stripe } = await start()
    const params = { ...create, ...change }
    const error = await refusal(stripe.checkout.sessions.create(params))
    expect(error.statusCode).toBe(400)
    expect(error.rawType).toBe('invalid_request_error')
    if (expected.code !== undefined) expect(error.code).toBe(expected.code)
    if (expected.param !== undefined) expect(error.param).toBe(expected.param)
    if (expected.message !== undefined) expect(error.message).toMatch(expected.message)
  })
})

describe('GET /v1/checkout/sessions', () => {
  it('answers 404 for an unknown session', async () => {
    const { stripe } = await start()
    const error = await refusal(stripe.checkout.sessions.retrieve('cs_test_none'))
    expect(error).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
      message: "No such checkout.session: 'cs_test_none'",
    })
  })

  it('pages newest first, in both directions, and filters', async () => {
    const { simulator, stripe } = await start()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await stripe.checkout.sessions.create(create)).id)
    const first = await stripe.checkout.sessions.list({ limit: 2 })
    expect(first.data.map((one) => one.id)).toEqual(ids.slice(0, 2))
    expect(first.has_more).toBe(true)
    const next = await stripe.checkout.sessions.list({ limit: 2, starting_after: ids[1]! })
    expect(next.data.map((one) => one.id)).toEqual(ids.slice(2, 4))
    const back = await stripe.checkout.sessions.list({ limit: 2, ending_before: ids[3]! })
    expect(back.data.map((one) => one.id)).toEqual(ids.slice(1, 3))
    const all = await stripe.checkout.sessions.list({ limit: 2 }).autoPagingToArray({ limit: 100 })
    expect(all.map((one) => one.id)).toEqual(ids)

    await pay(simulator, ids[0]!)
    const complete = await stripe.checkout.sessions.list({ status: 'complete' })
    expect(complete.data.map((one) => one.id)).toEqual([ids[0]])
    const byIntent = await stripe.checkout.sessions.list({
      payment_intent: complete.data[0]?.payment_intent as string,
      expand: ['data.payment_intent'],
    })
    expect(byIntent.data[0]).toMatchObject({ payment_intent: { status: 'succeeded' } })
    const future = await stripe.checkout.sessions.list({ created: { gte: simulator.now() + 1000 } })
    expect(future.data).toEqual([])
  })

  it('answers 400 to an invalid cursor, limit and expansion', async () => {
    const { stripe } = await start()
    const cursor = await refusal(stripe.checkout.sessions.list({ starting_after: 'cs_test_none' }))
    expect(cursor).toMatchObject({ statusCode: 400, code: 'resource_missing', param: 'starting_after' })
    const limit = await refusal(stripe.checkout.sessions.list({ limit: 101 }))
    expect(limit).toMatchObject({ statusCode: 400, param: 'limit' })
    const { id } = await stripe.checkout.sessions.create(create)
    const expand = await refusal(stripe.checkout.sessions.retrieve(id, { expand: ['robot'] }))
    expect(expand.message).toMatch(/cannot be expanded \(robot\)/)
  })
})

describe('expiry', () => {
  it('expires on request, once', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    const expired = await stripe.checkout.sessions.expire(id)
    expect(expired).toMatchObject({ status: 'expired', payment_status: 'unpaid', url: null })
    const again = await refusal(stripe.checkout.sessions.expire(id))
    expect(again).toMatchObject({ statusCode: 400, message: expect.stringContaining('can be expired') })
    expect(await eventTypes(simulator)).toEqual(['checkout.session.expired'])
  })

  it('does not expire a paid session', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    expect((await refusal(stripe.checkout.sessions.expire(id))).message).toMatch(/status of `complete`/)
  })

  it('expires by the clock, once, and then cannot be paid', async () => {
    const { simulator, stripe } = await start()
    const { id, url } = await stripe.checkout.sessions.create({
      ...create,
      expires_at: simulator.now() + 31 * minute,
    })
    await control(simulator, '/clock', { advanceSeconds: 30 * minute })
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('open')
    await control(simulator, '/clock', { advanceSeconds: 2 * minute })
    await control(simulator, '/clock', { advanceSeconds: 2 * minute })
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('expired')
    expect(await pay(simulator, id)).toMatchObject({ status: 'expired', redirectUrl: create.cancel_url })
    expect(await eventTypes(simulator)).toEqual(['checkout.session.expired'])
    expect((await stripe.charges.list()).data).toEqual([])

    const page = await fetch(url ?? '')
    expect(page.status).toBe(410)
    const text = await page.text()
    expect(text).toContain('has expired')
    expect(text).toContain('not been charged')
    expect(text).toContain('href="http://localhost:3000/back"')
  })

  it('expires without a request for it', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    simulator.advanceClock(24 * 60 * minute)
    expect(await eventTypes(simulator)).toEqual(['checkout.session.expired'])
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('expired')
  })

  it('cancels a pending confirmation', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    const asked = await pay(simulator, id, '4000002500003155')
    await stripe.checkout.sessions.expire(id)
    const answered = await fetch(asked.redirectUrl ?? '', {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ answer: 'complete' }),
    })
    expect(await answered.json()).toMatchObject({ status: 'expired' })
    expect((await stripe.charges.list()).data).toEqual([])
    expect(await eventTypes(simulator)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.canceled',
      'checkout.session.expired',
    ])
  })

  it('expires one session through the control API without moving the clock', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    expect(await control(simulator, `/checkout/${id}/expire`, {})).toMatchObject({ status: 'expired' })
    expect(await eventTypes(simulator)).toEqual(['checkout.session.expired'])
  })
})

describe('customers', () => {
  it('creates one on the first attempt to pay if the session requires it', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create({ ...create, customer_creation: 'always' })
    await pay(simulator, id, '4000000000000002')
    await pay(simulator, id)
    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['customer'] })
    expect(session.customer).toMatchObject({ object: 'customer', email: 'ada.lind@example.com' })
    expect((await stripe.customers.list({ email: 'ada.lind@example.com' })).data).toHaveLength(1)
    expect(await eventTypes(simulator)).toEqual([
      'customer.created',
      'payment_intent.created',
      'charge.failed',
      'payment_intent.payment_failed',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ])
  })

  it('creates none otherwise', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    expect((await stripe.checkout.sessions.retrieve(id)).customer).toBeNull()
    expect((await stripe.customers.list()).data).toEqual([])
  })

  it('pays as an existing customer and rejects a deleted one', async () => {
    const { simulator, stripe } = await start()
    const customer = await stripe.customers.create({ email: 'maren.holt@example.com', metadata: { a: 'b' } })
    const { customer_email: _none, ...params } = create
    const { id } = await stripe.checkout.sessions.create({ ...params, customer: customer.id })
    expect(await pay(simulator, id)).toMatchObject({ status: 'paid' })
    const intents = await stripe.paymentIntents.list({ customer: customer.id })
    expect(intents.data).toHaveLength(1)

    expect(await stripe.customers.del(customer.id)).toEqual({ id: customer.id, object: 'customer', deleted: true })
    expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ deleted: true })
    expect((await stripe.customers.list()).data).toEqual([])
    const error = await refusal(stripe.checkout.sessions.create({ ...params, customer: customer.id }))
    expect(error).toMatchObject({ statusCode: 400, code: 'resource_missing', param: 'customer' })
    expect(error.message).toBe(`No such customer: '${customer.id}'`)
  })

  it('publishes updates with the previous values', async () => {
    const { stripe } = await start()
    const customer = await stripe.customers.create({ email: 'a@example.com', metadata: { keep: '1', drop: '2' } })
    const updated = await stripe.customers.update(customer.id, { name: 'Ada', metadata: { drop: '' } })
    expect(updated).toMatchObject({ name: 'Ada', metadata: { keep: '1' } })
    const [event] = (await stripe.events.list({ type: 'customer.updated' })).data
    expect(event?.data.previous_attributes).toEqual({ name: null, metadata: { drop: '2' } })
  })
})
