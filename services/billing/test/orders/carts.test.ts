import { randomUUIDv7 } from 'node:crypto'
import { checkoutExpired, closedCheckoutSchema, paymentCompleted } from '@robokids/contracts/billing'
import type { ErrorBody } from '@robokids/contracts/errors'
import { orderTerms, registrationTerms } from '@robokids/contracts/offers'
import {
  orderPaid,
  orderRefunded,
  orderSchema,
  robotSpider,
  type Order,
  type OrderItem,
} from '@robokids/contracts/shop'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { and, eq, inArray, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeForReplacement } from '../../src/checkout/close-for-replacement.ts'
import { createCheckout } from '../../src/checkout/create-checkout.ts'
import { placeOrder } from '../../src/orders/place-order.ts'
import { reconcile } from '../../src/webhooks/reconcile.ts'
import { runRefunds } from '../../src/refunds/run-refunds.ts'
import { checkoutAttempts, orders, payments, refunds } from '../../src/schema.ts'
import { KillableContext } from '../killable-context.ts'
import {
  adminHeaders,
  browserId,
  cards,
  codeOf,
  neverAborts,
  purchase,
  sessionIdOf,
  BillingFixture,
  type Answer,
} from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture

beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
  await fixture.setPrice(robotSpider, 30_000)
  await fixture.setPrice('class:basic', 40_000)
})
afterAll(async () => {
  await fixture.close()
})

const spiders = (quantity = 1): OrderItem[] => [{ sku: robotSpider, quantity }]
const of = (orderId: string) => (data: { orderId: string }) => data.orderId === orderId
const ofRegistration = (id: string) => (data: { registrationId: string }) => data.registrationId === id

const ask = (body: { orderId: string; items?: OrderItem[]; replaces?: string; agreed?: unknown }): Promise<Answer> =>
  fixture.call('POST', '/orders', { items: spiders(), ...body })

function read(answer: Answer): Order {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return orderSchema.parse(answer.body)
}
const placed = async (differences: { orderId?: string; items?: OrderItem[]; replaces?: string } = {}) =>
  read(await ask({ orderId: randomUUIDv7(), ...differences }))
const order = async (orderId: string) => read(await fixture.call('GET', `/orders/${orderId}`))
const payFor = ({ checkout }: Order, card?: string) => fixture.pay({ checkoutUrl: checkout.url }, card)

/** As if a process of the previous version had lost track of a session that is open at Stripe. */
async function hide(purchaseId: string): Promise<void> {
  await fixture.service.context.db
    .update(checkoutAttempts)
    .set({ status: 'failed' })
    .where(and(eq(checkoutAttempts.purchaseId, purchaseId), eq(checkoutAttempts.status, 'open')))
}

const providerIsAway = () =>
  fixture.fault({
    kind: 'error',
    method: 'POST',
    path: '/v1/checkout/sessions/*',
    times: 6,
    status: 500,
    when: 'before',
  })

