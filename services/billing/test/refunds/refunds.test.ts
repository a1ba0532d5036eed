import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paymentRefunded, refundFailed, refundSchema } from '@robokids/contracts/billing'
import { registrationRejected, type RegistrationFacts } from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refunds } from '../../src/schema.ts'
import { adminHeaders, codeOf, intentOf, messageOf, purchase, BillingFixture, type SimEvent } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture

beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
})
afterAll(async () => {
  await fixture.close()
})

const refundPending = '4000000000007726'
const refundFails = '4000000000005126'
const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

/** The refunds of a payment at Stripe. */
async function madeOf(registrationId: string) {
  const { payment } = await fixture.read(registrationId)
  const listed = await fixture.stripe.refunds.list({ payment_intent: payment!.stripePaymentIntentId, limit: 100 })
  return listed.data
}

async function rejected(facts: RegistrationFacts, reason: 'class_full' | 'class_started' = 'class_full') {
  const { payment } = await fixture.read(facts.registrationId)
  const { paymentId, receiptNumber, amount, currency } = payment!
  return bed.bus.publish(registrationRejected, facts.registrationId, {
    ...facts,
    payment: { paymentId, receiptNumber, amount, currency },
    reason,
  })
}

describe('POST /refunds', () => {
  it('refunds the whole payment once', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const refundId = randomUUIDv7()
    const answer = await fixture.refund(facts.registrationId, undefined, refundId)
    expect(answer).toMatchObject({
      status: 200,
      body: { refundId, amount: 40_000, currency: 'usd', reason: 'requested', status: 'succeeded' },
    })
    expect((await madeOf(facts.registrationId)).map(({ metadata }) => metadata)).toEqual([
      { refundId, registrationId: facts.registrationId },
    ])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    const { payment } = await fixture.read(facts.registrationId)
    expect(refunded.data).toEqual({
      refundId,
      paymentId: payment?.paymentId,
      registrationId: facts.registrationId,
      amount: 40_000,
      currency: 'usd',
      reason: 'requested',
      refundedTotal: 40_000,
      paidAmount: 40_000,
      whole: true,
      purchase: facts,
    })
    expect(await fixture.refund(facts.registrationId, undefined, refundId)).toEqual(answer)
    await fixture.simulator.deliveriesIdle()
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
    expect(await fixture.read(facts.registrationId)).toMatchObject({
      status: 'paid',
      checkoutUrl: null,
      refunds: [refundSchema.parse(answer.body)],
    })
  })

  it('rejects more than was paid, zero, negative amounts, and requests without the admin secret', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const tooMuch = await fixture.refund(facts.registrationId, 40_001)
    expect([tooMuch.status, codeOf(tooMuch)]).toEqual([409, 'refund_not_possible'])
    expect(messageOf(tooMuch)).toBe(
      '$400.01 is more than can be refunded: $400.00 is left of the $400.00 that was paid.',
    )
    for (const amount of [0, -1]) {
      const answer = await fixture.refund(facts.registrationId, amount)
      expect([answer.status, codeOf(answer), messageOf(answer)]).toEqual([
        400,
        'validation_failed',
        'A refund is at least 1 cent.',
      ])
    }
    expect((await fixture.refund(facts.registrationId, 0.5)).status).toBe(400)
    const body = { registrationId: facts.registrationId, refundId: randomUUIDv7() }
    expect((await fixture.call('POST', '/refunds', body)).status).toBe(401)
    expect((await fixture.call('POST', '/refunds', body, { 'x-admin-secret': 'local-admin-not' })).status).toBe(401)
    const unpaid = await fixture.refund((await fixture.checkout(purchase())).registrationId)
    expect([unpaid.status, codeOf(unpaid)]).toEqual([404, 'payment_not_found'])
    expect(await madeOf(facts.registrationId)).toEqual([])
    expect(await fixture.read(facts.registrationId)).toMatchObject({ refunds: [] })
  })

  it('accepts a receipt number instead of a registration', async () => {
    const facts = purchase()
    const { payment } = await fixture.sell(facts)
    const ask = (body: object) => fixture.call('POST', '/refunds', { refundId: randomUUIDv7(), ...body }, adminHeaders)
    const { receiptNumber } = payment!
    expect(await ask({ receiptNumber, amount: 100 })).toMatchObject({ status: 200, body: { amount: 100 } })
    expect((await fixture.read(facts.registrationId)).refunds).toMatchObject([{ amount: 100 }])
    expect((await ask({ receiptNumber: 'RK-999999' })).status).toBe(404)
    for (const body of [{}, { receiptNumber: 'x' }, { receiptNumber, registrationId: facts.registrationId }]) {
      expect((await ask(body)).status).toBe(400)
    }
  })

  it('makes exactly one of two concurrent full refunds', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const answers = await Promise.all([fixture.refund(facts.registrationId), fixture.refund(facts.registrationId)])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)!
    expect(messageOf(refused)).toBe('Nothing is left to refund: all of the $400.00 has been refunded.')
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([40_000])
  })

  it('makes one refund for concurrent requests with the same id', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const refundId = randomUUIDv7()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => fixture.refund(facts.registrationId, 10_000, refundId)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    await eventually(async () => (await fixture.read(facts.registrationId)).refunds[0]?.status === 'succeeded')
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([10_000])
    const other = await fixture.refund(facts.registrationId, 5_000, refundId)
    expect([other.status, codeOf(other)]).toEqual([409, 'id_reused'])
  })

  it('refunds parts until nothing is left, and publishes the running total', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    await fixture.refunded(facts.registrationId, 15_000)
    const over = await fixture.refund(facts.registrationId, 25_001)
    expect(messageOf(over)).toBe('$250.01 is more than can be refunded: $250.00 is left of the $400.00 that was paid.')
    expect(await fixture.refunded(facts.registrationId)).toMatchObject({ amount: 25_000 })
    expect((await fixture.refund(facts.registrationId, 1)).status).toBe(409)
    await eventually(() => bed.bus.all(paymentRefunded, of(facts.registrationId)).length === 2)
    const published = bed.bus
      .all(paymentRefunded, of(facts.registrationId))
      .map(({ data }) => [data.amount, data.refundedTotal])
    expect(published).toEqual([
      [15_000, 15_000],
      [25_000, 40_000],
    ])
  })

  it('makes one refund although the connection broke after Stripe had made it', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    await fixture.fault({ kind: 'reset', method: 'POST', path: '/v1/refunds', times: 1, when: 'after' })
    expect((await fixture.refund(facts.registrationId)).status).toBe(200)
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })

  it('finds a refund that Stripe made despite a server error', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.fault({ kind: 'error', method: 'POST', path: '/v1/refunds', times: 1, when: 'after', status: 500 })
    const answer = await fixture.refund(facts.registrationId)
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
  })

  it('makes the refund after an outage of Stripe', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    // More than one request with its retries, since the job calls Stripe as well.
    await fixture.fault({ kind: 'error', method: 'POST', path: '/v1/refunds', times: 6, when: 'before', status: 503 })
    expect(await fixture.refund(facts.registrationId)).toMatchObject({
      status: 200,
      body: { status: 'pending', stripeRefundId: null },
    })
    await bed.bus.seen(paymentRefunded, of(facts.registrationId), 20_000)
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })

  it('retries under another idempotency key after a saved server error', async () => {
    const behind = await BillingFixture.startIsolated()
    const door = await openFaultyDoor(behind.simulator.url)
    const facts = purchase()
    await behind.sell(facts)
    await behind.service.stop()
    const again = await behind.startSecondProcess({ STRIPE_API_URL: door.url })
    const body = { registrationId: facts.registrationId, refundId: randomUUIDv7() }
    const answer = await behind.call('POST', '/refunds', body, adminHeaders, again.url)
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    await behind.bed.bus.seen(paymentRefunded)
    expect(door.keys.size).toBe(2)
    expect(await behind.stripe.refunds.list()).toMatchObject({ data: [{ amount: 40_000 }] })
    await again.stop()
    await behind.close()
    await door.close()
  })

  it('reports a refund that was made in the dashboard before its webhook arrived', async () => {
    const facts = purchase()
    const { payment } = await fixture.sell(facts)
    await fixture.webhooks({ dropped: true })
    const made = await fixture.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const answer = await fixture.refund(facts.registrationId)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'refund_not_possible'])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ amount: 40_000, refundedTotal: 40_000, reason: 'requested' })
    const { refunds } = await fixture.read(facts.registrationId)
    expect(refunds.filter(({ status }) => status === 'succeeded')).toMatchObject([{ stripeRefundId: made.id }])
  })
})

