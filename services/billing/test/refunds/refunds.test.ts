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
import { adminHeaders, codeOf, intentOf, messageOf, purchase, Till, type SimEvent } from '../till.ts'

let bed: TestBed
let till: Till

beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
  await till.webhooks({})
})
afterAll(async () => {
  await till.close()
})

const refundPending = '4000000000007726'
const refundFails = '4000000000005126'
const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

/** Refunds of a payment that the provider has made. */
async function madeOf(registrationId: string) {
  const { payment } = await till.read(registrationId)
  const listed = await till.stripe.refunds.list({ payment_intent: payment!.stripePaymentIntentId, limit: 100 })
  return listed.data
}

async function rejected(facts: RegistrationFacts, reason: 'class_full' | 'class_started' = 'class_full') {
  const { payment } = await till.read(facts.registrationId)
  const { paymentId, receiptNumber, amount, currency } = payment!
  return bed.bus.publish(registrationRejected, facts.registrationId, {
    ...facts,
    payment: { paymentId, receiptNumber, amount, currency },
    reason,
  })
}

describe('POST /refunds', () => {
  it('gives all of it back, once', async () => {
    const facts = purchase()
    await till.sell(facts)
    const refundId = randomUUIDv7()
    const answer = await till.refund(facts.registrationId, undefined, refundId)
    expect(answer).toMatchObject({
      status: 200,
      body: { refundId, amount: 40_000, currency: 'usd', reason: 'requested', status: 'succeeded' },
    })
    expect((await madeOf(facts.registrationId)).map(({ metadata }) => metadata)).toEqual([
      { refundId, registrationId: facts.registrationId },
    ])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    const { payment } = await till.read(facts.registrationId)
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
    expect(await till.refund(facts.registrationId, undefined, refundId)).toEqual(answer)
    await till.simulator.deliveriesIdle()
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
    expect(await till.read(facts.registrationId)).toMatchObject({
      status: 'paid',
      checkoutUrl: null,
      refunds: [refundSchema.parse(answer.body)],
    })
  })

  it('refuses more than was paid, nothing, less than nothing, and strangers', async () => {
    const facts = purchase()
    await till.sell(facts)
    const tooMuch = await till.refund(facts.registrationId, 40_001)
    expect([tooMuch.status, codeOf(tooMuch)]).toEqual([409, 'refund_not_possible'])
    expect(messageOf(tooMuch)).toBe(
      '$400.01 is more than can be refunded: $400.00 is left of the $400.00 that was paid.',
    )
    for (const amount of [0, -1]) {
      const answer = await till.refund(facts.registrationId, amount)
      expect([answer.status, codeOf(answer), messageOf(answer)]).toEqual([
        400,
        'validation_failed',
        'A refund is at least 1 cent.',
      ])
    }
    expect((await till.refund(facts.registrationId, 0.5)).status).toBe(400)
    const body = { registrationId: facts.registrationId, refundId: randomUUIDv7() }
    expect((await till.call('POST', '/refunds', body)).status).toBe(401)
    expect((await till.call('POST', '/refunds', body, { 'x-admin-secret': 'local-admin-not' })).status).toBe(401)
    const unpaid = await till.refund((await till.checkout(purchase())).registrationId)
    expect([unpaid.status, codeOf(unpaid)]).toEqual([404, 'payment_not_found'])
    expect(await madeOf(facts.registrationId)).toEqual([])
    expect(await till.read(facts.registrationId)).toMatchObject({ refunds: [] })
  })

  it('takes a receipt’s number in place of the registration', async () => {
    const facts = purchase()
    const { payment } = await till.sell(facts)
    const ask = (body: object) => till.call('POST', '/refunds', { refundId: randomUUIDv7(), ...body }, adminHeaders)
    const { receiptNumber } = payment!
    expect(await ask({ receiptNumber, amount: 100 })).toMatchObject({ status: 200, body: { amount: 100 } })
    expect((await till.read(facts.registrationId)).refunds).toMatchObject([{ amount: 100 }])
    expect((await ask({ receiptNumber: 'RK-999999' })).status).toBe(404)
    for (const body of [{}, { receiptNumber: 'x' }, { receiptNumber, registrationId: facts.registrationId }]) {
      expect((await ask(body)).status).toBe(400)
    }
  })

  it('makes exactly one of two full refunds at the same time', async () => {
    const facts = purchase()
    await till.sell(facts)
    const answers = await Promise.all([till.refund(facts.registrationId), till.refund(facts.registrationId)])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)!
    expect(messageOf(refused)).toBe('Nothing is left to refund: all of the $400.00 went back already.')
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([40_000])
  })

  it('makes one of the same refund sent many times at once', async () => {
    const facts = purchase()
    await till.sell(facts)
    const refundId = randomUUIDv7()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => till.refund(facts.registrationId, 10_000, refundId)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    await eventually(async () => (await till.read(facts.registrationId)).refunds[0]?.status === 'succeeded')
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([10_000])
    const other = await till.refund(facts.registrationId, 5_000, refundId)
    expect([other.status, codeOf(other)]).toEqual([409, 'id_reused'])
  })

  it('gives parts back until nothing is left, and tells the total each time', async () => {
    const facts = purchase()
    await till.sell(facts)
    await till.refunded(facts.registrationId, 15_000)
    const over = await till.refund(facts.registrationId, 25_001)
    expect(messageOf(over)).toBe('$250.01 is more than can be refunded: $250.00 is left of the $400.00 that was paid.')
    expect(await till.refunded(facts.registrationId)).toMatchObject({ amount: 25_000 })
    expect((await till.refund(facts.registrationId, 1)).status).toBe(409)
    await eventually(() => bed.bus.all(paymentRefunded, of(facts.registrationId)).length === 2)
    const told = bed.bus
      .all(paymentRefunded, of(facts.registrationId))
      .map(({ data }) => [data.amount, data.refundedTotal])
    expect(told).toEqual([
      [15_000, 15_000],
      [25_000, 40_000],
    ])
  })

  it('makes one refund where the connection breaks after the provider has made it', async () => {
    const facts = purchase()
    await till.sell(facts)
    await till.fault({ kind: 'reset', method: 'POST', path: '/v1/refunds', times: 1, when: 'after' })
    expect((await till.refund(facts.registrationId)).status).toBe(200)
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })

  it('finds the refund that a server error hides', async () => {
    const facts = purchase()
    await till.sell(facts)
    await till.webhooks({ dropped: true })
    await till.fault({ kind: 'error', method: 'POST', path: '/v1/refunds', times: 1, when: 'after', status: 500 })
    const answer = await till.refund(facts.registrationId)
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
  })

  it('makes the refund later where the provider is away', async () => {
    const facts = purchase()
    await till.sell(facts)
    // More than one request with its repetitions, since the job asks as well.
    await till.fault({ kind: 'error', method: 'POST', path: '/v1/refunds', times: 6, when: 'before', status: 503 })
    expect(await till.refund(facts.registrationId)).toMatchObject({
      status: 200,
      body: { status: 'pending', stripeRefundId: null },
    })
    await bed.bus.seen(paymentRefunded, of(facts.registrationId), 20_000)
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })

  it('asks under another key where all that the first one has kept is a server error', async () => {
    const behind = await Till.apart()
    const door = await openFaultyDoor(behind.simulator.url)
    const facts = purchase()
    await behind.sell(facts)
    await behind.service.stop()
    const again = await behind.another({ STRIPE_API_URL: door.url })
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

  it('says so where the money went back in the dashboard before billing heard of it', async () => {
    const facts = purchase()
    const { payment } = await till.sell(facts)
    await till.webhooks({ dropped: true })
    const made = await till.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const answer = await till.refund(facts.registrationId)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'refund_not_possible'])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ amount: 40_000, refundedTotal: 40_000, reason: 'requested' })
    const { refunds } = await till.read(facts.registrationId)
    expect(refunds.filter(({ status }) => status === 'succeeded')).toMatchObject([{ stripeRefundId: made.id }])
  })
})

