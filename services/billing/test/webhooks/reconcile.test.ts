import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutExpired,
  membershipCheckoutSchema,
  paymentCompleted,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  subscriptionRenewed,
} from '@robokids/contracts/billing'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '../../src/webhooks/reconcile.ts'
import {
  checkoutAttempts,
  cursors,
  failedEvents,
  ledgerTransactions,
  membershipAttempts,
  memberships,
  stripeEvents,
} from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import { cards, neverAborts, purchase, sessionIdOf, BillingFixture } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture

beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed, { env: { RECONCILE_EVERY_MS: '300' } })
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
})
afterAll(async () => {
  await fixture.close()
})

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

async function counted(metric: string): Promise<number> {
  const metrics = await (await fetch(`${fixture.service.url}/metrics`)).text()
  const line = metrics.split('\n').find((one) => one.startsWith(`${metric} `))
  return Number(line?.slice(metric.length) ?? 0)
}

/** Breaks the recording of a dispute. @returns a function that repairs it. */
async function failAtProvider() {
  await fixture.fault({ kind: 'error', method: 'GET', path: '/v1/disputes/*', times: 10_000, status: 500 })
  return () => fixture.sim('DELETE', '/faults')
}

async function failInDatabase() {
  const { db } = fixture.service.context
  await db.execute(sql`
    create function too_much() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'numeric_value_out_of_range', message = 'out of range'; end $$`)
  await db.execute(sql`create trigger too_much before insert on disputes for each row execute function too_much()`)
  return () => db.execute(sql`drop trigger too_much on disputes`)
}

