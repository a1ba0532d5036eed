import { Stripe } from 'stripe'
import { describe, expect, it } from 'vitest'
import { control, create, eventually, pay, receiver, refusal, respond, sdkFor, start } from '../fixture.ts'

const webhookSecret = 'whsec_test_secret'
const sessionCompleted = 'checkout.session.completed'

describe('deliveries', () => {
  it('are signed so that the SDK accepts them', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    await simulator.deliveriesIdle()
    expect(received).toHaveLength(4)
    for (const one of received) {
      const event = stripe.webhooks.constructEvent(one.body, String(one.headers['stripe-signature']), webhookSecret)
      expect(event).toMatchObject({ api_version: '2026-10-28.endive', livemode: false, pending_webhooks: 1 })
    }
    const completed = received.find((one) => one.type === sessionCompleted)!
    expect(JSON.parse(completed.body)).toMatchObject({
      data: { object: { id, payment_status: 'paid', status: 'complete' } },
    })
    const forged = () =>
      stripe.webhooks.constructEvent(completed.body, String(completed.headers['stripe-signature']), 'whsec_other')
    expect(forged).toThrow(Stripe.errors.StripeSignatureVerificationError)
    // Indented, so that receivers that verify a re-serialized body fail.
    expect(JSON.stringify(JSON.parse(completed.body))).not.toBe(completed.body)
    expect(await stripe.events.retrieve(completed.id)).toMatchObject({ pending_webhooks: 0 })
  })

  it('are signed with every secret while one is being rolled', async () => {
    const { received, url } = await receiver()
    const { stripe, simulator } = await start({ webhooks: [{ url, secret: ['whsec_new', 'whsec_old'] }] })
    await stripe.customers.create({})
    await simulator.deliveriesIdle()
    const header = String(received[0]!.headers['stripe-signature'])
    expect(header.match(/v1=/g)).toHaveLength(2)
    for (const secret of ['whsec_new', 'whsec_old']) {
      expect(stripe.webhooks.constructEvent(received[0]!.body, header, secret).type).toBe('customer.created')
    }
  })

  it.each([500, 404, 302])('are retried after a status of %i until one succeeds', async (status) => {
    const { received, url } = await receiver((index, response) =>
      respond(index < 2 ? status : 200, { location: '/elsewhere' })(index, response),
    )
    const { stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await stripe.customers.create({})
    await eventually(() => expect(received).toHaveLength(3))
    const [event] = (await stripe.events.list()).data
    expect(new Set(received.map((one) => one.id))).toEqual(new Set([event?.id]))
    await eventually(async () => expect(await stripe.events.retrieve(event!.id)).toMatchObject({ pending_webhooks: 0 }))
  })

  it('fail after the last retry, with the event listed as undelivered', async () => {
    const { received, url } = await receiver(respond(500))
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }], retryDelaysMs: [1, 1] })
    await stripe.customers.create({})
    await eventually(async () =>
      expect(await control(simulator, '/state')).toMatchObject({ webhooks: { deliveries: { failed: 1 } } }),
    )
    expect(received).toHaveLength(3)
    expect((await stripe.events.list({ delivery_success: false })).data).toHaveLength(1)
    expect((await stripe.events.list({ delivery_success: true })).data).toHaveLength(0)
  })

  it('render snapshots for the API version of the endpoint', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret, api_version: '2022-11-15' }] })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    await simulator.deliveriesIdle()
    const event = JSON.parse(received.find((one) => one.type === sessionCompleted)!.body) as Stripe.Event
    expect(event.api_version).toBe('2022-11-15')
    expect(event.data.object).not.toHaveProperty('allowed_payment_method_types')
    expect(event.data.object).toHaveProperty('shipping_details')
  })

  it('contain thin events on request, which the SDK parses and fetches', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret, payload: 'thin' }] })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    await simulator.deliveriesIdle()
    const one = received.find((each) => each.type === `v1.${sessionCompleted}`)!
    const notification = stripe.parseEventNotification(one.body, String(one.headers['stripe-signature']), webhookSecret)
    expect(notification).toMatchObject({
      object: 'v2.core.event',
      type: `v1.${sessionCompleted}`,
      related_object: { id, type: 'checkout.session', url: `/v1/checkout/sessions/${id}` },
    })
    const event = await stripe.v2.core.events.retrieve(notification.id)
    expect(event).toMatchObject({ id: notification.id, snapshot_event: expect.stringMatching(/^evt_1/) })
    if (notification.type !== `v1.${sessionCompleted}`) throw new Error('another type')
    expect(await notification.fetchRelatedObject()).toMatchObject({ id, payment_status: 'paid' })
    const listed = await stripe.v2.core.events.list({ object_id: id })
    expect(listed.data.map((each) => each.type)).toEqual([`v1.${sessionCompleted}`])
  })

  it('delay the redirect until the completed webhook is answered', async () => {
    const order: string[] = []
    const { url } = await receiver((_index, response) => {
      setTimeout(() => {
        order.push('answered')
        response.end()
      }, 100)
    })
    const { simulator, stripe } = await start({
      webhooks: [{ url, secret: webhookSecret, enabled_events: [sessionCompleted] }],
    })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    order.push('redirected')
    expect(order).toEqual(['answered', 'redirected'])
  })

  it('do not delay the redirect beyond the timeout', async () => {
    const { url } = await receiver(() => {})
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }], redirectWaitMs: 50 })
    const { id } = await stripe.checkout.sessions.create(create)
    expect(await pay(simulator, id)).toMatchObject({ status: 'paid' })
  })
})