describe('a rejected registration', () => {
  it('gets its payment back once, however often it is told', async () => {
    const facts = purchase()
    await till.sell(facts)
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
    await till.sell(marker)
    await rejected(marker)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    await till.simulator.deliveriesIdle()
    expect(await madeOf(facts.registrationId)).toMatchObject([{ amount: 40_000 }])
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
    expect(await till.read(facts.registrationId)).toMatchObject({
      refunds: [{ reason: 'seat_gone', status: 'succeeded' }],
    })
  })

  it('gets back what is left where a part went back already', async () => {
    const facts = purchase()
    await till.sell(facts)
    await till.refunded(facts.registrationId, 10_000)
    await rejected(facts)
    const refunded = await bed.bus.seen(
      paymentRefunded,
      (data) => data.registrationId === facts.registrationId && data.reason === 'seat_gone',
    )
    expect(refunded.data).toMatchObject({ amount: 30_000, refundedTotal: 40_000 })
  })

  it('and an administrator at the same moment give it back once', async () => {
    const facts = purchase()
    await till.sell(facts)
    const [, answer] = await Promise.all([rejected(facts), till.refund(facts.registrationId)])
    expect([200, 409]).toContain(answer.status)
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    const marker = purchase()
    await till.sell(marker)
    await rejected(marker)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    expect((await madeOf(facts.registrationId)).map(({ amount }) => amount)).toEqual([40_000])
  })

  it('is refunded by another process where the first one died before it asked', async () => {
    const facts = purchase()
    const { payment } = await till.sell(facts)
    // What a transaction left whose process died right after its commit: nobody has been woken.
    await till.service.context.db.insert(refunds).values({
      id: randomUUIDv7(),
      paymentId: payment!.paymentId,
      purchaseId: facts.registrationId,
      amount: 40_000,
      currency: 'usd',
      reason: 'seat_gone',
      status: 'pending',
      nextTryAt: till.service.context.clock.now(),
      createdAt: till.service.context.clock.now(),
    })
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(await madeOf(facts.registrationId)).toHaveLength(1)
  })
})

