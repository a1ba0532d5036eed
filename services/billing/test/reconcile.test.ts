import { checkoutExpired, paymentCompleted, paymentFailed, paymentRefunded } from '@robokids/contracts/billing'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '../src/reconcile.ts'
import { checkoutAttempts, cursors, stripeEvents } from '../src/schema.ts'
import { cards, purchase, sessionIdOf, Till } from './till.ts'

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
    await reconcile(context)
    const marks = () => context.db.select().from(stripeEvents)
    const handled = await marks()
    expect(handled.map(({ type }) => type)).toEqual(['checkout.session.completed'])
    await reconcile(context)
    expect(await marks()).toEqual(handled)
    const [cursor] = await context.db.select().from(cursors)
    expect(cursor?.position).toBeGreaterThan(own.simulator.now() - 60)

    // An event that cannot be handled holds the cursor where it is.
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
    await reconcile(context)
    await own.sim('DELETE', '/faults')
    expect((await own.read(next.registrationId)).status).toBe('open')
    await reconcile(context)
    expect((await own.read(next.registrationId)).status).toBe('paid')
    await own.close()
  })
})