describe('delivery modes', () => {
  it('hold deliveries and release them in reverse order', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { paused: true, reverse: true })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    expect(received).toEqual([])
    expect(await control(simulator, '/webhooks/release', {})).toEqual({ released: 4 })
    await control(simulator, '/webhooks/flush', {})
    expect(received.map((one) => one.type)).toEqual([
      sessionCompleted,
      'payment_intent.succeeded',
      'charge.succeeded',
      'payment_intent.created',
    ])
  })

  it('duplicate deliveries', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { duplicate: 5 })
    await stripe.customers.create({})
    await simulator.deliveriesIdle()
    expect(received).toHaveLength(5)
    expect(new Set(received.map((one) => one.id)).size).toBe(1)
  })

  it('drop one event type and resend it by hand', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { dropped: true, types: ['checkout.session.*'] })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    await simulator.deliveriesIdle()
    expect(received.map((one) => one.type)).not.toContain(sessionCompleted)
    const [lost] = (await stripe.events.list({ type: sessionCompleted })).data
    await control(simulator, '/webhooks/config', {})
    await control(simulator, `/events/${lost!.id}/resend`, {})
    await eventually(() => expect(received.map((one) => one.id)).toContain(lost!.id))
  })

  it('render snapshots for another API version', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { apiVersion: '2022-11-15' })
    await stripe.customers.create({})
    await simulator.deliveriesIdle()
    expect(JSON.parse(received[0]!.body)).toMatchObject({ api_version: '2022-11-15' })
  })

  it('send a spurious event, as a late one would be', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    const session = await stripe.checkout.sessions.retrieve(id)
    await control(simulator, '/events', { type: 'payment_intent.payment_failed', objectId: session.payment_intent })
    await simulator.deliveriesIdle()
    expect(received.at(-1)?.type).toBe('payment_intent.payment_failed')
    expect((await stripe.paymentIntents.retrieve(session.payment_intent as string)).status).toBe('succeeded')
  })
})

