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
  arrivals,
  cards,
  codeOf,
  intentOf,
  neverAborts,
  oldWebhookSecret,
  purchase,
  sessionIdOf,
  type SimEvent,
  Till,
  webhookSecret,
} from '../till.ts'

let bed: TestBed
let till: Till

beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed, { env: { STRIPE_WEBHOOK_SECRETS: `${webhookSecret},${oldWebhookSecret}` } })
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
  await till.webhooks({})
})
afterAll(async () => {
  await till.close()
})

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId
const now = () => Math.floor(Temporal.Now.instant().epochMilliseconds / 1000)

/** All that billing knows and has said of a registration or an order, without ids and times that differ from run to run. */
async function stateOf(registrationId: string) {
  const { db } = till.service.context
  const [ofAnOrder] = await readCheckouts(db, [registrationId], 'order')
  const { status, lastDecline, amount, checkoutUrl, disputes } = ofAnOrder ?? (await till.read(registrationId))
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
  const { db } = till.service.context
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
  return orderSchema.parse((await till.call('POST', '/orders', { orderId, items })).body).checkout.url
}

async function payAndRefund(checkout: { checkoutUrl: string | null }, id: string, ...parts: number[]): Promise<void> {
  await till.pay(checkout)
  const payment_intent = intentOf((await till.sessions(id))[0])
  for (const amount of parts) await till.stripe.refunds.create({ payment_intent, amount })
}

async function payAndDispute(
  checkout: { checkoutUrl: string | null },
  id: string,
  outcome: 'won' | 'lost',
): Promise<void> {
  await till.pay(checkout)
  const { latest_charge: charge } = await till.stripe.paymentIntents.retrieve(intentOf((await till.sessions(id))[0]))
  await till.sim('POST', `/charges/${idOf(charge)}/dispute`)
  const [dispute] = (await till.stripe.disputes.list({ charge: idOf(charge) ?? '' })).data
  await till.sim('POST', `/disputes/${dispute?.id}/close`, { outcome })
}