describe('a cart that is changed after its checkout was opened', () => {
  it('is not sold again if it was paid before the webhook arrived: the paid order is named', async () => {
    const first = await placed()
    await fixture.webhooks({ paused: true })
    await payFor(first)
    const orderId = randomUUIDv7()
    const refused = await ask({ orderId, items: spiders(2), replaces: first.orderId })
    expect([refused.status, codeOf(refused), (refused.body as ErrorBody).reference]).toEqual([
      409,
      'already_paid',
      first.orderId,
    ])
    await fixture.release()
    expect(await order(first.orderId)).toMatchObject({ status: 'paid' })
    expect(codeOf(await fixture.call('GET', `/orders/${orderId}`))).toBe('order_not_found')
    expect(await fixture.sessions(orderId)).toEqual([])
    // The same for a page that still shows the cart as of two changes ago.
    const second = await ask({ orderId: randomUUIDv7(), items: spiders(3), replaces: first.orderId })
    expect((second.body as ErrorBody).reference).toBe(first.orderId)
  })

  it('is not sold again while it is being paid', async () => {
    const first = await placed()
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ status: 'processing' })
      .where(eq(checkoutAttempts.purchaseId, first.orderId))
    const refused = await ask({ orderId: randomUUIDv7(), items: spiders(2), replaces: first.orderId })
    expect([refused.status, codeOf(refused), (refused.body as ErrorBody).reference]).toEqual([
      409,
      'already_paid',
      first.orderId,
    ])
  })

  it('keeps its checkout during an outage of Stripe, and is sold as changed afterwards', async () => {
    const first = await placed()
    await providerIsAway()
    const changed = { orderId: randomUUIDv7(), items: spiders(2), replaces: first.orderId }
    const refused = await ask(changed)
    expect([refused.status, codeOf(refused)]).toEqual([503, 'upstream_unavailable'])
    expect(await order(first.orderId)).toEqual(first)
    expect(codeOf(await fixture.call('GET', `/orders/${changed.orderId}`))).toBe('order_not_found')
    await fixture.sim('DELETE', '/faults')
    const second = read(await ask(changed))
    expect((await payFor(first)).status).toBe('expired')
    expect((await payFor(second)).status).toBe('paid')
  })

  it('is validated by products, prices and id before any checkout is closed', async () => {
    const first = await placed()
    const facts = purchase()
    await fixture.checkout(facts)
    const unsold = await ask({
      orderId: randomUUIDv7(),
      items: [{ sku: 'product:ai-teddy-bear', quantity: 1 }],
      replaces: first.orderId,
    })
    const dearer = await ask({
      orderId: randomUUIDv7(),
      replaces: first.orderId,
      agreed: orderTerms([{ sku: robotSpider, quantity: 1, unitAmount: 29_999 }]),
    })
    const anothers = await ask({ orderId: (await placed()).orderId, items: spiders(5), replaces: first.orderId })
    const registrations = await ask({ orderId: facts.registrationId, replaces: first.orderId })
    expect([unsold, dearer, anothers, registrations].map(codeOf)).toEqual([
      'product_not_for_sale',
      'price_changed',
      'id_reused',
      'id_reused',
    ])
    expect(await order(first.orderId)).toEqual(first)
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'open' })
  })

  it('has one open checkout, whichever of its versions is requested last', async () => {
    const first = await placed()
    const second = await placed({ items: spiders(2), replaces: first.orderId })
    // Back, in another tab.
    const again = await placed({ orderId: first.orderId })
    expect(again.checkout.status).toBe('open')
    expect((await payFor(second)).status).toBe('expired')
    await Promise.all([
      ask({ orderId: first.orderId }),
      ask({ orderId: second.orderId, items: spiders(2), replaces: first.orderId }),
      ask({ orderId: randomUUIDv7(), items: spiders(3), replaces: second.orderId }),
    ])
    const { data } = await fixture.stripe.checkout.sessions.list({ status: 'open', limit: 100 })
    const ids = [first.orderId, second.orderId]
    const rows = await fixture.service.context.db
      .select({ id: orders.id })
      .from(orders)
      .where(inArray(orders.cartId, ids))
    const ofCart = new Set([...ids, ...rows.map(({ id }) => id)])
    expect(data.filter(({ client_reference_id: id }) => ofCart.has(id ?? '')).length).toBeLessThanOrEqual(1)
  })

  it('has one open checkout even if a later version arrives before an earlier one', async () => {
    const [early, late] = [randomUUIDv7(), randomUUIDv7()]
    const second = await placed({ orderId: late, items: spiders(2), replaces: early })
    await placed({ orderId: early })
    expect((await payFor(second)).status).toBe('expired')
  })

  it('can be sold again after a full refund', async () => {
    const first = await placed()
    await payFor(first)
    await bed.bus.seen(orderPaid, of(first.orderId))
    await fixture.refunded(first.orderId)
    await bed.bus.seen(orderRefunded, of(first.orderId))
    const second = await placed({ items: spiders(2), replaces: first.orderId })
    await payFor(second)
    await bed.bus.seen(orderPaid, of(second.orderId))
    expect(await order(second.orderId)).toMatchObject({ status: 'paid' })
  })
})

