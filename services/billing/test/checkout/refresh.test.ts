import { createServer, request } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutSchema,
  type Checkout,
  membershipCheckoutSchema,
  membershipOutcomeSchema,
  paymentCompleted,
} from '@robokids/contracts/billing'
import { robotSpider } from '@robokids/contracts/products'
import { orderSchema } from '@robokids/contracts/shop'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { purchase, sessionIdOf, Till } from '../till.ts'

let bed: TestBed
let till: Till
/** The sessions that the provider was asked about, one entry for each question. */
const asked: string[] = []
/** What the provider's answers about sessions wait for; none where there is nothing. */
let isSlow: Promise<void> | undefined
/** Between billing and the provider. */
const wire = createServer((incoming, response) => {
  const session = /^\/v1\/checkout\/sessions\/(cs_\w+)/.exec(incoming.url ?? '')?.[1]
  const isAboutSession = incoming.method === 'GET' && session !== undefined
  if (isAboutSession) asked.push(session)
  const { method, headers, url } = incoming
  const onward = request(`${till.simulator.url}${url}`, { method, headers }, (answer) => {
    const pass = () => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))
    if (isAboutSession && isSlow) void isSlow.then(pass)
    else pass()
  })
  onward.on('error', () => response.destroy())
  incoming.pipe(onward)
})

beforeAll(async () => {
  wire.listen(0, '127.0.0.1')
  await once(wire, 'listening')
  bed = await testBed()
  const { port } = wire.address() as AddressInfo
  till = await Till.open(bed, { env: { STRIPE_API_URL: `http://127.0.0.1:${port}` } })
  await till.webhooks({ dropped: true })
})
afterEach(() => till.sim('DELETE', '/faults'))
afterAll(async () => {
  await till.close()
  wire.close()
  wire.closeAllConnections()
})

const timesAsked = (checkout: { checkoutUrl: string | null }) =>
  asked.filter((session) => session === sessionIdOf(checkout)).length

/** As if it had been made, and been asked about last, so many seconds ago. */
async function backdate(registrationId: string, madeSecondsAgo: number, askedSecondsAgo: number): Promise<void> {
  await till.service.context.db.execute(sql`
    update checkout_attempts
    set created_at = now() - ${madeSecondsAgo} * interval '1 second',
        checked_at = now() - ${askedSecondsAgo} * interval '1 second'
    where registration_id = ${registrationId}`)
}

const refresh = (registrationId: string, query = '', url?: string) =>
  till.call('POST', `/checkouts/${registrationId}/refresh${query}`, undefined, {}, url)

/** It was made when the test says. */
const sameAs = (checkout: Checkout) => ({ ...checkout, createdAt: expect.any(String) as string })