describe('a rejected registration', () => {
  it('gets its payment refunded once, however often the event arrives', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const event = await rejected(facts)
    await bed.bus.republish(event)
    await rejected(facts, 'class_started')
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({
      reason: 'seat_gone',
      amount: 40_000,
      refundedTotal: 40_000,
      paidAmount: 40_000,
      purchase: facts,
    })
    const marker = purchase()
    await fixture.sell(marker)
    await rejected(marker)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    await fixture.simulator.deliveriesIdle()
    expect(await madeOf(facts.registrationId)).toMatchObject([{ amount: 40_000 }])
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
    expect(await fixture.read(facts.registrationId)).toMatchObject({
      refunds: [{ reason: 'seat_gone', status: 'succeeded' }],
    })
  })

  it('gets the rest refunded after a partial refund', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    await fixture.refunded(facts.registrationId, 10_000)
    await rejected(facts)
    const refunded = await bed.bus.seen(
      paymentRefunded,
      (data) => data.registrationId === facts.registrationId && data.reason === 'seat_gone',
    )
    expect(refunded.data).toMatchObject({ amount: 30_000, refundedTotal: 40_000 })
  })

  it('is refunded once when an administrator refunds it concurrently', async () => {
    const facts = purchase()
    await fixture.sell(facts)
    const [, answer] = await Promise.all([rejected(facts), fixture.refund(facts.registrationId)])
    expect([200, 409]).toContain(answer.status)
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    const marker = purchase()
    await fixture.sell(marker)
    await rejected(marker)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([40_000])
  })

  it('is refunded by another process if the first one crashed before the call', async () => {
    const facts = purchase()
    const { payment } = await fixture.sell(facts)
    // The state after a crash right after the commit, before this process was notified.
    await fixture.service.context.db.insert(refunds).values({
      id: randomUUIDv7(),
      paymentId: payment!.paymentId,
      purchaseId: facts.registrationId,
      amount: 40_000,
      currency: 'usd',
      reason: 'seat_gone',
      status: 'pending',
      nextTryAt: fixture.service.context.clock.now(),
      createdAt: fixture.service.context.clock.now(),
    })
    fixture.service.wakeAll()
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })
})

