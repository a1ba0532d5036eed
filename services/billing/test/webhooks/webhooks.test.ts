import { randomUUIDv7 } from 'node:crypto'
import { paymentCompleted, paymentFailed, paymentRefunded } from '@robokids/contracts/billing'
import { orderPaid, orderRefunded, orderSchema, robotSpider } from '@robokids/contracts/shop'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '../../src/webhooks/reconcile.ts'
import { readCheckouts } from '../../src/checkout/read-checkouts.ts'
import { idOf } from '../../src/stripe/client.ts'
import { checkoutAttempts, counters, payments, refunds, stripeEvents } from '../../src/schema.ts'
import {
  adminHeaders,
  deliveryOrders,
  cards,
  codeOf,
  intentOf,
  neverAborts,
  oldWebhookSecret,
  purchase,
  sessionIdOf,
  type SimEvent,
  BillingFixture,
  webhookSecret,
} from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture

beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed, { env: { STRIPE_WEBHOOK_SECRETS: `${webhookSecret},${oldWebhookSecret}` } })
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
})
afterAll(async () => {
  await fixture.close()
})

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId
const now = () => Math.floor(Temporal.Now.instant().epochMilliseconds / 1000)

/** The recorded state and published events of a purchase, without ids and times that differ between runs. */
async function stateOf(registrationId: string) {
  const { db } = fixture.service.context
  const [ofAnOrder] = await readCheckouts(db, [registrationId], 'order')
  const { status, lastDecline, amount, checkoutUrl, disputes } = ofAnOrder ?? (await fixture.read(registrationId))
  const ofOrder = ({ orderId }: { orderId: string }) => orderId === registrationId
  const paid = await db.select().from(payments).where(eq(payments.purchaseId, registrationId))
  const back = await db.select().from(refunds).where(eq(refunds.purchaseId, registrationId))
  return {
    status,
    lastDecline,
    amount,
    checkoutUrl,
    payments: paid.map((row) => [row.outcome, row.amount, row.receiptNumber !== null]),
    refunds: back.toSorted((a, b) => a.amount - b.amount).map((row) => [row.reason, row.amount, row.status]),
    disputes: disputes.map((dispute) => dispute.status),
    completed: bed.bus.all(paymentCompleted, of(registrationId)).length + bed.bus.all(orderPaid, ofOrder).length,
    refunded: bed.bus.all(paymentRefunded, of(registrationId)).length + bed.bus.all(orderRefunded, ofOrder).length,
  }
}

async function settled(registrationId: string) {
  const { db } = fixture.service.context
  await eventually(async () => {
    const {
      rows: [waiting],
    } = await db.execute<{ count: string }>(sql`select count(*) from outbox where published_at is null`)
    return Number(waiting?.count) === 0
  })
  return stateOf(registrationId)
}

interface Flow {
  isOrder?: true
  run(checkout: { checkoutUrl: string | null }, id: string): Promise<unknown>
  end: Record<string, unknown>
}

const untouched = {
  status: 'open',
  lastDecline: null,
  amount: 40_000,
  checkoutUrl: null,
  payments: [],
  refunds: [],
  disputes: [],
  completed: 0,
  refunded: 0,
}
const paid = { ...untouched, status: 'paid', payments: [['accepted', 40_000, true]], completed: 1 }
const orderIsPaid = { ...paid, amount: 30_000, payments: [['accepted', 30_000, true]] }

async function placeOrder(orderId: string): Promise<string | null> {
  const items = [{ sku: robotSpider, quantity: 1 }]
  return orderSchema.parse((await fixture.call('POST', '/orders', { orderId, items })).body).checkout.url
}

async function payAndRefund(checkout: { checkoutUrl: string | null }, id: string, ...parts: number[]): Promise<void> {
  await fixture.pay(checkout)
  const payment_intent = intentOf((await fixture.sessions(id))[0])
  for (const amount of parts) await fixture.stripe.refunds.create({ payment_intent, amount })
}

async function payAndDispute(
  checkout: { checkoutUrl: string | null },
  id: string,
  outcome: 'won' | 'lost',
): Promise<void> {
  await fixture.pay(checkout)
  const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(
    intentOf((await fixture.sessions(id))[0]),
  )
  await fixture.sim('POST', `/charges/${idOf(charge)}/dispute`)
  const [dispute] = (await fixture.stripe.disputes.list({ charge: idOf(charge) ?? '' })).data
  await fixture.sim('POST', `/disputes/${dispute?.id}/close`, { outcome })
}