describe('two paid orders of one cart', () => {
  it('keep the first payment and refund the second once as a duplicate', async () => {
    const first = await placed()
    await hide(first.orderId)
    const second = await placed({ items: spiders(2), replaces: first.orderId })
    await payFor(second)
    await bed.bus.seen(orderPaid, of(second.orderId))
    expect((await payFor(first)).status).toBe('paid')
    const refunded = await bed.bus.seen(orderRefunded, of(first.orderId))
    expect(refunded.data).toMatchObject({ reason: 'duplicate', amount: 30_000, whole: true })
    await fixture.simulator.deliveriesIdle()
    await reconcile(fixture.service.context, neverAborts)
    expect(bed.bus.all(orderRefunded, of(first.orderId))).toHaveLength(1)
    expect(bed.bus.all(orderPaid, of(first.orderId))).toEqual([])
    expect(await order(second.orderId)).toMatchObject({ status: 'paid', refunds: [] })
    expect(await order(first.orderId)).toMatchObject({
      status: 'unpaid',
      checkout: { status: 'failed', lastDecline: expect.stringContaining('already paid') },
    })
    // Its own page cannot buy it again either.
    const again = await ask({ orderId: first.orderId })
    expect([codeOf(again), (again.body as ErrorBody).reference]).toEqual(['already_paid', second.orderId])
  })

  it('are found by reconciliation if a process of the previous version accepted both', async () => {
    const [first, second] = [await placed(), await placed({ items: spiders(2) })]
    for (const one of [first, second]) {
      await payFor(one)
      await bed.bus.seen(orderPaid, of(one.orderId))
    }
    const { db } = fixture.service.context
    await db.update(orders).set({ cartId: first.orderId }).where(eq(orders.id, second.orderId))
    await Promise.all([
      reconcile(fixture.service.context, neverAborts),
      reconcile((await fixture.startSecondProcess()).context, neverAborts),
    ])
    const refunded = await bed.bus.seen(orderRefunded, of(second.orderId))
    expect(refunded.data).toMatchObject({ reason: 'duplicate', amount: 60_000, whole: true })
    await reconcile(fixture.service.context, neverAborts)
    expect(bed.bus.all(orderRefunded, of(second.orderId))).toHaveLength(1)
    expect(await order(first.orderId)).toMatchObject({ status: 'paid', refunds: [] })
    expect(await order(second.orderId)).toMatchObject({ status: 'refunded' })
  })
})

describe('an id', () => {
  it('of an order is rejected for a registration’s checkout, and vice versa', async () => {
    const made = await placed()
    const answer = await fixture.call('POST', '/checkouts', { purchase: purchase({ registrationId: made.orderId }) })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'id_reused'])
    expect(await order(made.orderId)).toEqual(made)

    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    const other = await ask({ orderId: facts.registrationId })
    expect([other.status, codeOf(other)]).toEqual([409, 'id_reused'])
    expect(await fixture.read(facts.registrationId)).toEqual(checkout)
    // Also if both are paid.
    await fixture.pay(checkout)
    await bed.bus.seen(paymentCompleted, ofRegistration(facts.registrationId))
    expect(codeOf(await ask({ orderId: facts.registrationId }))).toBe('id_reused')
  })

  it('belongs to only one of a registration and an order that use it concurrently', async () => {
    const id = randomUUIDv7()
    const answers = await Promise.all([
      fixture.call('POST', '/checkouts', { purchase: purchase({ registrationId: id }) }),
      ask({ orderId: id }),
      fixture.call('POST', '/checkouts', { purchase: purchase({ registrationId: id }) }),
      ask({ orderId: id }),
    ])
    const [registered, ordered] = [answers.filter((_, index) => index % 2 === 0), answers.filter((_, i) => i % 2 === 1)]
    const outcomes = [registered, ordered].map((ones) => ones.map(({ status }) => status).join())
    expect(outcomes.toSorted((one, other) => one.localeCompare(other))).toEqual(['200,200', '409,409'])
    expect(await fixture.sessions(id)).toHaveLength(1)
  })
})