describe('a refund in the provider’s dashboard', () => {
  const eventTypes = ['refund.created', 'charge.refunded', 'refund.updated']

  it.each(eventTypes)('is recorded by %s alone, and once by all events together', async (only) => {
    const facts = purchase()
    const { payment } = await fixture.sell(facts)
    await fixture.webhooks({ dropped: true })
    const made = await fixture.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const about = (type: string) => fixture.event(type, type === 'charge.refunded' ? (made.charge as string) : made.id)
    expect((await fixture.deliver(about(only))).status).toBe(200)
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ reason: 'requested', amount: 40_000, refundedTotal: 40_000 })
    const answers = await Promise.all(
      [...eventTypes, ...eventTypes].toReversed().map((type) => fixture.deliver(about(type))),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await fixture.read(facts.registrationId)).refunds).toMatchObject([
      { stripeRefundId: made.id, status: 'succeeded', amount: 40_000 },
    ])
    const marker = purchase()
    await fixture.sell(marker)
    await fixture.refunded(marker.registrationId)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
  })

  it('is recorded even if its webhook arrives before that of its payment', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    const [session] = await fixture.sessions(facts.registrationId)
    const made = await fixture.stripe.refunds.create({ payment_intent: intentOf(session), amount: 100 })
    expect((await fixture.deliver(fixture.event('refund.created', made.id))).status).toBe(200)
    expect(await fixture.read(facts.registrationId)).toMatchObject({
      status: 'paid',
      refunds: [{ amount: 100, status: 'succeeded' }],
    })
  })
})

