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
import { purchase, sessionIdOf, BillingFixture } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
/** The ids of fetched sessions, one entry per call. */
const asked: string[] = []
/** Delays the responses about sessions until it resolves. */
let isSlow: Promise<void> | undefined
/** A proxy between billing and Stripe. */
const wire = createServer((incoming, response) => {
  const session = /^\/v1\/checkout\/sessions\/(cs_\w+)/.exec(incoming.url ?? '')?.[1]
  const isAboutSession = incoming.method === 'GET' && session !== undefined
  if (isAboutSession) asked.push(session)
  const { method, headers, url } = incoming
  const onward = request(`${fixture.simulator.url}${url}`, { method, headers }, (answer) => {
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
  fixture = await BillingFixture.start(bed, { env: { STRIPE_API_URL: `http://127.0.0.1:${port}` } })
  await fixture.webhooks({ dropped: true })
})
afterEach(() => fixture.sim('DELETE', '/faults'))
afterAll(async () => {
  await fixture.close()
  wire.close()
  wire.closeAllConnections()
})

const timesAsked = (checkout: { checkoutUrl: string | null }) =>
  asked.filter((session) => session === sessionIdOf(checkout)).length

/** Backdates the creation and the last fetch of an attempt. */
async function backdate(registrationId: string, madeSecondsAgo: number, askedSecondsAgo: number): Promise<void> {
  await fixture.service.context.db.execute(sql`
    update checkout_attempts
    set created_at = now() - ${madeSecondsAgo} * interval '1 second',
        checked_at = now() - ${askedSecondsAgo} * interval '1 second'
    where registration_id = ${registrationId}`)
}

const refresh = (registrationId: string, query = '', url?: string) =>
  fixture.call('POST', `/checkouts/${registrationId}/refresh${query}`, undefined, {}, url)

/** Creates a checkout with a backdated attempt. */
const sameAs = (checkout: Checkout) => ({ ...checkout, createdAt: expect.any(String) as string })

describe('the refresh of a checkout', () => {
  it('records a payment whose webhook has not arrived', async () => {
    const facts = purchase()
    await fixture.pay(await fixture.checkout(facts))
    expect((await fixture.read(facts.registrationId)).status).toBe('open')
    await fixture.expireRefreshBackoff(facts.registrationId)
    const answer = await refresh(facts.registrationId)
    expect(answer.body).toMatchObject({ status: 'paid', checkoutUrl: null, payment: { amount: 40_000 } })
    const completed = await bed.bus.seen(paymentCompleted, (data) => data.registrationId === facts.registrationId)
    expect(completed.data).toMatchObject({ amount: 40_000, currency: 'usd' })
  })

  it('is available under the name used by a BFF of the previous version', async () => {
    const facts = purchase()
    await fixture.pay(await fixture.checkout(facts))
    await fixture.expireRefreshBackoff(facts.registrationId)
    const answer = await fixture.call('POST', `/checkouts/${facts.registrationId}/sync`)
    expect(answer.body).toMatchObject({ status: 'paid' })
  })

  it.each([
    // Just created: nobody can have paid yet.
    { made: 0, last: 0, due: false },
    { made: 3, last: 3, due: true },
    { made: 30, last: 10, due: false },
    { made: 9, last: 5, due: true },
    { made: 60, last: 25, due: false },
    { made: 60, last: 35, due: true },
    { made: 1_800, last: 55, due: false },
    { made: 1_800, last: 65, due: true },
  ])('fetches $made s after the creation and $last s after the last fetch: $due', async ({ made, last, due }) => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await backdate(facts.registrationId, made, last)
    const answers = [await refresh(facts.registrationId), await refresh(facts.registrationId)]
    for (const { body } of answers) expect(checkoutSchema.parse(body)).toEqual(sameAs(checkout))
    expect(timesAsked(checkout)).toBe(due ? 1 : 0)
  })

  it('fetches immediately for a returning parent, despite the backoff caused by open pages', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await backdate(facts.registrationId, 1_800, 5)
    await refresh(facts.registrationId)
    expect(timesAsked(checkout)).toBe(0)
    await fixture.pay(checkout)
    expect((await refresh(facts.registrationId, '?returned=true')).body).toMatchObject({ status: 'paid' })
  })

  it('fetches once for concurrent pages in two processes', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    const second = await fixture.startSecondProcess()
    // Not so long ago that reconciliation would fetch it as well, in either process.
    await backdate(facts.registrationId, 10, 5)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        refresh(facts.registrationId, '?returned=true', n % 2 === 0 ? second.url : fixture.service.url),
      ),
    )
    for (const { status, body } of answers) expect([status, body]).toEqual([200, sameAs(checkout)])
    expect(timesAsked(checkout)).toBe(1)
  })

  it('returns the recorded state during an outage of Stripe', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.fault({ kind: 'error', method: 'GET', path: '/v1/checkout/sessions/*', times: 10, status: 500 })
    await fixture.expireRefreshBackoff(facts.registrationId)
    expect(await refresh(facts.registrationId)).toEqual({ status: 200, body: checkout })
    expect(timesAsked(checkout)).toBeGreaterThan(0)
  })

  it('has at most 16 calls in flight, and returns the recorded state to others', async () => {
    const { promise, resolve: answerNow } = Promise.withResolvers<void>()
    const checkouts = await Promise.all(Array.from({ length: 20 }, () => fixture.checkout(purchase())))
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
      // A request after that gets through.
      const left = checkouts.filter((checkout) => timesAsked(checkout) === 0)
      await Promise.all(left.map(known))
      expect(questions()).toBe(20)
    } finally {
      isSlow = undefined
      answerNow()
    }
  })

  it('makes no call once the checkout is settled', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.pay(checkout)
    await fixture.refresh(`/checkouts/${facts.registrationId}`)
    const before = timesAsked(checkout)
    await fixture.refresh(`/checkouts/${facts.registrationId}`)
    expect([before, timesAsked(checkout)]).toEqual([1, 1])
  })
})

describe('the refresh of an order and a membership', () => {
  it('records a payment whose webhook has not arrived, with one call', async () => {
    const orderId = randomUUIDv7()
    const items = [{ sku: robotSpider, quantity: 1 }]
    const order = orderSchema.parse((await fixture.call('POST', '/orders', { orderId, items })).body)
    const membershipRequest = { email: `${orderId}@example.com`, plan: 'monthly', classDate: '2027-01-08' }
    const membership = membershipCheckoutSchema.parse(
      (await fixture.call('POST', '/membership-checkouts', membershipRequest)).body,
    )
    const checkouts = [{ checkoutUrl: order.checkout.url }, membership]
    for (const checkout of checkouts) await fixture.pay(checkout)
    const paths = [`/orders/${orderId}`, `/membership-checkouts/${membership.attemptId}`]
    await fixture.expireRefreshBackoff(orderId)
    await fixture.expireRefreshBackoff(membership.attemptId)
    for (const path of paths) {
      await Promise.all(Array.from({ length: 5 }, () => fixture.call('POST', `${path}/refresh`)))
    }
    expect(checkouts.map(timesAsked)).toEqual([1, 1])
    expect(orderSchema.parse((await fixture.call('GET', paths[0] ?? '')).body).status).toBe('paid')
    const outcome = membershipOutcomeSchema.parse((await fixture.call('GET', paths[1] ?? '')).body)
    expect(['processing', 'confirmed']).toContain(outcome.status)
  })
})
