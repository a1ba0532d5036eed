/** (d) Webhooks: signed, at least once, in any order; and a connection that breaks after the execution. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Stripe } from 'stripe'
import { control, eventually, targetAt, type Check, type Target } from './target.ts'

interface Received {
  id: string
  type: string
  body: string
  signature: string
}

/** Receives webhooks during `run` at an endpoint for one event type. */
async function listening(
  target: Target,
  run: (received: Received[], endpoint: Stripe.WebhookEndpoint) => Promise<void>,
  answer: (index: number, response: ServerResponse) => void = (_, response) => response.end(),
): Promise<void> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
    request.on('end', () => {
      const { id, type } = JSON.parse(body) as { id: string; type: string }
      received.push({ id, type, body, signature: String(request.headers['stripe-signature']) })
      answer(received.length - 1, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  try {
    const endpoint = await target.stripe.webhookEndpoints.create({ url, enabled_events: ['customer.created'] })
    await run(received, endpoint)
    await target.stripe.webhookEndpoints.del(endpoint.id)
  } finally {
    if (target.hasControl) await control(target, '/webhooks/config', {})
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

const arrive = (received: readonly Received[], count: number) =>
  eventually(async () => assert.equal(received.length, count), 8000)

function isSigned(target: Target, one: Received | undefined, secret: string): boolean {
  try {
    target.stripe.webhooks.constructEvent(one?.body ?? '', one?.signature ?? '', secret)
    return true
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false
    throw error
  }
}

const delivery = (name: string, run: Check['run'], needsControl?: true): Check => ({
  section: 'delivery',
  name,
  run,
  ...(needsControl && { needsControl }),
})

export const deliveryChecks: readonly Check[] = [
  delivery('is signed so that the SDK takes it, and nobody else’s secret fits', (target) =>
    listening(target, async (received, endpoint) => {
      const { id } = await target.stripe.customers.create({})
      await arrive(received, 1)
      assert(isSigned(target, received[0], endpoint.secret ?? ''))
      assert(!isSigned(target, received[0], 'whsec_other'))
      const event = JSON.parse(received[0]?.body ?? '') as Stripe.Event
      assert.deepEqual([event.object, event.type, event.livemode], ['event', 'customer.created', false])
      assert.equal((event.data.object as { id: string }).id, id)
    }),
  ),
  delivery('brings only the types that were asked for', (target) =>
    listening(target, async (received) => {
      await target.stripe.products.create({ name: 'Spider' })
      await target.stripe.customers.create({})
      await arrive(received, 1)
      assert.equal(received[0]?.type, 'customer.created')
    }),
  ),
  delivery('counts pending_webhooks down', (target) =>
    listening(target, async (received) => {
      await target.stripe.customers.create({})
      await arrive(received, 1)
      await eventually(async () =>
        assert.equal((await target.stripe.events.retrieve(received[0]?.id ?? '')).pending_webhooks, 0),
      )
    }),
  ),
  delivery('comes again after a 500, with the same id', (target) =>
    listening(
      target,
      async (received) => {
        await target.stripe.customers.create({})
        await arrive(received, 2)
        assert.equal(received[0]?.id, received[1]?.id)
      },
      (index, response) => response.writeHead(index === 0 ? 500 : 200).end(),
    ),
  ),
  delivery('comes again after a redirect, which it does not follow', (target) =>
    listening(
      target,
      async (received) => {
        await target.stripe.customers.create({})
        await arrive(received, 2)
      },
      (index, response) => response.writeHead(index === 0 ? 302 : 200, { location: '/elsewhere' }).end(),
    ),
  ),
  delivery('comes again when the connection breaks before the answer', (target) =>
    listening(
      target,
      async (received) => {
        await target.stripe.customers.create({})
        await arrive(received, 2)
      },
      (index, response) => (index === 0 ? response.socket?.destroy() : response.end()),
    ),
  ),
  delivery(
    'can be a duplicate',
    (target) =>
      listening(target, async (received) => {
        await control(target, '/webhooks/config', { duplicate: 3 })
        await target.stripe.customers.create({})
        await arrive(received, 3)
        assert.equal(new Set(received.map((one) => one.id)).size, 1)
      }),
    true,
  ),
  delivery(
    'can come in another order',
    (target) =>
      listening(target, async (received) => {
        await control(target, '/webhooks/config', { paused: true, reverse: true })
        const first = await target.stripe.customers.create({})
        await target.stripe.customers.create({})
        await control(target, '/webhooks/release')
        await arrive(received, 2)
        assert(received[1]?.body.includes(first.id))
      }),
    true,
  ),
  delivery(
    'can be late',
    (target) =>
      listening(target, async (received) => {
        await control(target, '/webhooks/config', { delayMs: 60 })
        const before = Date.now()
        await target.stripe.customers.create({})
        await arrive(received, 1)
        assert(Date.now() - before >= 59)
      }),
    true,
  ),
  delivery(
    'can be lost, and is found among the undelivered and sent again by hand',
    (target) =>
      listening(target, async (received) => {
        await control(target, '/webhooks/config', { dropped: true })
        await target.stripe.customers.create({})
        await control(target, '/webhooks/config', {})
        const [lost] = (await target.stripe.events.list({ delivery_success: false, limit: 1 })).data
        await control(target, `/events/${lost?.id}/resend`)
        await arrive(received, 1)
        assert.equal(received[0]?.id, lost?.id)
      }),
    true,
  ),
  delivery(
    'comes again where the answer is lost on its way back',
    (target) =>
      listening(target, async (received) => {
        await control(target, '/webhooks/config', { lostAnswers: 1 })
        await target.stripe.customers.create({})
        await arrive(received, 2)
      }),
    true,
  ),
  delivery(
    'is signed with both secrets while one is rolled',
    (target) =>
      listening(target, async (received, endpoint) => {
        const { secret } = await control<{ secret: string }>(target, `/webhook_endpoints/${endpoint.id}/roll`)
        await target.stripe.customers.create({})
        await arrive(received, 1)
        assert(isSigned(target, received[0], secret) && isSigned(target, received[0], endpoint.secret ?? ''))
      }),
    true,
  ),
  delivery(
    'can be a thin event, which the SDK reads and fetches',
    (target) =>
      listening(target, async (received, endpoint) => {
        const url = `${endpoint.url}?thin`
        const body = { url, payload: 'thin', enabledEvents: ['customer.created'], secret: 'whsec_thin' }
        const thin = await control<{ id: string }>(target, '/webhook_endpoints', body)
        const { id } = await target.stripe.customers.create({})
        await arrive(received, 2)
        const one = received.find((each) => each.type === 'v1.customer.created')
        const { stripe } = target
        const notification = stripe.parseEventNotification(one?.body ?? '', one?.signature ?? '', 'whsec_thin')
        assert(notification.type === 'v1.customer.created')
        assert.equal(notification.related_object.id, id)
        assert.equal((await stripe.v2.core.events.retrieve(notification.id)).id, notification.id)
        await stripe.webhookEndpoints.del(thin.id)
      }),
    true,
  ),
  delivery('goes to an event destination as a thin event, beside the snapshot of an endpoint', (target) =>
    listening(target, async (received, endpoint) => {
      const { stripe } = target
      const destination = await stripe.v2.core.eventDestinations.create({
        name: 'Thin',
        type: 'webhook_endpoint',
        event_payload: 'thin',
        enabled_events: ['v1.customer.created'],
        webhook_endpoint: { url: endpoint.url },
        include: ['webhook_endpoint.signing_secret'],
      })
      const { id } = await stripe.customers.create({})
      await stripe.products.create({ name: 'Spider' })
      await arrive(received, 2)
      const secret = destination.webhook_endpoint?.signing_secret ?? ''
      const thin = received.find((one) => one.type === 'v1.customer.created')
      const notification = stripe.parseEventNotification(thin?.body ?? '', thin?.signature ?? '', secret)
      assert(notification.type === 'v1.customer.created')
      assert.equal(notification.related_object.id, id)
      assert.equal((await notification.fetchRelatedObject()).id, id)
      assert.equal((await notification.fetchEvent()).id, notification.id)
      // A disabled endpoint receives nothing.
      await stripe.v2.core.eventDestinations.disable(destination.id)
      await stripe.customers.create({})
      await arrive(received, 3)
      assert.equal(received[2]?.type, 'customer.created')
      await stripe.v2.core.eventDestinations.del(destination.id)
    }),
  ),
  delivery(
    'a connection that breaks after the work: the SDK asks again and finds one object',
    async (target) => {
      await control(target, '/faults', { kind: 'reset', path: '/v1/customers', method: 'POST' })
      const email = `reset+${Date.now()}@example.com`
      const retrying = targetAt(target.url, target.key, true)
      const made = await new Stripe(target.key, {
        host: new URL(target.url).hostname,
        port: new URL(target.url).port,
        protocol: 'http',
        maxNetworkRetries: 2,
        telemetry: false,
      }).customers.create({ email })
      const { data } = await retrying.stripe.customers.list({ email })
      assert.deepEqual(
        data.map((one) => one.id),
        [made.id],
      )
    },
    true,
  ),
]