describe('the agreed terms', () => {
  it('are required for an order: otherwise the error contains the current offer, which is accepted', async () => {
    const agreed = (unitAmount: number) => orderTerms([{ sku: robotSpider, quantity: 1, unitAmount }])
    const orderId = randomUUIDv7()
    const first = read(await ask({ orderId, agreed: agreed(30_000) }))
    await fixture.setPrice(robotSpider, 32_000)
    // A request without agreed terms keeps the open checkout.
    expect(read(await ask({ orderId }))).toEqual(first)
    const refused = await ask({ orderId, agreed: agreed(30_000) })
    const { code, agreement } = refused.body as ErrorBody
    expect([refused.status, code, agreement?.terms]).toEqual([409, 'price_changed', agreed(32_000)])
    expect(await order(orderId)).toEqual(first)
    const second = read(await ask({ orderId, agreed: agreement?.terms }))
    expect(second).toMatchObject({ amount: 32_000, checkout: { status: 'open' } })
    expect((await payFor(first)).status).toBe('expired')
    expect(read(await ask({ orderId, agreed: agreed(32_000) }))).toEqual(second)
    const [attempt] = await fixture.service.context.db
      .select()
      .from(checkoutAttempts)
      .where(and(eq(checkoutAttempts.purchaseId, orderId), eq(checkoutAttempts.status, 'open')))
    expect(attempt?.agreement).toEqual(agreement)
    await payFor(second)
    expect((await bed.bus.seen(orderPaid, of(orderId))).data.amount).toBe(32_000)
    expect(read(await ask({ orderId, agreed: agreed(30_000) }))).toMatchObject({ status: 'paid', amount: 32_000 })
  })

  it('are required for a class: a checkout at another price is replaced, and the hold stays', async () => {
    const facts = purchase({ startDate: '2031-01-10', children: [{ childName: 'Ivo', childAge: 8 }] })
    const agreed = (unitAmount: number, siblingJoinsFree = false) =>
      registrationTerms({
        classType: 'basic',
        startDate: facts.startDate,
        children: 1,
        siblingJoinsFree,
        unitAmount,
      })
    const checkouts = (terms?: unknown) => fixture.call('POST', '/checkouts', { purchase: facts, agreed: terms })
    expect((await checkouts(agreed(40_000))).status).toBe(200)
    const first = await fixture.read(facts.registrationId)
    await fixture.setPrice('class:basic', 42_000)
    expect((await checkouts()).body).toEqual(first)
    const refused = await checkouts(agreed(40_000))
    const { code, agreement } = refused.body as ErrorBody
    expect([refused.status, code, agreement?.terms]).toEqual([409, 'price_changed', agreed(42_000)])
    expect(codeOf(await checkouts({ ...agreed(42_000), date: '2031-01-11' }))).toBe('price_changed')
    const second = await checkouts(agreement?.terms)
    expect(second).toMatchObject({ status: 200, body: { amount: 42_000, status: 'open' } })
    expect((await fixture.pay(first)).status).toBe('expired')
    const expired = await bed.bus.seen(checkoutExpired, ofRegistration(facts.registrationId))
    expect(expired.data).toMatchObject({ attemptId: first.attemptId, replaced: true })
    expect((await fixture.pay(await fixture.read(facts.registrationId))).status).toBe('paid')
  })

  it('are sent to Stripe before anything changes', async () => {
    const facts = purchase()
    const first = await fixture.checkout(facts)
    await fixture.setPrice('class:basic', 42_000)
    await providerIsAway()
    const { classType, startDate } = facts
    const agreed = registrationTerms({ classType, startDate, children: 1, siblingJoinsFree: false, unitAmount: 42_000 })
    const answer = await fixture.call('POST', '/checkouts', { purchase: facts, agreed })
    expect(answer.status).toBe(503)
    expect(await fixture.read(facts.registrationId)).toEqual(first)
  })
})

describe('POST /checkouts/:registrationId/close', () => {
  const close = async (id: string) => {
    const answer = await fixture.call('POST', `/checkouts/${id}/close`)
    return answer.status === 200 ? closedCheckoutSchema.parse(answer.body).outcome : codeOf(answer)
  }

  it('closes the open checkout once, without ending the hold', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    expect(await close(facts.registrationId)).toBe('closed')
    expect((await fixture.pay(checkout)).status).toBe('expired')
    expect(await Promise.all([close(facts.registrationId), close(facts.registrationId)])).toEqual(['closed', 'closed'])
    await fixture.simulator.deliveriesIdle()
    await bed.bus.seen(checkoutExpired, ofRegistration(facts.registrationId))
    expect(bed.bus.all(checkoutExpired, ofRegistration(facts.registrationId)).map(({ data }) => data)).toEqual([
      { attemptId: checkout.attemptId, registrationId: facts.registrationId, replaced: true },
    ])
  })

  it('marks the event as replaced even if the webhook is handled before the response', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.fault({ kind: 'reset', method: 'POST', path: '/v1/checkout/sessions/*', times: 3, when: 'after' })
    const outcome = close(facts.registrationId)
    const { data } = await bed.bus.seen(checkoutExpired, ofRegistration(facts.registrationId))
    expect(data).toMatchObject({ attemptId: checkout.attemptId, replaced: true })
    expect(['closed', 'upstream_unavailable']).toContain(await outcome)
    expect(await close(facts.registrationId)).toBe('closed')
  })

  it('records a payment fetched from Stripe and closes nothing', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    expect(await close(facts.registrationId)).toBe('paid')
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'paid' })
    await bed.bus.seen(paymentCompleted, ofRegistration(facts.registrationId))
  })

  it('answers 503 during an outage of Stripe without any change', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await providerIsAway()
    expect(await close(facts.registrationId)).toBe('upstream_unavailable')
    expect(await fixture.read(facts.registrationId)).toEqual(checkout)
    await fixture.sim('DELETE', '/faults')
    expect((await fixture.pay(checkout)).status).toBe('paid')
    expect(await close(facts.registrationId)).toBe('paid')
  })

  it('ignores ids of other purchases and ended checkouts', async () => {
    expect(await close(randomUUIDv7())).toBe('none')
    const made = await placed()
    expect(await close(made.orderId)).toBe('none')
    expect(await order(made.orderId)).toEqual(made)
    expect((await fixture.call('POST', '/checkouts/x/close')).status).toBe(400)
    const facts = purchase()
    await fixture.sell(facts)
    await fixture.refunded(facts.registrationId)
    await eventually(async () => (await fixture.read(facts.registrationId)).payment?.state === 'refunded')
    expect(await close(facts.registrationId)).toBe('closed')
  })
})