describe('a checkout that is refreshed', () => {
  it('tells of a payment whose webhook has not come', async () => {
    const facts = purchase()
    await till.pay(await till.checkout(facts))
    expect((await till.read(facts.registrationId)).status).toBe('open')
    await till.longSinceAsked(facts.registrationId)
    const answer = await refresh(facts.registrationId)
    expect(answer.body).toMatchObject({ status: 'paid', checkoutUrl: null, payment: { amount: 40_000 } })
    const completed = await bed.bus.seen(paymentCompleted, (data) => data.registrationId === facts.registrationId)
    expect(completed.data).toMatchObject({ amount: 40_000, currency: 'usd' })
  })

  it('is so as well by the name that a BFF of the version before calls it', async () => {
    const facts = purchase()
    await till.pay(await till.checkout(facts))
    await till.longSinceAsked(facts.registrationId)
    const answer = await till.call('POST', `/checkouts/${facts.registrationId}/sync`)
    expect(answer.body).toMatchObject({ status: 'paid' })
  })

  it.each([
    // Just made: nobody can have paid yet.
    { made: 0, last: 0, due: false },
    { made: 3, last: 3, due: true },
    { made: 30, last: 10, due: false },
    { made: 9, last: 5, due: true },
    { made: 60, last: 25, due: false },
    { made: 60, last: 35, due: true },
    { made: 1_800, last: 55, due: false },
    { made: 1_800, last: 65, due: true },
  ])(
    '$made s after it was made and $last s after the last time asks the provider: $due',
    async ({ made, last, due }) => {
      const facts = purchase()
      const checkout = await till.checkout(facts)
      await backdate(facts.registrationId, made, last)
      const answers = [await refresh(facts.registrationId), await refresh(facts.registrationId)]
      for (const { body } of answers) expect(checkoutSchema.parse(body)).toEqual(sameAs(checkout))
      expect(timesAsked(checkout)).toBe(due ? 1 : 0)
    },
  )

  it('by a parent who has just come back asks at once, though pages that were open before have made it wait', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await backdate(facts.registrationId, 1_800, 5)
    await refresh(facts.registrationId)
    expect(timesAsked(checkout)).toBe(0)
    await till.pay(checkout)
    expect((await refresh(facts.registrationId, '?returned=true')).body).toMatchObject({ status: 'paid' })
  })

  it('from many pages at two processes at the same moment asks the provider once', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    const second = await till.another()
    // Not so long that reconciliation, in either process, would ask as well.
    await backdate(facts.registrationId, 10, 5)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        refresh(facts.registrationId, '?returned=true', n % 2 === 0 ? second.url : till.service.url),
      ),
    )
    for (const { status, body } of answers) expect([status, body]).toEqual([200, sameAs(checkout)])
    expect(timesAsked(checkout)).toBe(1)
  })

  it('shows what is known while the provider cannot be asked', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.fault({ kind: 'error', method: 'GET', path: '/v1/checkout/sessions/*', times: 10, status: 500 })
    await till.longSinceAsked(facts.registrationId)
    expect(await refresh(facts.registrationId)).toEqual({ status: 200, body: checkout })
    expect(timesAsked(checkout)).toBeGreaterThan(0)
  })

  it('asks the provider no more than 16 questions at once, and others are shown what is known', async () => {
    const { promise, resolve: answerNow } = Promise.withResolvers<void>()
    const checkouts = await Promise.all(Array.from({ length: 20 }, () => till.checkout(purchase())))
    await Promise.all(checkouts.map(({ registrationId }) => backdate(registrationId, 10, 5)))
    isSlow = promise
    const known = async ({ registrationId }: Checkout) => (await refresh(registrationId, '?returned=true')).body
    try {
      const answers = checkouts.map(known)
      const first = await Promise.race(answers)
      expect(first).toMatchObject({ status: 'open' })
      const questions = () => checkouts.reduce((sum, checkout) => sum + timesAsked(checkout), 0)
      await eventually(() => questions() === 16)
      answerNow()
      for (const body of await Promise.all(answers)) expect(body).toMatchObject({ status: 'open' })
      expect(questions()).toBe(16)
      // Whoever asks a moment later is next.
      const left = checkouts.filter((checkout) => timesAsked(checkout) === 0)
      await Promise.all(left.map(known))
      expect(questions()).toBe(20)
    } finally {
      isSlow = undefined
      answerNow()
    }
  })

  it('asks nothing once it is settled', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.pay(checkout)
    await till.refresh(`/checkouts/${facts.registrationId}`)
    const before = timesAsked(checkout)
    await till.refresh(`/checkouts/${facts.registrationId}`)
    expect([before, timesAsked(checkout)]).toEqual([1, 1])
  })
})

describe('an order and a membership that are refreshed', () => {
  it('tell of a payment whose webhook has not come, and ask the provider once', async () => {
    const orderId = randomUUIDv7()
    const items = [{ sku: robotSpider, quantity: 1 }]
    const order = orderSchema.parse((await till.call('POST', '/orders', { orderId, items })).body)
    const wish = { email: `${orderId}@example.com`, plan: 'monthly', classDate: '2027-01-08' }
    const membership = membershipCheckoutSchema.parse((await till.call('POST', '/membership-checkouts', wish)).body)
    const checkouts = [{ checkoutUrl: order.checkout.url }, membership]
    for (const checkout of checkouts) await till.pay(checkout)
    const paths = [`/orders/${orderId}`, `/membership-checkouts/${membership.attemptId}`]
    await till.longSinceAsked(orderId)
    await till.longSinceAsked(membership.attemptId)
    for (const path of paths) {
      await Promise.all(Array.from({ length: 5 }, () => till.call('POST', `${path}/refresh`)))
    }
    expect(checkouts.map(timesAsked)).toEqual([1, 1])
    expect(orderSchema.parse((await till.call('GET', paths[0] ?? '')).body).status).toBe('paid')
    const outcome = membershipOutcomeSchema.parse((await till.call('GET', paths[1] ?? '')).body)
    expect(['processing', 'confirmed']).toContain(outcome.status)
  })
})