/** What can become of what is paid once, and what it comes to. What becomes of memberships stands with their tests. */
const flows: Record<string, Flow> = {
  'declined, then paid': {
    async run(checkout) {
      await till.pay(checkout, cards.declined)
      await till.pay(checkout)
    },
    end: paid,
  },
  'declined, then expired': {
    async run(checkout) {
      await till.pay(checkout, cards.declined)
      await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/expire`)
    },
    end: { ...untouched, status: 'expired', lastDecline: 'Your card was declined.' },
  },
  'failed later': {
    async run(checkout) {
      await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
      await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'failed' })
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
      await till.pay(checkout, cards.declined)
      await till.pay(checkout)
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
    const checkout = await till.checkout(facts)
    await till.pay(checkout)
    const completed = await bed.bus.seen(paymentCompleted, of(facts.registrationId))
    const { payment, status } = await till.read(facts.registrationId)
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
    })
    expect(payment?.receiptNumber).toMatch(/^RK-\d{6}$/)
    expect(
      Math.abs(Temporal.Instant.from(payment!.paidAt).until(Temporal.Now.instant()).total('seconds')),
    ).toBeLessThan(60)
  })

  it('takes a signature by the new or the old secret, and no other', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    const event = till.event('checkout.session.completed', sessionIdOf(checkout))
    const refusals = [
      await till.deliver(event, { secret: 'whsec_somebody_elses' }),
      await till.deliver(event, { signedAt: now() - 301 }),
      await till.deliver(event, { signature: '' }),
      await till.deliver(event, { signature: 't=1,v1=00' }),
    ]
    const altered = JSON.stringify(event, null, 2)
    const signature = till.stripe.webhooks.generateTestHeaderString({ payload: altered, secret: webhookSecret })
    refusals.push(await till.deliver(altered.replace('evt_', 'evt_x'), { signature }))
    expect(refusals.map((answer) => [answer.status, codeOf(answer)])).toEqual(
      refusals.map(() => [400, 'signature_invalid']),
    )
    expect((await till.read(facts.registrationId)).status).toBe('open')

    expect((await till.deliver(event, { secret: oldWebhookSecret, signedAt: now() - 290 })).status).toBe(200)
    expect((await till.read(facts.registrationId)).status).toBe('paid')
  })

  it('answers 2xx to what it does not know or is not its own, and 400 to what is no event', async () => {
    const other = await till.stripe.checkout.sessions.create({
      mode: 'payment',
      success_url: 'https://elsewhere.example',
      line_items: [
        { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'Something else' } } },
      ],
    })
    for (const event of [
      till.event('invoice.paid', 'in_1'),
      till.event('customer.subscription.updated', 'sub_of_nobody'),
      till.event('customer.updated', 'cus_of_nobody'),
      till.event('charge.dispute.created', 'du_of_nobody'),
      till.event('checkout.session.completed', other.id),
      till.event('checkout.session.completed', 'cs_test_of_nobody'),
      till.event('refund.created', 're_of_nobody'),
      till.event('payment_intent.payment_failed', 'pi_of_nobody'),
    ]) {
      const answer = await till.deliver(event)
      expect([answer.status, answer.body, event.type]).toMatchObject([
        200,
        { received: expect.stringMatching(/handled|ignored/) },
        event.type,
      ])
    }
    for (const body of ['[]', '{}', 'x', '{"object":"event"}']) {
      const answer = await till.deliver(body)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'malformed_body'])
    }
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('ignores the type %s', async (type) => {
    expect(await till.deliver(till.event(type, 'in_1'))).toEqual({ status: 200, body: { received: 'ignored' } })
  })

  it.each([String.raw`cs_\ud83e`, '../refunds', String.raw`cs_\u0000`, 'cs_a b', 'x'.repeat(256), ''])(
    'answers 400 to an object, or an event, with the id %j',
    async (id) => {
      const event = till.event('checkout.session.completed', 'cs_ID')
      const text = JSON.stringify(event)
      for (const body of [text.replace('cs_ID', id), text.replace(event.id, id)]) {
        const answer = await till.deliver(body)
        expect([answer.status, codeOf(answer)]).toEqual([400, 'malformed_body'])
      }
    },
  )

  it('refuses a body of 2 MB, signed or not, before it reads it', async () => {
    const event = { ...till.event('checkout.session.completed', 'cs_test_1'), padding: 'x'.repeat(2 * 1024 * 1024) }
    for (const options of [{}, { signature: 't=1,v1=00' }]) {
      const answer = await till.deliver(event, options)
      expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large'])
    }
  })

  it('ignores a live event in test mode', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    const answer = await till.deliver(
      till.event('checkout.session.completed', sessionIdOf(checkout), { livemode: true }),
    )
    expect(answer).toEqual({ status: 200, body: { received: 'ignored' } })
    expect((await till.read(facts.registrationId)).status).toBe('open')
  })

  it('finishes one payment once, however many webhooks and returning parents come at the same moment', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    const event = till.event('checkout.session.completed', sessionIdOf(checkout))
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => till.deliver(event)),
      ...Array.from({ length: 20 }, () => till.refresh(`/checkouts/${facts.registrationId}`)),
      ...Array.from({ length: 3 }, () => till.call('POST', '/checkouts', { purchase: facts })),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'paid',
      payments: [['accepted', 40_000, true]],
      completed: 1,
      refunds: [],
    })
    const marks = await till.service.context.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))
    expect(marks).toHaveLength(1)
  })

  it('can be sent an event again whose handling failed', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    const event = till.event('checkout.session.completed', sessionIdOf(checkout))
    expect((await till.deliver(event, { secret: 'whsec_wrong_for_a_while' })).status).toBe(400)
    await till.fault({ kind: 'error', method: 'GET', path: '/v1/checkout/sessions/*', times: 3, status: 500 })
    expect((await till.deliver(event)).status).toBe(503)
    // Fails between the mark and the commit.
    await failPayments(1)
    expect((await till.deliver(event)).status).toBe(500)
    expect(await till.service.context.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id))).toEqual([])
    expect(await till.deliver(event)).toEqual({ status: 200, body: { received: 'handled' } })
    expect(await till.deliver(event)).toEqual({ status: 200, body: { received: 'seen' } })
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1 })
  })

  it('does not take complete for paid: an asynchronous payment that comes', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
    await till.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'processing',
      payments: [],
      completed: 0,
      checkoutUrl: null,
    })
    expect(await till.checkout(facts)).toMatchObject({ status: 'processing', attemptId: checkout.attemptId })
    await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'succeeded' })
    await till.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1 })
    expect(bed.bus.all(paymentFailed, of(facts.registrationId))).toEqual([])
  })

  it('does not take complete for paid: an asynchronous payment that fails', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/complete-async`)
    await till.sim('POST', `/checkout/${sessionIdOf(checkout)}/settle-async`, { outcome: 'failed' })
    const failed = await bed.bus.seen(
      paymentFailed,
      (data) => data.registrationId === facts.registrationId && data.final,
    )
    expect(failed.data).toMatchObject({
      attemptId: checkout.attemptId,
      reason: 'The bank account could not be debited.',
    })
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'failed', payments: [], completed: 0 })
    const again = await till.checkout(facts)
    expect(again).toMatchObject({ status: 'open' })
    expect(again.attemptId).not.toBe(checkout.attemptId)
  })

  it(
    'ends in the same state, with every cent in the ledger, in whatever order, however often, or whether at all, the events of a flow come',
    { timeout: 180_000 },
    async () => {
      await till.webhooks({ dropped: true })
      const names = Object.keys(flows)
      const runs = fc.sample(arrivals, { numRuns: 3 * names.length })
      for (const [index, arrival] of runs.entries()) {
        const name = names[index % names.length] ?? ''
        const flow = flows[name]
        if (!flow) continue
        const id = randomUUIDv7()
        const url = flow.isOrder
          ? await placeOrder(id)
          : (await till.checkout(purchase({ registrationId: id }))).checkoutUrl
        await flow.run({ checkoutUrl: url }, id)
        const told = await eventsOfMoney(id)
        const statuses = await till.deliverAnyhow(told, arrival)
        expect(statuses).toEqual(statuses.map(() => 200))
        if (arrival.lost > 0) await reconcile(till.service.context, neverAborts)
        // What was published reaches this process a moment later.
        await eventually(async () => {
          expect([name, await settled(id)]).toEqual([name, flow.end])
          return true
        })
        const { body } = await till.call('POST', '/admin/reconcile', undefined, adminHeaders)
        expect([name, body]).toMatchObject([name, { difference: 0, disagreements: [] }])
      }
      // What earlier tests kept from billing is found as well.
      await reconcile(till.service.context, neverAborts)
      const books = await till.call('POST', '/admin/reconcile', undefined, adminHeaders)
      expect(books.body).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
    },
  )

  it('works by ids alone for a webhook of another API version, and says so', async () => {
    const old = await Till.apart({ webhook: { api_version: '2022-11-15' } })
    const facts = purchase()
    await old.pay(await old.checkout(facts))
    await old.simulator.deliveriesIdle()
    expect((await old.read(facts.registrationId)).status).toBe('paid')
    const metrics = await (await fetch(`${old.service.url}/metrics`)).text()
    expect(metrics).toMatch(/stripe_api_version_mismatches_total\{version="2022-11-15"\} [1-9]/)
    await old.close()
  })

  it('reads thin events as well', async () => {
    const thin = await Till.apart({ webhook: { payload: 'thin' } })
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

describe('a payment that is not owed', () => {
  it('of another amount goes back once, and completes nothing', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    // As if the session had been made, or changed, for another price.
    await till.service.context.db
      .update(checkoutAttempts)
      .set({ amount: 42_000 })
      .where(eq(checkoutAttempts.id, checkout.attemptId))
    await till.pay(checkout)
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
    for (const event of await eventsOfMoney(facts.registrationId)) await till.deliver({ ...event, id: `${event.id}x` })
    await till.simulator.deliveriesIdle()
    expect(await settled(facts.registrationId)).toMatchObject({
      status: 'failed',
      payments: [['amount_mismatch', 40_000, false]],
      refunds: [['amount_mismatch', 40_000, 'succeeded']],
      completed: 0,
      refunded: 1,
    })
  })

  it('of a registration that is paid already goes back once', async () => {
    const facts = purchase()
    const first = await till.checkout(facts)
    const { db } = till.service.context
    // Billing takes the first session for closed while the parent still has it open.
    await db.update(checkoutAttempts).set({ status: 'expired' }).where(eq(checkoutAttempts.id, first.attemptId))
    const second = await till.checkout(facts)
    expect(second.attemptId).not.toBe(first.attemptId)
    await Promise.all([till.pay(first), till.pay(second)])
    const refunded = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(refunded.data).toMatchObject({ reason: 'duplicate', amount: 40_000, paidAmount: 40_000 })
    await till.simulator.deliveriesIdle()
    for (const event of await eventsOfMoney(facts.registrationId)) await till.deliver({ ...event, id: `${event.id}x` })
    const state = await settled(facts.registrationId)
    expect(state).toMatchObject({
      status: 'paid',
      refunds: [['duplicate', 40_000, 'succeeded']],
      completed: 1,
      refunded: 1,
    })
    expect(new Set(state.payments.map(([outcome]) => outcome))).toEqual(new Set(['accepted', 'duplicate']))
    const { payment } = await till.read(facts.registrationId)
    expect(refunded.data.paymentId).not.toBe(payment?.paymentId)
  })

  it('has the other open checkout of its registration closed before it is made', async () => {
    const facts = purchase()
    const first = await till.checkout(facts)
    const { db } = till.service.context
    await db.update(checkoutAttempts).set({ status: 'expired' }).where(eq(checkoutAttempts.id, first.attemptId))
    await till.checkout(facts)
    await till.pay(first)
    await eventually(async () =>
      (await till.sessions(facts.registrationId)).every((session) => session.status !== 'open'),
    )
    expect(await settled(facts.registrationId)).toMatchObject({ status: 'paid', completed: 1, refunds: [] })
  })
})

describe('receipt numbers', () => {
  it('have no gap and no double under payments at once, of which some are aborted', { timeout: 120_000 }, async () => {
    const { db } = till.service.context
    const next = async () => (await db.select().from(counters).where(eq(counters.name, 'receipt')))[0]?.value ?? 0
    const before = await next()
    const sales = Array.from({ length: 50 }, () => purchase())
    const checkouts: Awaited<ReturnType<Till['checkout']>>[] = []
    for (const facts of sales) checkouts.push(await till.checkout(facts))
    await failPayments(2)
    await Promise.all(checkouts.map((checkout) => till.pay(checkout)))
    await eventually(async () => (await next()) === before + 50, 60_000)
    const receipts = await Promise.all(
      sales.map(async ({ registrationId }) => (await till.read(registrationId)).payment?.receiptNumber),
    )
    const expected = Array.from({ length: 50 }, (_, index) => `RK-${String(before + index + 1).padStart(6, '0')}`)
    expect(receipts.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual(expected)
    expect(await remainingFailures()).toBe(0)
  })
})

async function eventsOfMoney(registrationId: string): Promise<SimEvent[]> {
  const { events } = (await till.sim('GET', '/events')) as { events: SimEvent[] }
  const isOf = ({ metadata }: SimEvent['data']['object']) =>
    metadata?.['registrationId'] === registrationId || metadata?.['orderId'] === registrationId
  if (!events.some((event) => isOf(event.data.object))) throw new Error('No events.')
  const sessions = await till.sessions(registrationId)
  const intents = new Set<unknown>(
    sessions.map((session) => session.payment_intent).filter((intent) => intent !== null),
  )
  return events.filter((event) => {
    const object = event.data.object as SimEvent['data']['object'] & { payment_intent?: string | null }
    return isOf(object) || intents.has(object.id) || intents.has(object.payment_intent)
  })
}

/** Makes the next `times` inserts of a payment fail, at the very end of their transactions. */
async function failPayments(times: number): Promise<void> {
  const { db } = till.service.context
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
  const { db } = till.service.context
  const {
    rows: [row],
  } = await db.execute<{ left: string }>(
    sql`select greatest(0, (select value from counters where name = 'failures') - last_value) as left from failing_payments`,
  )
  return Number(row?.left)
}