/** Actions on the versions of one cart, which are identified by their index. */
type Act =
  | { do: 'send'; version: number; replaces: number; killedAfter: number | null }
  | { do: 'send two'; versions: [number, number] }
  | { do: 'pay'; version: number }
  | { do: 'pay all' }
  | { do: 'expire'; version: number }
  | { do: 'lose sight'; version: number }
  | { do: 'deliver'; share: number; copies: number }

const versions = 3
const version = fc.nat(versions - 1)
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        version,
        replaces: version,
        killedAfter: fc.option(fc.integer({ min: 0, max: 40 })),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('send two' as const), versions: fc.tuple(version, version) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pay' as const), version }) },
    { weight: 2, arbitrary: fc.constant({ do: 'pay all' as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const), version }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('lose sight' as const), version }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('deliver' as const),
        share: fc.constantFrom(0.5, 1),
        copies: fc.integer({ min: 1, max: 2 }),
      }),
    },
  ),
  { minLength: 4, maxLength: 12 },
)

const send = (index: number) => ({ do: 'send', version: index, replaces: 0, killedAfter: null }) as const
/** Runs in which two or three checkouts are paid, as a process of the previous version allowed. */
const twice: Act[][] = [
  [send(0), { do: 'lose sight', version: 0 }, send(1), { do: 'pay all' }],
  [
    send(0),
    { do: 'lose sight', version: 0 },
    send(1),
    { do: 'lose sight', version: 1 },
    send(2),
    { do: 'pay all' },
    { do: 'deliver', share: 1, copies: 2 },
  ],
]