describe('reconcile', () => {
  it('finds payments, declines, expired checkouts and refunds without any webhook', async () => {
    await fixture.webhooks({ dropped: true })
    const [paid, expired, declined] = [purchase(), purchase(), purchase()]
    await fixture.pay(await fixture.checkout(paid))
    await fixture.sim('POST', `/checkout/${sessionIdOf(await fixture.checkout(expired))}/expire`)
    await fixture.pay(await fixture.checkout(declined), cards.poor)
    await bed.bus.seen(paymentCompleted, of(paid.registrationId))
    await bed.bus.seen(checkoutExpired, of(expired.registrationId))
    await bed.bus.seen(paymentFailed, of(declined.registrationId))
    expect(await fixture.read(declined.registrationId)).toMatchObject({
      status: 'open',
      lastDecline: 'Your card has insufficient funds.',
    })

    const { payment } = await fixture.read(paid.registrationId)
    await fixture.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const refunded = await bed.bus.seen(paymentRefunded, of(paid.registrationId))
    expect(refunded.data).toMatchObject({ refundedTotal: 40_000 })
    await fixture.webhooks({})
  })

  it('finds the outcome of a pending refund', async () => {
    await fixture.webhooks({ dropped: true })
    const facts = purchase()
    await fixture.sell(facts, '4000000000007726')
    expect(await fixture.refunded(facts.registrationId)).toMatchObject({ status: 'pending' })
    fixture.simulator.advanceClock(2 * 3600)
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    await fixture.webhooks({})
  })

  it('makes up for rejected webhooks', async () => {
    const refusing = await BillingFixture.startIsolated({
      env: { STRIPE_WEBHOOK_SECRETS: 'whsec_wrong', RECONCILE_EVERY_MS: '300' },
    })
    const facts = purchase()
    await refusing.pay(await refusing.checkout(facts))
    await refusing.bed.bus.seen(paymentCompleted, of(facts.registrationId))
    await refusing.close()
  })

  it('settles an attempt after an interrupted creation, without a second session', async () => {
    const facts = purchase()
    const { attemptId } = await fixture.checkout(facts)
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ status: 'creating', stripeSessionId: null, checkoutUrl: null })
      .where(eq(checkoutAttempts.id, attemptId))
    await eventually(async () => (await fixture.read(facts.registrationId)).status === 'open')
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('fails an attempt that was never sent and is too old', async () => {
    const facts = purchase()
    await fixture.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 3,
      when: 'before',
      status: 503,
    })
    await fixture.call('POST', '/checkouts', { purchase: facts })
    fixture.simulator.advanceClock(5 * 60)
    await eventually(async () => (await fixture.read(facts.registrationId)).status === 'failed')
    expect(await fixture.sessions(facts.registrationId)).toEqual([])
  })

  it('continues after an attempt that it cannot fetch', async () => {
    await fixture.webhooks({ dropped: true })
    const [stuck, paid] = [purchase(), purchase()]
    const first = await fixture.checkout(stuck)
    await fixture.fault({
      kind: 'error',
      method: 'GET',
      path: `/v1/checkout/sessions/${sessionIdOf(first)}`,
      times: 1_000,
      status: 500,
    })
    await fixture.pay(await fixture.checkout(paid))
    await bed.bus.seen(paymentCompleted, of(paid.registrationId))
    await fixture.webhooks({})
  })

  it('reads each event once and continues from where it stopped', async () => {
    const own = await BillingFixture.startIsolated()
    const { context } = own.service
    await own.webhooks({ dropped: true })
    const facts = purchase()
    await own.pay(await own.checkout(facts))
    await reconcile(context, neverAborts)
    const marks = () => context.db.select().from(stripeEvents)
    const handled = await marks()
    expect(handled.map(({ type }) => type)).toEqual(['checkout.session.completed'])
    await reconcile(context, neverAborts)
    expect(await marks()).toEqual(handled)
    const [cursor] = await context.db.select().from(cursors)
    expect(cursor?.position).toBeGreaterThan(own.simulator.now() - 60)

    // A failed event is retried separately.
    const next = purchase()
    const checkout = await own.checkout(next)
    await own.pay(checkout)
    await own.fault({
      kind: 'error',
      method: 'GET',
      path: `/v1/checkout/sessions/${sessionIdOf(checkout)}`,
      times: 6,
      status: 500,
    })
    await expect(reconcile(context, neverAborts)).rejects.toThrow('Not all was reconciled: events.')
    await own.sim('DELETE', '/faults')
    expect((await own.read(next.registrationId)).status).toBe('open')
    expect(await context.db.select().from(failedEvents)).toMatchObject([
      { type: 'checkout.session.completed', tries: 1 },
    ])
    await eventually(async () => {
      await reconcile(context, neverAborts)
      return (await own.read(next.registrationId)).status === 'paid'
    })
    expect(await context.db.select().from(failedEvents)).toEqual([])
    await own.close()
  })

  it.each([
    ['Stripe responds with an error', failAtProvider],
    ['the database rejects the data', failInDatabase],
  ])('continues after an event that it cannot handle because %s, and handles that later', async (_, spoil) => {
    await fixture.webhooks({ dropped: true })
    const [disputing, refunding] = [purchase(), purchase()]
    const { payment: disputed } = await fixture.sell(disputing)
    const { payment: refunded } = await fixture.sell(refunding)
    const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(disputed!.stripePaymentIntentId)
    const isDisputed = ({ registrationId }: { registrationId: string | null }) =>
      registrationId === disputing.registrationId
    const failures = await counted('job_runs_total{name="reconcile",outcome="failed"}')

    const repair = await spoil()
    await fixture.sim('POST', `/charges/${idOf(charge)}/dispute`)
    await fixture.stripe.refunds.create({ payment_intent: refunded!.stripePaymentIntentId })
    await bed.bus.seen(paymentRefunded, of(refunding.registrationId))
    expect(bed.bus.all(paymentDisputed, isDisputed)).toEqual([])
    await eventually(async () => (await counted('job_runs_total{name="reconcile",outcome="failed"}')) > failures)
    // What is counted in the database is not counted at every scrape.
    await eventually(async () => (await counted('stripe_events_failed')) > 0, 30_000)

    await repair()
    await bed.bus.seen(paymentDisputed, isDisputed, 20_000)
    await eventually(async () => (await counted('stripe_events_failed')) === 0, 30_000)
    expect(bed.bus.all(paymentDisputed, isDisputed)).toHaveLength(1)
    await fixture.webhooks({})
  })

  it('runs all other parts if one fails, and reports the failure', async () => {
    const own = await BillingFixture.startIsolated()
    const { context } = own.service
    await own.webhooks({ dropped: true })
    const facts = purchase()
    const { payment } = await own.sell(facts)
    const refund = await own.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId, amount: 100 })
    await own.deliver(own.event('refund.created', refund.id))
    await own.fault({ kind: 'error', method: 'GET', path: '/v1/events', times: 1_000, status: 500 })
    await expect(reconcile(context, neverAborts)).rejects.toThrow('Not all was reconciled: events.')
    expect(await context.db.$count(ledgerTransactions)).toBe(2)
    await own.close()
  })

  it('refreshes every membership in turn, however many do not change or cannot be fetched', async () => {
    const own = await BillingFixture.startIsolated()
    const { context } = own.service
    await own.webhooks({ dropped: true })
    const email = `${randomUUIDv7()}@example.com`
    const answer = await own.call('POST', '/membership-checkouts', { email, plan: 'monthly', classDate: '2027-01-08' })
    const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(answer.body)
    await own.pay({ checkoutUrl })
    // The run that started with the process may be asking for it already: then this is answered without asking again.
    const membership = await eventually(async () => {
      await own.refresh(`/membership-checkouts/${attemptId}`)
      return (await context.db.select().from(memberships))[0]
    })
    const [attempt] = await context.db.select().from(membershipAttempts)
    const stuck = Array.from({ length: 230 }, () => ({ id: randomUUIDv7(), key: `${randomUUIDv7()}@example.com` }))
    await context.db
      .insert(membershipAttempts)
      .values(stuck.map(({ id, key }) => ({ ...attempt!, id, emailKey: key, stripeSessionId: id })))
    await context.db.insert(memberships).values(
      stuck.map(({ id, key }, index) => ({
        ...membership,
        attemptId: id,
        emailKey: key,
        stripeSubscriptionId: `sub_stuck_${index}`,
        paidUntil: membership.activatedAt,
        nextTryAt: membership.activatedAt,
      })),
    )
    await own.fault({ kind: 'error', method: 'GET', path: '/v1/subscriptions/sub_stuck_*', times: 10_000, status: 400 })
    own.simulator.advanceClock(32 * 24 * 3600)
    // In one statement: the run that started with the process may write concurrently.
    const position = own.simulator.now() + 3600
    await context.db
      .insert(cursors)
      .values({ name: 'stripe_events', position })
      .onConflictDoUpdate({ target: cursors.name, set: { position } })
    // After an update, it comes after all the others.
    await context.db.update(memberships).set({ tries: 0 }).where(eq(memberships.attemptId, attemptId))
    await eventually(async () => {
      await reconcile(context, neverAborts).catch(() => {})
      return own.bed.bus.all(subscriptionRenewed).length === 1
    }, 30_000)
    await own.close()
  })
})