describe('a refund that is pending at the bank', () => {
  it('is published when it succeeds', async () => {
    const facts = purchase()
    await fixture.sell(facts, refundPending)
    expect(await fixture.refunded(facts.registrationId)).toMatchObject({ status: 'pending' })
    expect((await fixture.refund(facts.registrationId)).status).toBe(409)
    await fixture.simulator.deliveriesIdle()
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toEqual([])
    fixture.simulator.advanceClock(2 * 3600)
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ refundedTotal: 40_000 })
    expect((await fixture.read(facts.registrationId)).refunds).toMatchObject([{ status: 'succeeded' }])
  })

  it('is shown as failed if it fails later, and can be repeated', async () => {
    const facts = purchase()
    await fixture.sell(facts, refundFails)
    const [first] = [await fixture.refunded(facts.registrationId)]
    fixture.simulator.advanceClock(2 * 3600)
    await fixture.simulator.deliveriesIdle()
    await eventually(async () => (await fixture.read(facts.registrationId)).refunds[0]?.status === 'failed')
    const failed = await eventsOf(String(first.stripeRefundId))
    for (const event of [...failed, ...failed].toReversed())
      expect((await fixture.deliver({ ...event, id: `evt_${randomUUIDv7()}` })).status).toBe(200)
    expect((await fixture.read(facts.registrationId)).refunds).toMatchObject([{ status: 'failed' }])
    const published = await bed.bus.seen(refundFailed, of(facts.registrationId))
    expect(published.data).toMatchObject({
      refundId: first.refundId,
      amount: 40_000,
      reason: 'requested',
      purchase: facts,
    })
    expect((await fixture.refund(facts.registrationId)).status).toBe(200)
    await eventually(() => bed.bus.all(paymentRefunded, of(facts.registrationId)).length === 2)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId)).map(({ data }) => data.again)).toEqual([
      undefined,
      true,
    ])
    expect(bed.bus.all(refundFailed, of(facts.registrationId))).toHaveLength(1)
    expect(
      await fixture.service.context.db.select().from(refunds).where(eq(refunds.purchaseId, facts.registrationId)),
    ).toHaveLength(2)
  })
})

async function eventsOf(objectId: string): Promise<SimEvent[]> {
  const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
  return events.filter((event) => event.data.object.id === objectId)
}

/** A proxy before Stripe that responds with a saved server error to the first idempotency key of a refund. */
async function openFaultyDoor(providerUrl: string) {
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const key = request.headers['idempotency-key']
      if (request.method === 'POST' && request.url === '/v1/refunds' && typeof key === 'string') {
        const repeated = keys.has(key)
        keys.add(key)
        if (keys.size === 1) {
          const headers = { 'content-type': 'application/json', ...(repeated ? { 'idempotent-replayed': 'true' } : {}) }
          response.writeHead(500, headers).end(JSON.stringify({ error: { type: 'api_error', message: 'Sorry.' } }))
          return
        }
      }
      const headers = Object.entries(request.headers).filter(
        ([name]) => !['host', 'connection', 'content-length'].includes(name),
      )
      const answer = await fetch(`${providerUrl}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