describe('events in any order, with processes killed between any two steps', { timeout: 300_000 }, () => {
  it('pay a cart once, refund any other payment once, and publish each once', async () => {
    const { context } = fixture.service
    let doubles = 0
    for (const run of [...twice, ...fc.sample(acts, 25)]) {
      await fixture.webhooks({ dropped: true })
      const ids: string[] = Array.from({ length: versions }, () => randomUUIDv7())
      const id = (index: number) => ids[index] ?? ''
      const request = (index: number, replaces = index) => ({
        orderId: id(index),
        items: spiders(index + 1),
        ...(replaces === index ? {} : { replaces: id(replaces) }),
      })
      const sent = new Set<number>()
      const send = async (index: number, replaces: number) => {
        // A browser names its first order; other clients name any existing order.
        const [first = index] = sent
        const isThere = (await context.db.$count(orders, eq(orders.id, id(replaces)))) > 0
        const body = request(index, isThere ? replaces : first)
        sent.add(index)
        return body
      }
      const sessionsOf = async (index: number) =>
        (await fixture.sessions(id(index))).filter(({ status }) => status === 'open').map((session) => session.id)
      const eventsOfCart = async () => {
        const { events } = (await fixture.sim('GET', '/events')) as {
          events: { data: { object: { metadata?: Record<string, string> } } }[]
        }
        return events.filter(({ data }) => ids.includes(data.object.metadata?.['orderId'] ?? ''))
      }
      for (const act of run) {
        if (act.do === 'send') {
          const body = await send(act.version, act.replaces)
          if (act.killedAfter === null) {
            expect([200, 409]).toContain((await ask(body)).status)
          } else {
            const killable = await KillableContext.create(fixture, act.killedAfter)
            await placeOrder(killable.context, { ...body, browserId }).catch(() => {})
            await killable.end()
          }
        } else if (act.do === 'send two') {
          const bodies = [await send(act.versions[0], act.versions[0]), await send(act.versions[1], act.versions[0])]
          for (const { status } of await Promise.all(bodies.map((body) => ask(body))))
            expect([200, 409, 503]).toContain(status)
        } else if (act.do === 'pay' || act.do === 'pay all') {
          for (const index of act.do === 'pay' ? [act.version] : ids.keys())
            for (const session of await sessionsOf(index))
              await fixture.sim('POST', `/checkout/${session}/pay`, { card: cards.good })
        } else if (act.do === 'expire') {
          for (const session of await sessionsOf(act.version)) await fixture.sim('POST', `/checkout/${session}/expire`)
        } else if (act.do === 'lose sight') await hide(id(act.version))
        else {
          const published = await eventsOfCart()
          const some = published.filter((_, index) => (index % 10) / 10 < act.share).toReversed()
          for (let copy = 0; copy < act.copies; copy++)
            for (const event of some) expect((await fixture.deliver(event)).status).toBe(200)
        }
      }
      await context.db.execute(sql`update checkout_attempts set checked_at = checked_at - interval '2 hours'`)
      await reconcile(context, neverAborts)
      await runRefunds(context, neverAborts)

      const charged = (await Promise.all(ids.map((one) => fixture.sessions(one))))
        .flat()
        .filter(({ payment_status }) => payment_status === 'paid')
      const accepted = await context.db
        .select()
        .from(payments)
        .where(and(inArray(payments.purchaseId, ids), eq(payments.outcome, 'accepted')))
      const back = await context.db.select().from(refunds).where(inArray(refunds.purchaseId, ids))
      const story = JSON.stringify(run)
      if (charged.length > 1) doubles++
      expect([story, accepted.length]).toEqual([story, Math.min(1, charged.length)])
      const sum = (amounts: number[]) => amounts.reduce((all, amount) => all + amount, 0)
      expect([
        story,
        sum(charged.map(({ amount_total }) => amount_total ?? 0)) - sum(back.map(({ amount }) => amount)),
      ]).toEqual([story, sum(accepted.map(({ amount }) => amount))])
      expect(back.every(({ reason }) => reason === 'duplicate')).toBe(true)
      const ofCart = ({ orderId }: { orderId: string }) => ids.includes(orderId)
      await eventually(
        () =>
          bed.bus.all(orderPaid, ofCart).length === accepted.length &&
          bed.bus.all(orderRefunded, ofCart).length === charged.length - accepted.length,
      )
    }
    expect(doubles).toBeGreaterThan(0)
    const books = await fixture.call('POST', '/admin/reconcile', undefined, adminHeaders)
    expect(books.body).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  })

  it('close a replaced registration’s checkout at Stripe, or record its payment', async () => {
    const flow = fc.record({
      before: fc.constantFrom('open', 'paid', 'expired', 'notified'),
      killedAfter: fc.integer({ min: 0, max: 24 }),
      reopened: fc.boolean(),
    })
    for (const { before, killedAfter, reopened } of fc.sample(flow, 40)) {
      await fixture.webhooks({ dropped: before !== 'notified' })
      const facts = purchase()
      const { registrationId } = facts
      const checkout = await fixture.checkout(facts)
      if (before === 'paid') await fixture.pay(checkout)
      if (before === 'expired') await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/expire`)
      const killable = await KillableContext.create(fixture, killedAfter)
      await closeForReplacement(killable.context, registrationId).catch(() => {})
      if (reopened) await createCheckout(killable.context, { purchase: facts }).catch(() => {})
      await killable.end()
      const answer = await fixture.call('POST', `/checkouts/${registrationId}/close`)
      const paid = (await fixture.sessions(registrationId)).filter(({ payment_status }) => payment_status === 'paid')
      expect([before, answer]).toEqual([
        before,
        { status: 200, body: { outcome: paid.length > 0 ? 'paid' : 'closed' } },
      ])
      for (const session of await fixture.sessions(registrationId)) expect(session.status).not.toBe('open')
      await fixture.simulator.deliveriesIdle()
      const published = bed.bus.all(checkoutExpired, ofRegistration(registrationId))
      expect(new Set(published.map(({ data }) => data.attemptId)).size).toBe(published.length)
    }
  })
})
