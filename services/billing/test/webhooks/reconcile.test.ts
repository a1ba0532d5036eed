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
import { cards, neverAborts, purchase, sessionIdOf, Till } from '../till.ts'

let bed: TestBed
let till: Till

beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed, { env: { RECONCILE_EVERY_MS: '300' } })
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
})
afterAll(async () => {
  await till.close()
})

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

async function counted(metric: string): Promise<number> {
  const metrics = await (await fetch(`${till.service.url}/metrics`)).text()
  const line = metrics.split('\n').find((one) => one.startsWith(`${metric} `))
  return Number(line?.slice(metric.length) ?? 0)
}

/** Spoils how a dispute is learnt. @returns what mends it. */
async function failAtProvider() {
  await till.fault({ kind: 'error', method: 'GET', path: '/v1/disputes/*', times: 10_000, status: 500 })
  return () => till.sim('DELETE', '/faults')
}

async function failInDatabase() {
  const { db } = till.service.context
  await db.execute(sql`
    create function too_much() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'numeric_value_out_of_range', message = 'out of range'; end $$`)
  await db.execute(sql`create trigger too_much before insert on disputes for each row execute function too_much()`)
  return () => db.execute(sql`drop trigger too_much on disputes`)
}

describe('reconciling', () => {
  it('finds payments, declines, expiries and refunds that no webhook ever told of', async () => {
    await till.webhooks({ dropped: true })
    const [paid, expired, declined] = [purchase(), purchase(), purchase()]
    await till.pay(await till.checkout(paid))
    await till.sim('POST', `/checkout/${sessionIdOf(await till.checkout(expired))}/expire`)
    await till.pay(await till.checkout(declined), cards.poor)
    await bed.bus.seen(paymentCompleted, of(paid.registrationId))
    await bed.bus.seen(checkoutExpired, of(expired.registrationId))
    await bed.bus.seen(paymentFailed, of(declined.registrationId))
    expect(await till.read(declined.registrationId)).toMatchObject({
      status: 'open',
      lastDecline: 'Your card has insufficient funds.',
    })

    const { payment } = await till.read(paid.registrationId)
    await till.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId })
    const refunded = await bed.bus.seen(paymentRefunded, of(paid.registrationId))
    expect(refunded.data).toMatchObject({ refundedTotal: 40_000 })
    await till.webhooks({})
  })

  it('finds the outcome of a refund that was on its way', async () => {
    await till.webhooks({ dropped: true })
    const facts = purchase()
    await till.sell(facts, '4000000000007726')
    expect(await till.refunded(facts.registrationId)).toMatchObject({ status: 'pending' })
    till.simulator.advanceClock(2 * 3600)
    await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    await till.webhooks({})
  })

  it('makes up for webhooks that were all refused', async () => {
    const refusing = await Till.apart({ env: { STRIPE_WEBHOOK_SECRETS: 'whsec_wrong', RECONCILE_EVERY_MS: '300' } })
    const facts = purchase()
    await refusing.pay(await refusing.checkout(facts))
    await refusing.bed.bus.seen(paymentCompleted, of(facts.registrationId))
    await refusing.close()
  })

  it('settles an attempt whose making was cut off, without a second session', async () => {
    const facts = purchase()
    const { attemptId } = await till.checkout(facts)
    await till.service.context.db
      .update(checkoutAttempts)
      .set({ status: 'creating', stripeSessionId: null, checkoutUrl: null })
      .where(eq(checkoutAttempts.id, attemptId))
    await eventually(async () => (await till.read(facts.registrationId)).status === 'open')
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('gives up an attempt that was never executed and is too old', async () => {
    const facts = purchase()
    await till.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 3,
      when: 'before',
      status: 503,
    })
    await till.call('POST', '/checkouts', { purchase: facts })
    till.simulator.advanceClock(5 * 60)
    await eventually(async () => (await till.read(facts.registrationId)).status === 'failed')
    expect(await till.sessions(facts.registrationId)).toEqual([])
  })

  it('goes on behind an attempt that it cannot ask after', async () => {
    await till.webhooks({ dropped: true })
    const [stuck, paid] = [purchase(), purchase()]
    const first = await till.checkout(stuck)
    await till.fault({
      kind: 'error',
      method: 'GET',
      path: `/v1/checkout/sessions/${sessionIdOf(first)}`,
      times: 1_000,
      status: 500,
    })
    await till.pay(await till.checkout(paid))
    await bed.bus.seen(paymentCompleted, of(paid.registrationId))
    await till.webhooks({})
  })

  it('reads each event once, and goes on from where it stopped', async () => {
    const own = await Till.apart()
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

    // An event that cannot be handled is tried again by itself.
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
    ['the provider’s answer is an error', failAtProvider],
    ['the database cannot take what the provider says', failInDatabase],
  ])('goes on behind an event that it cannot handle because %s, and handles that once it can', async (_, spoil) => {
    await till.webhooks({ dropped: true })
    const [disputing, refunding] = [purchase(), purchase()]
    const { payment: disputed } = await till.sell(disputing)
    const { payment: refunded } = await till.sell(refunding)
    const { latest_charge: charge } = await till.stripe.paymentIntents.retrieve(disputed!.stripePaymentIntentId)
    const isDisputed = ({ registrationId }: { registrationId: string | null }) =>
      registrationId === disputing.registrationId
    const failures = await counted('job_runs_total{job="reconcile",outcome="failed"}')

    const repair = await spoil()
    await till.sim('POST', `/charges/${idOf(charge)}/dispute`)
    await till.stripe.refunds.create({ payment_intent: refunded!.stripePaymentIntentId })
    await bed.bus.seen(paymentRefunded, of(refunding.registrationId))
    expect(bed.bus.all(paymentDisputed, isDisputed)).toEqual([])
    await eventually(async () => (await counted('job_runs_total{job="reconcile",outcome="failed"}')) > failures)
    expect(await counted('stripe_events_failed')).toBeGreaterThan(0)

    await repair()
    await bed.bus.seen(paymentDisputed, isDisputed, 20_000)
    await eventually(async () => (await counted('stripe_events_failed')) === 0, 20_000)
    expect(bed.bus.all(paymentDisputed, isDisputed)).toHaveLength(1)
    await till.webhooks({})
  })

  it('does all else where one part of it fails, and says that it failed', async () => {
    const own = await Till.apart()
    const { context } = own.service
    await own.webhooks({ dropped: true })
    const facts = purchase()
    const { payment } = await own.sell(facts)
    const refund = await own.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId, amount: 100 })
    await own.deliver(own.event('refund.created', refund.id))
    const expired = Temporal.Now.instant().subtract({ hours: 41 * 24 })
    await context.db.insert(stripeEvents).values({ id: 'evt_old', type: 'x', objectId: 'x', handledAt: expired })
    await own.fault({ kind: 'error', method: 'GET', path: '/v1/events', times: 1_000, status: 500 })
    await expect(reconcile(context, neverAborts)).rejects.toThrow('Not all was reconciled: events.')
    expect(await context.db.$count(ledgerTransactions)).toBe(2)
    expect(await context.db.select().from(stripeEvents).where(eq(stripeEvents.id, 'evt_old'))).toEqual([])
    await own.close()
  })

  it('asks after every membership in turn, however many stay as they are or cannot be asked after', async () => {
    const own = await Till.apart()
    const { context } = own.service
    await own.webhooks({ dropped: true })
    const email = `${randomUUIDv7()}@example.com`
    const answer = await own.call('POST', '/membership-checkouts', { email, plan: 'monthly', classDate: '2027-01-08' })
    const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(answer.body)
    await own.pay({ checkoutUrl })
    await own.refresh(`/membership-checkouts/${attemptId}`)
    const [attempt] = await context.db.select().from(membershipAttempts)
    const [membership] = await context.db.select().from(memberships)
    const stuck = Array.from({ length: 230 }, () => ({ id: randomUUIDv7(), key: `${randomUUIDv7()}@example.com` }))
    await context.db
      .insert(membershipAttempts)
      .values(stuck.map(({ id, key }) => ({ ...attempt!, id, emailKey: key, stripeSessionId: id })))
    await context.db.insert(memberships).values(
      stuck.map(({ id, key }, index) => ({
        ...membership!,
        attemptId: id,
        emailKey: key,
        stripeSubscriptionId: `sub_stuck_${index}`,
        paidUntil: membership!.activatedAt,
        nextTryAt: membership!.activatedAt,
      })),
    )
    await own.fault({ kind: 'error', method: 'GET', path: '/v1/subscriptions/sub_stuck_*', times: 10_000, status: 400 })
    own.simulator.advanceClock(32 * 24 * 3600)
    // In one statement: the pass that began with the process may write its own meanwhile.
    const position = own.simulator.now() + 3600
    await context.db
      .insert(cursors)
      .values({ name: 'stripe_events', position })
      .onConflictDoUpdate({ target: cursors.name, set: { position } })
    // Written anew, it is behind all the others.
    await context.db.update(memberships).set({ tries: 0 }).where(eq(memberships.attemptId, attemptId))
    await eventually(async () => {
      await reconcile(context, neverAborts).catch(() => {})
      return own.bed.bus.all(subscriptionRenewed).length === 1
    }, 30_000)
    await own.close()
  })
})