describe('a refund in the provider’s dashboard', () => {
  const notices = ['refund.created', 'charge.refunded', 'refund.updated']

  it.each(notices)('is recorded by %s alone, and once by all of them', async (only) => {
    const facts = purchase()
    const { payment } = await till.sell(facts)
    await till.webhooks({ dropped: true })
    const made = await till.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const about = (type: string) => till.event(type, type === 'charge.refunded' ? (made.charge as string) : made.id)
    expect((await till.deliver(about(only))).status).toBe(200)
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ reason: 'requested', amount: 40_000, refundedTotal: 40_000 })
    const answers = await Promise.all([...notices, ...notices].toReversed().map((type) => till.deliver(about(type))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await till.read(facts.registrationId)).refunds).toMatchObject([
      { stripeRefundId: made.id, status: 'succeeded', amount: 40_000 },
    ])
    const marker = purchase()
    await till.sell(marker)
    await till.refunded(marker.registrationId)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toHaveLength(1)
  })

  it('is recorded even where it is heard of before its payment', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    const [session] = await till.sessions(facts.registrationId)
    const made = await till.stripe.refunds.create({ payment_intent: intentOf(session), amount: 100 })
    expect((await till.deliver(till.event('refund.created', made.id))).status).toBe(200)
    expect(await till.read(facts.registrationId)).toMatchObject({
      status: 'paid',
      refunds: [{ amount: 100, status: 'succeeded' }],
    })
  })
})

describe('a refund that takes time', () => {
  it('is told of when it is through', async () => {
    const facts = purchase()
    await till.sell(facts, refundPending)
    expect(await till.refunded(facts.registrationId)).toMatchObject({ status: 'pending' })
    expect((await till.refund(facts.registrationId)).status).toBe(409)
    await till.simulator.deliveriesIdle()
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId))).toEqual([])
    till.simulator.advanceClock(2 * 3600)
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ refundedTotal: 40_000 })
    expect((await till.read(facts.registrationId)).refunds).toMatchObject([{ status: 'succeeded' }])
  })

  it('and fails after all is shown as failed, and can be made again', async () => {
    const facts = purchase()
    await till.sell(facts, refundFails)
    const [first] = [await till.refunded(facts.registrationId)]
    till.simulator.advanceClock(2 * 3600)
    await till.simulator.deliveriesIdle()
    await eventually(async () => (await till.read(facts.registrationId)).refunds[0]?.status === 'failed')
    const failed = await eventsOf(String(first.stripeRefundId))
    for (const event of [...failed, ...failed].toReversed())
      expect((await till.deliver({ ...event, id: `evt_${randomUUIDv7()}` })).status).toBe(200)
    expect((await till.read(facts.registrationId)).refunds).toMatchObject([{ status: 'failed' }])
    const told = await bed.bus.seen(refundFailed, of(facts.registrationId))
    expect(told.data).toMatchObject({ refundId: first.refundId, amount: 40_000, reason: 'requested', purchase: facts })
    expect((await till.refund(facts.registrationId)).status).toBe(200)
    await eventually(() => bed.bus.all(paymentRefunded, of(facts.registrationId)).length === 2)
    expect(bed.bus.all(paymentRefunded, of(facts.registrationId)).map(({ data }) => data.again)).toEqual([
      undefined,
      true,
    ])
    expect(bed.bus.all(refundFailed, of(facts.registrationId))).toHaveLength(1)
    expect(
      await till.service.context.db.select().from(refunds).where(eq(refunds.purchaseId, facts.registrationId)),
    ).toHaveLength(2)
  })
})

async function eventsOf(objectId: string): Promise<SimEvent[]> {
  const { events } = (await till.sim('GET', '/events')) as { events: SimEvent[] }
  return events.filter((event) => event.data.object.id === objectId)
}

/** Stands before the provider and answers a saved server error to the first idempotency key under which a refund is asked for. */
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