/** Flows of one-time payments, and their outcomes. Memberships have their own. */
const flows: Record<string, Flow> = {
  'declined, then paid': {
    async run(checkout) {
      await fixture.pay(checkout, cards.declined)
      await fixture.pay(checkout)
    },
    end: paid,
  },
  'declined, then expired': {
    async run(checkout) {
      await fixture.pay(checkout, cards.declined)
      await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/expire`)
    },
    end: { ...untouched, status: 'expired', lastDecline: 'Your card was declined.' },
  },
  'failed later': {
    async run(checkout) {
      await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
      await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'failed' })
    },
    end: { ...untouched, status: 'failed', lastDecline: 'The bank account could not be debited.' },
  },
  'paid, then refunded in two parts': {
    run: (checkout, id) => payAndRefund(checkout, id, 15_000, 25_000),
    end: {
      ...paid,
      refunds: [
        ['requested', 15_000, 'succeeded'],
        ['requested', 25_000, 'succeeded'],
      ],
      refunded: 2,
    },
  },
  'paid, then disputed and lost': {
    run: (checkout, id) => payAndDispute(checkout, id, 'lost'),
    end: { ...paid, disputes: ['lost'] },
  },
  'an order, declined, then paid': {
    isOrder: true,
    async run(checkout) {
      await fixture.pay(checkout, cards.declined)
      await fixture.pay(checkout)
    },
    end: orderIsPaid,
  },
  'an order, paid, then refunded in part': {
    isOrder: true,
    run: (checkout, id) => payAndRefund(checkout, id, 12_050),
    end: { ...orderIsPaid, refunds: [['requested', 12_050, 'succeeded']], refunded: 1 },
  },
  'an order, paid, then disputed and won': {
    isOrder: true,
    run: (checkout, id) => payAndDispute(checkout, id, 'won'),
    end: { ...orderIsPaid, disputes: ['won'] },
  },
}

describe('POST /webhooks/stripe', () => {
  it('completes a payment', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.pay(checkout)
    const completed = await bed.bus.seen(paymentCompleted, of(facts.registrationId))
    const { payment, status } = await fixture.read(facts.registrationId)
    expect(status).toBe('paid')
    expect(completed.subject).toBe(facts.registrationId)
    expect(completed.data).toEqual({
      attemptId: checkout.attemptId,
      registrationId: facts.registrationId,
      paymentId: payment?.paymentId,
      amount: 40_000,
      currency: 'usd',
      receiptNumber: payment?.receiptNumber,
      paidAt: payment?.paidAt,
      unitAmount: 40_000,
      paidSeats: 1,
    })
    expect(payment?.receiptNumber).toMatch(/^RK-\d{6}$/)
    expect(
      Math.abs(Temporal.Instant.from(payment!.paidAt).until(Temporal.Now.instant()).total('seconds')),
    ).toBeLessThan(60)
  })

  it('accepts a signature with the new or the old secret, and no other', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    const event = fixture.event('checkout.session.completed', sessionIdOf(checkout))
    const refusals = [
      await fixture.deliver(event, { secret: 'whsec_somebody_elses' }),
      await fixture.deliver(event, { signedAt: now() - 301 }),
      await fixture.deliver(event, { signature: '' }),
      await fixture.deliver(event, { signature: 't=1,v1=00' }),
    ]
    const altered = JSON.stringify(event, null, 2)
    const signature = fixture.stripe.webhooks.generateTestHeaderString({ payload: altered, secret: webhookSecret })
    refusals.push(await fixture.deliver(altered.replace('evt_', 'evt_x'), { signature }))
    expect(refusals.map((answer) => [answer.status, codeOf(answer)])).toEqual(
      refusals.map(() => [400, 'signature_invalid']),
    )
    expect((await fixture.read(facts.registrationId)).status).toBe('open')

    expect((await fixture.deliver(event, { secret: oldWebhookSecret, signedAt: now() - 290 })).status).toBe(200)
    expect((await fixture.read(facts.registrationId)).status).toBe('paid')
  })

  it('answers 2xx to unknown events and 400 to anything else', async () => {
    const other = await fixture.stripe.checkout.sessions.create({
      mode: 'payment',
      success_url: 'https://elsewhere.example',
      line_items: [
        { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'Something else' } } },
      ],
    })
    for (const event of [
      fixture.event('invoice.paid', 'in_1'),
      fixture.event('customer.subscription.updated', 'sub_of_nobody'),
      fixture.event('customer.updated', 'cus_of_nobody'),
      fixture.event('charge.dispute.created', 'du_of_nobody'),
      fixture.event('checkout.session.completed', other.id),
      fixture.event('checkout.session.completed', 'cs_test_of_nobody'),
      fixture.event('refund.created', 're_of_nobody'),
      fixture.event('payment_intent.payment_failed', 'pi_of_nobody'),
    ]) {
      const answer = await fixture.deliver(event)
      expect([answer.status, answer.body, event.type]).toMatchObject([
        200,
        { received: expect.stringMatching(/handled|ignored/) },
        event.type,
      ])
    }
    for (const body of ['[]', '{}', 'x', '{"object":"event"}']) {
      const answer = await fixture.deliver(body)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'malformed_body'])
    }
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('ignores the type %s', async (type) => {
    expect(await fixture.deliver(fixture.event(type, 'in_1'))).toEqual({ status: 200, body: { received: 'ignored' } })
  })

  it.each([String.raw`cs_\ud83e`, '../refunds', String.raw`cs_\u0000`, 'cs_a b', 'x'.repeat(256), ''])(
    'answers 400 to an object or an event with the id %j',
    async (id) => {
      const event = fixture.event('checkout.session.completed', 'cs_ID')
      const text = JSON.stringify(event)
      for (const body of [text.replace('cs_ID', id), text.replace(event.id, id)]) {
        const answer = await fixture.deliver(body)
        expect([answer.status, codeOf(answer)]).toEqual([400, 'malformed_body'])
      }
    },
  )

  it('rejects a body of 2 MB, signed or not, before it reads it', async () => {
    const event = { ...fixture.event('checkout.session.completed', 'cs_test_1'), padding: 'x'.repeat(2 * 1024 * 1024) }
    for (const options of [{}, { signature: 't=1,v1=00' }]) {
      const answer = await fixture.deliver(event, options)
      expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large'])
    }
  })

  it('ignores a live event in test mode', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    const answer = await fixture.deliver(
      fixture.event('checkout.session.completed', sessionIdOf(checkout), { livemode: true }),
    )
    expect(answer).toEqual({ status: 200, body: { received: 'ignored' } })
    expect((await fixture.read(facts.registrationId)).status).toBe('open')
  })

  it('completes a payment once under concurrent webhooks and returning parents', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    const event = fixture.event('checkout.session.completed', sessionIdOf(checkout))
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => fixture.deliver(event)),
      ...Array.from({ length: 20 }, () => fixture.refresh(`/checkouts/${facts.registrationId}`)),
      ...Array.from({ length: 3 }, () => fixture.call('POST', '/checkouts', { purchase: facts })),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'paid',
      payments: [['accepted', 40_000, true]],
      completed: 1,
      refunds: [],
    })
    const marks = await fixture.service.context.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))
    expect(marks).toHaveLength(1)
  })

  it('handles an event that is sent again after a failure', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    const event = fixture.event('checkout.session.completed', sessionIdOf(checkout))
    expect((await fixture.deliver(event, { secret: 'whsec_wrong_for_a_while' })).status).toBe(400)
    await fixture.fault({ kind: 'error', method: 'GET', path: '/v1/checkout/sessions/*', times: 3, status: 500 })
    expect((await fixture.deliver(event)).status).toBe(503)
    // Fails between the insert of the event and the commit.
    await failPayments(1)
    expect((await fixture.deliver(event)).status).toBe(500)
    expect(await fixture.service.context.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))).toEqual(
      [],
    )
    expect(await fixture.deliver(event)).toEqual({ status: 200, body: { received: 'handled' } })
    expect(await fixture.deliver(event)).toEqual({ status: 200, body: { received: 'seen' } })
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1 })
  })

  it('waits for an asynchronous payment that succeeds after the session is complete', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
    await fixture.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'processing',
      payments: [],
      completed: 0,
      checkoutUrl: null,
    })
    expect(await fixture.checkout(facts)).toMatchObject({ status: 'processing', attemptId: checkout.attemptId })
    await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'succeeded' })
    await fixture.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1 })
    expect(bed.bus.all(paymentFailed, of(facts.registrationId))).toEqual([])
  })

  it('waits for an asynchronous payment that fails after the session is complete', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
    await fixture.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'failed' })
    const failed = await bed.bus.seen(
      paymentFailed,
      (data) => data.registrationId === facts.registrationId && data.final,
    )
    expect(failed.data).toMatchObject({
      attemptId: checkout.attemptId,
      reason: 'The bank account could not be debited.',
    })
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'failed', payments: [], completed: 0 })
    const again = await fixture.checkout(facts)
    expect(again).toMatchObject({ status: 'open' })
    expect(again.attemptId).not.toBe(checkout.attemptId)
  })

  it(
    'reaches the same state, with every cent in the ledger, under duplicated, reordered and lost webhooks',
    { timeout: 180_000 },
    async () => {
      await fixture.webhooks({ dropped: true })
      const names = Object.keys(flows)
      const runs = fc.sample(deliveryOrders, { numRuns: 3 * names.length })
      for (const [index, arrival] of runs.entries()) {
        const name = names[index % names.length] ?? ''
        const flow = flows[name]
        if (!flow) continue
        const id = randomUUIDv7()
        const url = flow.isOrder
          ? await placeOrder(id)
          : (await fixture.checkout(purchase({ registrationId: id }))).checkoutUrl
        await flow.run({ checkoutUrl: url }, id)
        const published = await eventsOfMoney(id)
        const statuses = await fixture.deliverInOrder(published, arrival)
        expect(statuses).toEqual(statuses.map(() => 200))
        if (arrival.lost > 0) await reconcile(fixture.service.context, neverAborts)
        // Published events reach this process a moment later.
        await eventually(async () => {
          expect([name, await settled(id)]).toEqual([name, flow.end])
          return true
        })
        const { body } = await fixture.call('POST', '/admin/reconcile', undefined, adminHeaders)
        expect([name, body]).toMatchObject([name, { difference: 0, disagreements: [] }])
      }
      // Reconciliation also finds what earlier tests had dropped.
      await reconcile(fixture.service.context, neverAborts)
      const books = await fixture.call('POST', '/admin/reconcile', undefined, adminHeaders)
      expect(books.body).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
    },
  )

  it('uses only the ids of a webhook of another API version, and logs that', async () => {
    const old = await BillingFixture.startIsolated({ webhook: { api_version: '2022-11-15' } })
    const facts = purchase()
    await old.pay(await old.checkout(facts))
    await old.simulator.deliveriesIdle()
    expect((await old.read(facts.registrationId)).status).toBe('paid')
    const metrics = await (await fetch(`${old.service.url}/metrics`)).text()
    expect(metrics).toMatch(/stripe_api_version_mismatches_total\{version="2022-11-15"\} [1-9]/)
    await old.close()
  })

  it('accepts thin events', async () => {
    const thin = await BillingFixture.startIsolated({ webhook: { payload: 'thin' } })
    const facts = purchase()
    const checkout = await thin.checkout(facts)
    await thin.pay(checkout, cards.declined)
    await thin.bed.bus.seen(paymentFailed)
    await thin.pay(checkout)
    await thin.simulator.deliveriesIdle()
    expect((await thin.read(facts.registrationId)).status).toBe('paid')
    expect(thin.bed.bus.all(paymentFailed)).toHaveLength(1)
    await thin.close()
  })
})

describe('a rejected payment', () => {
  it('of another amount is refunded once and completes nothing', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    // As if the session had been created or changed with another price.
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ amount: 42_000 })
      .where(eq(checkoutAttempts.id, checkout.attemptId))
    await fixture.pay(checkout)
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({
      reason: 'amount_mismatch',
      amount: 40_000,
      refundedTotal: 40_000,
      paidAmount: 40_000,
      purchase: facts,
    })
    const failed = await bed.bus.seen(paymentFailed, of(facts.registrationId))
    expect(failed.data.final).toBe(true)
    for (const event of await eventsOfMoney(facts.registrationId))
      await fixture.deliver({ ...event, id: `${event.id}x` })
    await fixture.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'failed',
      payments: [['amount_mismatch', 40_000, false]],
      refunds: [['amount_mismatch', 40_000, 'succeeded']],
      completed: 0,
      refunded: 1,
    })
  })

  it('of an already paid registration is refunded once', async () => {
    const facts = purchase()
    const first = await fixture.checkout(facts)
    const { db } = fixture.service.context
    // Billing has recorded the first session as closed while the parent still has it open.
    await db.update(checkoutAttempts).set({ status: 'expired' }).where(eq(checkoutAttempts.id, first.attemptId))
    const second = await fixture.checkout(facts)
    expect(second.attemptId).not.toBe(first.attemptId)
    await Promise.all([fixture.pay(first), fixture.pay(second)])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ reason: 'duplicate', amount: 40_000, paidAmount: 40_000 })
    await fixture.simulator.deliveriesIdle()
    for (const event of await eventsOfMoney(facts.registrationId))
      await fixture.deliver({ ...event, id: `${event.id}x` })
    const state = await settled(facts.registrationId)
    expect(state).toMatchObject({
      status: 'paid',
      refunds: [['duplicate', 40_000, 'succeeded']],
      completed: 1,
      refunded: 1,
    })
    expect(new Set(state.payments.map(([outcome]) => outcome))).toEqual(new Set(['accepted', 'duplicate']))
    const { payment } = await fixture.read(facts.registrationId)
    expect(refunded.data.paymentId).not.toBe(payment?.paymentId)
  })

  it('is prevented by closing the registration’s other open checkout', async () => {
    const facts = purchase()
    const first = await fixture.checkout(facts)
    const { db } = fixture.service.context
    await db.update(checkoutAttempts).set({ status: 'expired' }).where(eq(checkoutAttempts.id, first.attemptId))
    await fixture.checkout(facts)
    await fixture.pay(first)
    await eventually(async () =>
      (await fixture.sessions(facts.registrationId)).every((session) => session.status !== 'open'),
    )
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1, refunds: [] })
  })
})

describe('receipt numbers', () => {
  it(
    'have no gaps or duplicates under concurrent payments, some of them rolled back',
    { timeout: 120_000 },
    async () => {
      const { db } = fixture.service.context
      const next = async () => (await db.select().from(counters).where(eq(counters.name, 'receipt')))[0]?.value ?? 0
      const before = await next()
      const sales = Array.from({ length: 50 }, () => purchase())
      const checkouts: Awaited<ReturnType<BillingFixture['checkout']>>[] = []
      for (const facts of sales) checkouts.push(await fixture.checkout(facts))
      await failPayments(2)
      await Promise.all(checkouts.map((checkout) => fixture.pay(checkout)))
      await eventually(async () => (await next()) === before + 50, 60_000)
      const receipts = await Promise.all(
        sales.map(async ({ registrationId }) => (await fixture.read(registrationId)).payment?.receiptNumber),
      )
      const expected = Array.from({ length: 50 }, (_, index) => `RK-${String(before + index + 1).padStart(6, '0')}`)
      expect(receipts.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual(expected)
      expect(await remainingFailures()).toBe(0)
    },
  )
})

async function eventsOfMoney(registrationId: string): Promise<SimEvent[]> {
  const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
  const isOf = ({ metadata }: SimEvent['data']['object']) =>
    metadata?.['registrationId'] === registrationId || metadata?.['orderId'] === registrationId
  if (!events.some((event) => isOf(event.data.object))) throw new Error('No events.')
  const sessions = await fixture.sessions(registrationId)
  const intents = new Set<unknown>(
    sessions.map((session) => session.payment_intent).filter((intent) => intent !== null),
  )
  return events.filter((event) => {
    const object = event.data.object as SimEvent['data']['object'] & { payment_intent?: string | null }
    return isOf(object) || intents.has(object.id) || intents.has(object.payment_intent)
  })
}

/** Makes the next `times` inserts of a payment fail at the end of their transactions. */
async function failPayments(times: number): Promise<void> {
  const { db } = fixture.service.context
  await db.execute(sql`create sequence if not exists failing_payments`)
  await db.execute(sql`create or replace function fail_payment() returns trigger language plpgsql as $$
    begin
      if nextval('failing_payments') <= (select value from counters where name = 'failures') then
        raise exception 'ordered by a test';
      end if;
      return null;
    end $$`)
  await db.execute(sql`drop trigger if exists failing on payments`)
  await db.execute(
    sql`create constraint trigger failing after insert on payments deferrable initially deferred for each row execute function fail_payment()`,
  )
  await db.execute(sql`alter sequence failing_payments restart`)
  await db
    .insert(counters)
    .values({ name: 'failures', value: times })
    .onConflictDoUpdate({ target: counters.name, set: { value: times } })
}

async function remainingFailures(): Promise<number> {
  const { db } = fixture.service.context
  const {
    rows: [row],
  } = await db.execute<{ left: string }>(
    sql`select greatest(0, (select value from counters where name = 'failures') - last_value) as left from failing_payments`,
  )
  return Number(row?.left)
}