describe('faults of deliveries', () => {
  it('repeat a delivery whose response was lost', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { lostAnswers: 2 })
    await stripe.customers.create({})
    await eventually(() => expect(received).toHaveLength(3))
    expect(new Set(received.map((one) => one.id)).size).toBe(1)
    await eventually(async () =>
      expect(await control(simulator, '/state')).toMatchObject({ webhooks: { deliveries: { delivered: 1 } } }),
    )
  })

  it('delay the first attempt', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start({ webhooks: [{ url, secret: webhookSecret }] })
    await control(simulator, '/webhooks/config', { delayMs: 40 })
    const before = Date.now()
    await stripe.customers.create({})
    await eventually(() => expect(received).toHaveLength(1))
    expect(Date.now() - before).toBeGreaterThanOrEqual(39)
  })

  it('also sign with a rolled secret until it expires', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start()
    const made = await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] })
    const roll = (body: object) => control<{ secret: string }>(simulator, `/webhook_endpoints/${made.id}/roll`, body)
    const second = await roll({})
    const third = await roll({ secret: 'whsec_third', expiresInSeconds: 0 })
    await stripe.customers.create({})
    await simulator.deliveriesIdle()
    const header = String(received[0]!.headers['stripe-signature'])
    const isGood = (secret: string) => {
      try {
        stripe.webhooks.constructEvent(received[0]!.body, header, secret)
        return true
      } catch {
        return false
      }
    }
    expect([made.secret!, second.secret, third.secret].map(isGood)).toEqual([true, false, true])
    expect(third.secret).toBe('whsec_third')
    const tooLong = await control<{ error: object }>(simulator, `/webhook_endpoints/${made.id}/roll`, {
      expiresInSeconds: 90_000,
    })
    expect(tooLong.error).toBeDefined()
  })
})

describe('/v1/webhook_endpoints', () => {
  it('creates, updates, disables and deletes endpoints', async () => {
    const { received, url } = await receiver()
    const { simulator, stripe } = await start()
    const made = await stripe.webhookEndpoints.create({ url, enabled_events: ['customer.created'] })
    expect(made.secret).toMatch(/^whsec_/)
    expect(await stripe.webhookEndpoints.retrieve(made.id)).not.toHaveProperty('secret')
    const customer = await stripe.customers.create({})
    await stripe.customers.del(customer.id)
    await simulator.deliveriesIdle()
    expect(received.map((one) => one.type)).toEqual(['customer.created'])
    const header = String(received[0]!.headers['stripe-signature'])
    expect(stripe.webhooks.constructEvent(received[0]!.body, header, made.secret!).type).toBe('customer.created')

    expect(await stripe.webhookEndpoints.update(made.id, { disabled: true })).toMatchObject({ status: 'disabled' })
    await stripe.customers.create({})
    await simulator.deliveriesIdle()
    expect(received).toHaveLength(1)
    expect(await stripe.webhookEndpoints.del(made.id)).toMatchObject({ deleted: true })
    expect((await stripe.webhookEndpoints.list()).data).toEqual([])
    expect((await refusal(stripe.webhookEndpoints.retrieve(made.id))).statusCode).toBe(404)
  })
})

describe('events', () => {
  it('contain the request that caused them, and the object as of the event', async () => {
    const { simulator } = await start()
    const stripe = sdkFor(simulator)
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id, '4000000000000002')
    await pay(simulator, id)
    const failed = (await stripe.events.list({ types: ['payment_intent.payment_failed'] })).data[0]
    expect(failed?.data.object).toMatchObject({ status: 'requires_payment_method' })
    expect(failed?.request).toEqual({ id: null, idempotency_key: null })

    const session = await stripe.checkout.sessions.retrieve(id)
    const refund = await stripe.refunds.create(
      { payment_intent: session.payment_intent as string },
      { idempotencyKey: 'refund-1' },
    )
    const created = (await stripe.events.list({ type: 'refund.created' })).data[0]
    expect(created?.request).toEqual({ id: refund.lastResponse.requestId, idempotency_key: 'refund-1' })
  })

  it('are kept for 30 days', async () => {
    const { simulator, stripe } = await start()
    await stripe.customers.create({})
    expect((await stripe.events.list()).data).toHaveLength(1)
    simulator.advanceClock(31 * 24 * 3600)
    expect((await stripe.events.list()).data).toHaveLength(0)
  })
})
