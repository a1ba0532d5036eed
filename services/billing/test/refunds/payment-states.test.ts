import { randomUUIDv7 } from 'node:crypto'
import {
  paymentDisputed,
  paymentRefunded,
  paymentStates,
  refundDeclined,
  refundFailed,
  refundRequested,
  refundsSchema,
  type PaymentState,
} from '@robokids/contracts/billing'
import { registrationRejected, type RegistrationFacts } from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '../../src/webhooks/reconcile.ts'
import { paymentState, refundStatus } from '../../src/refunds/rules.ts'
import { runRefunds } from '../../src/refunds/run-refunds.ts'
import { checkoutAttempts, payments, refunds } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import {
  adminHeaders,
  deliveryOrders,
  codeOf,
  neverAborts,
  purchase,
  BillingFixture,
  type Answer,
  type SimEvent,
} from '../fixture.ts'

/* In its own file with its own simulator, since it advances the clock of all refunds. */

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
afterAll(() => fixture.close())

const refundPending = '4000000000007726'
const refundFails = '4000000000005126'
const of = (registrationId: string) => (data: { registrationId: string | null }) =>
  data.registrationId === registrationId

const ask = (body: Record<string, unknown>): Promise<Answer> =>
  fixture.call('POST', '/refunds', { refundId: randomUUIDv7(), ...body }, adminHeaders)

async function sold(card?: string) {
  const facts = purchase()
  const { payment } = await fixture.sell(facts, card)
  if (!payment) throw new Error('It is not paid.')
  const { latest_charge } = await fixture.stripe.paymentIntents.retrieve(payment.stripePaymentIntentId)
  return { facts, registrationId: facts.registrationId, payment, charge: idOf(latest_charge) ?? '' }
}

/** Makes a refund fail at the bank before its first webhook is delivered; finds it in Stripe's events. */
async function failUnheard(intentId: string, request: () => Promise<unknown>): Promise<void> {
  const made = async () => {
    const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
    const ofIntent = ({ object }: SimEvent['data']) => 'payment_intent' in object && object.payment_intent === intentId
    return events.filter(({ type, data }) => type === 'refund.created' && ofIntent(data))
  }
  const before = (await made()).length
  for (const method of ['GET', 'POST'])
    await fixture.fault({ kind: 'reset', method, path: '/v1/refunds', times: 100, when: 'after' })
  await request()
  await eventually(async () => (await made()).length > before)
  fixture.simulator.advanceClock(2 * 3600)
  await fixture.sim('DELETE', '/faults')
  // After several attempts, the next one is far away.
  const { context } = fixture.service
  await context.db.update(refunds).set({ nextTryAt: context.clock.now() }).where(eq(refunds.status, 'pending'))
  await runRefunds(context, neverAborts)
}

async function stateOf(registrationId: string) {
  const { payment } = await fixture.read(registrationId)
  return [payment?.state, payment?.owed]
}

async function rejected(facts: RegistrationFacts, differences: { duplicateOf?: string } = {}) {
  const { payment } = await fixture.read(facts.registrationId)
  const { paymentId, receiptNumber, amount, currency } = payment!
  await bed.bus.publish(registrationRejected, facts.registrationId, {
    ...facts,
    payment: { paymentId, receiptNumber, amount, currency },
    reason: 'class_full',
    ...differences,
  })
}

describe('a refund', () => {
  it('is published before Stripe is called, for any reason', async () => {
    const { facts, registrationId, payment } = await sold(refundPending)
    await fixture.refunded(registrationId, 10_000)
    await rejected(facts)
    await eventually(() => bed.bus.all(refundRequested, of(registrationId)).length === 2)
    expect(bed.bus.all(refundRequested, of(registrationId)).map(({ data }) => data)).toMatchObject([
      {
        paymentId: payment.paymentId,
        registrationId,
        orderId: null,
        membershipId: null,
        amount: 10_000,
        underWayTotal: 10_000,
        paidAmount: 40_000,
      },
      { reason: 'seat_gone', amount: 30_000, underWayTotal: 40_000, paidAmount: 40_000 },
    ])
    await eventually(async () => (await stateOf(registrationId))[0] === 'refund_under_way')
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toEqual([])
  })

  it('is published as requested if it was made in the dashboard', async () => {
    const { registrationId, payment } = await sold()
    await fixture.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId, amount: 100 })
    const { data } = await bed.bus.seen(refundRequested, of(registrationId))
    expect(data).toMatchObject({ amount: 100, underWayTotal: 100, reason: 'requested' })
    await bed.bus.seen(paymentRefunded, of(registrationId))
  })

  it('is published as declined if Stripe rejects it, and the amount is refundable again', async () => {
    const { registrationId, charge } = await sold()
    await fixture.sim('POST', `/charges/${charge}/dispute`)
    const answer = await ask({ registrationId })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'refund_not_possible'])
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId))
    expect(data).toMatchObject({ amount: 40_000, underWayTotal: 0, paidAmount: 40_000 })
    expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(1)
    expect(await stateOf(registrationId)).toEqual(['disputed', 0])
  })

  it('is published as declined only after the refund in the dashboard that caused it was recorded', async () => {
    const { registrationId, payment } = await sold()
    await fixture.webhooks({ dropped: true })
    await fixture.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId })
    expect((await ask({ registrationId })).status).toBe(409)
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId))
    // The refund never looked finished in between.
    expect(data.underWayTotal).toBe(40_000)
    await bed.bus.seen(paymentRefunded, of(registrationId))
  })

  it.each([false, true])(
    'is of the rest if it is automatic and a part was refunded in the dashboard (known before: %s)',
    async (known) => {
      const { facts, registrationId, payment } = await sold()
      if (!known) await fixture.webhooks({ dropped: true })
      await fixture.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId, amount: 10_000 })
      if (known) await bed.bus.seen(paymentRefunded, of(registrationId))
      await rejected(facts)
      const back = await bed.bus.seen(
        paymentRefunded,
        (one) => one.registrationId === registrationId && one.whole === true,
      )
      expect(back.data).toMatchObject({ reason: 'seat_gone', amount: 30_000, refundedTotal: 40_000 })
      expect(await stateOf(registrationId)).toEqual(['refunded', 0])
      const declined = bed.bus.all(refundDeclined, of(registrationId)).map(({ data }) => data)
      expect(declined).toMatchObject(known ? [] : [{ amount: 40_000, underWayTotal: 10_000, retried: true }])
      expect(bed.bus.all(refundFailed, of(registrationId))).toEqual([])
    },
  )

  it('is published only as declined if it fails at the bank before it was announced', async () => {
    const { registrationId, payment } = await sold(refundFails)
    await fixture.webhooks({ dropped: true })
    await fixture.fault({ kind: 'reset', method: 'POST', path: '/v1/refunds', times: 6, when: 'after' })
    const refundId = randomUUIDv7()
    await ask({ registrationId, refundId })
    fixture.simulator.advanceClock(2 * 3600)
    await fixture.sim('DELETE', '/faults')
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId), 30_000)
    expect(data).toMatchObject({ refundId, paymentId: payment.paymentId, underWayTotal: 0 })
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toEqual([])
    expect(bed.bus.all(refundFailed, of(registrationId))).toEqual([])
    expect(await stateOf(registrationId)).toEqual(['paid', 0])
  })

  it('is published once as failed if it is automatic and fails before it was announced', async () => {
    const { facts, registrationId, payment } = await sold(refundFails)
    await fixture.webhooks({ dropped: true })
    await failUnheard(payment.stripePaymentIntentId, () => rejected(facts))
    const { data } = await bed.bus.seen(refundFailed, of(registrationId), 30_000)
    const published = { paymentId: payment.paymentId, reason: 'seat_gone', untold: true, underWayTotal: 0 }
    expect(data).toMatchObject({ ...published, paidAmount: 40_000, purchase: facts })

    // The operator retries and Stripe declines again: that is reported to the operator only.
    await failUnheard(payment.stripePaymentIntentId, () => ask({ registrationId }))
    await bed.bus.seen(refundDeclined, of(registrationId), 30_000)
    expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toEqual([])

    // Nothing had been announced, so this is no replacement.
    await fixture.refunded(registrationId)
    const back = await bed.bus.seen(paymentRefunded, of(registrationId))
    expect(back.data).toMatchObject({ reason: 'seat_gone', amount: 40_000, whole: true })
    expect(back.data.again).toBeUndefined()
  })
})

describe('a refund that fails at the bank', () => {
  it('leaves the purchase cancelled, with the refund due', async () => {
    const { registrationId } = await sold(refundFails)
    await fixture.refunded(registrationId)
    fixture.simulator.advanceClock(2 * 3600)
    const failed = await bed.bus.seen(refundFailed, of(registrationId))
    expect(failed.data).toMatchObject({ underWayTotal: 0, paidAmount: 40_000 })
    expect(await stateOf(registrationId)).toEqual(['refund_failed', 40_000])
  })

  it('can be replaced in parts, each published as a replacement, and the last one as complete', async () => {
    const { registrationId } = await sold(refundFails)
    await fixture.refunded(registrationId, 30_000)
    fixture.simulator.advanceClock(2 * 3600)
    await bed.bus.seen(refundFailed, of(registrationId))
    expect(await stateOf(registrationId)).toEqual(['paid', 30_000])
    await fixture.refunded(registrationId, 10_000)
    expect(await stateOf(registrationId)).toEqual(['paid', 20_000])
    await fixture.refunded(registrationId, 30_000)
    await eventually(() => bed.bus.all(paymentRefunded, of(registrationId)).length === 3)
    const published = bed.bus
      .all(paymentRefunded, of(registrationId))
      .map(({ data: { amount, refundedTotal, again, whole } }) => [amount, refundedTotal, again, whole])
    expect(published).toEqual([
      [30_000, 30_000, undefined, undefined],
      // A part of the failed thirty.
      [10_000, 10_000, true, undefined],
      // Twenty of them replace the rest of it; ten are new, and nothing is left.
      [30_000, 40_000, undefined, true],
    ])
    expect(await stateOf(registrationId)).toEqual(['refunded', 0])
  })

  it('can be repeated until one succeeds', async () => {
    const { registrationId } = await sold(refundFails)
    for (const round of [1, 2]) {
      await fixture.refunded(registrationId)
      fixture.simulator.advanceClock(2 * 3600)
      await eventually(() => bed.bus.all(refundFailed, of(registrationId)).length === round)
      expect(await stateOf(registrationId)).toEqual(['refund_failed', 40_000])
    }
    await fixture.refunded(registrationId)
    await eventually(() => bed.bus.all(paymentRefunded, of(registrationId)).length === 3)
    const published = bed.bus
      .all(paymentRefunded, of(registrationId))
      .map(({ data: { again, whole } }) => [again, whole])
    expect(published).toEqual([
      [undefined, true],
      [true, true],
      [true, true],
    ])
    expect(await stateOf(registrationId)).toEqual(['refunded', 0])
  })
})

describe('a rejected payment whose refund failed', () => {
  it.each(['duplicate', 'amount_mismatch'] as const)(
    'is listed with the reason %s, and refunded by its id',
    async (reason) => {
      const facts = purchase()
      const checkout = await fixture.checkout(facts)
      const { db } = fixture.service.context
      const ofThis = eq(checkoutAttempts.purchaseId, facts.registrationId)
      if (reason === 'duplicate') {
        await db.update(checkoutAttempts).set({ status: 'failed' }).where(ofThis)
        await fixture.sell(facts)
      } else await db.update(checkoutAttempts).set({ amount: 1 }).where(ofThis)
      await fixture.pay(checkout, refundFails)
      const first = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
      expect(first.data.reason).toBe(reason)
      fixture.simulator.advanceClock(2 * 3600)
      await bed.bus.seen(refundFailed, of(facts.registrationId))

      const answer = await fixture.call('GET', '/refunds?status=failed', undefined, adminHeaders)
      const failed = refundsSchema
        .parse(answer.body)
        .refunds.find(({ registrationId }) => registrationId === facts.registrationId)
      expect(failed).toMatchObject({
        reason,
        status: 'failed',
        amount: 40_000,
        left: 40_000,
        email: facts.email,
        receiptNumber: null,
        paymentId: first.data.paymentId,
      })
      const { paymentId } = first.data
      const part = await ask({ paymentId, amount: 15_000 })
      expect(part).toMatchObject({ status: 200, body: { amount: 15_000 } })
      expect(await ask({ paymentId })).toMatchObject({ status: 200, body: { amount: 25_000 } })
      await eventually(() => bed.bus.all(paymentRefunded, of(facts.registrationId)).length === 3)
      const published = bed.bus
        .all(paymentRefunded, of(facts.registrationId))
        .map(({ data }) => [data.reason, data.again, data.whole])
      // The same money for the same reason: no second cancellation is published.
      expect(published).toEqual([
        [reason, undefined, true],
        [reason, true, undefined],
        [reason, true, true],
      ])
      expect(codeOf(await ask({ paymentId }))).toBe('refund_not_possible')
    },
  )

  it('is refunded by its id, and only with a single selector', async () => {
    expect(codeOf(await ask({ paymentId: randomUUIDv7() }))).toBe('payment_not_found')
    expect((await ask({ paymentId: randomUUIDv7(), registrationId: randomUUIDv7() })).status).toBe(400)
    expect((await ask({ paymentId: 'x' })).status).toBe(400)
    expect((await fixture.call('GET', '/refunds')).status).toBe(401)
    expect((await fixture.call('GET', '/refunds?status=gone', undefined, adminHeaders)).status).toBe(400)
  })
})

describe('an automatic refund of a disputed payment', () => {
  it('is published once as failed, made once the dispute is won, and not made if it is lost', async () => {
    for (const outcome of ['won', 'lost']) {
      const { facts, registrationId, charge } = await sold()
      const { id } = (await fixture.sim('POST', `/charges/${charge}/dispute`)) as { id: string }
      await rejected(facts)
      const { data: published } = await bed.bus.seen(refundFailed, of(registrationId))
      expect(published).toMatchObject({ reason: 'seat_gone', untold: true, disputed: true, underWayTotal: 0 })
      await fixture.sim('POST', `/disputes/${id}/close`, { outcome })
      await bed.bus.seen(paymentDisputed, (one) => one.disputeId === id && one.status === outcome)
      if (outcome === 'lost') {
        await fixture.simulator.deliveriesIdle()
        expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
        expect(await stateOf(registrationId)).toEqual(['lost', 0])
        expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(1)
        continue
      }
      const { data } = await bed.bus.seen(paymentRefunded, of(registrationId))
      expect(data).toMatchObject({ reason: 'seat_gone', amount: 40_000, whole: true })
      await rejected(facts)
      await fixture.deliver(fixture.event('charge.dispute.closed', id))
      expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(2)
      expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
      expect(await stateOf(registrationId)).toEqual(['refunded', 0])
    }
  })
})

describe('a duplicate registration', () => {
  it('is refunded once as a duplicate, however often the event arrives', async () => {
    const { facts, registrationId } = await sold()
    await rejected(facts, { duplicateOf: randomUUIDv7() })
    await rejected(facts, { duplicateOf: randomUUIDv7() })
    const { data } = await bed.bus.seen(paymentRefunded, of(registrationId))
    expect(data).toMatchObject({ reason: 'duplicate', amount: 40_000, whole: true })
    const marker = await sold()
    await rejected(marker.facts)
    await bed.bus.seen(paymentRefunded, of(marker.registrationId))
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toHaveLength(1)
  })
})

/** Actions of operators, cardholders and banks on a payment of $400. */
type Act =
  | { do: 'refund'; amount: number; byUs: boolean }
  | { do: 'dispute'; inquiry: boolean }
  | { do: 'close'; outcome: 'won' | 'lost' }
  | { do: 'wait' }

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('refund' as const),
      amount: fc.constantFrom(10_000, 30_000, 40_000),
      byUs: fc.boolean(),
    }),
    fc.record({ do: fc.constant('dispute' as const), inquiry: fc.boolean() }),
    fc.record({ do: fc.constant('close' as const), outcome: fc.constantFrom('won', 'lost') }),
    fc.record({ do: fc.constant('wait' as const) }),
  ),
  { minLength: 2, maxLength: 7 },
)

const whole = { do: 'refund', amount: 40_000, byUs: true } as const
const dispute = { do: 'dispute', inquiry: false } as const
/** One run per state. */
const stories: [card: string | undefined, acts: Act[]][] = [
  [undefined, []],
  [refundPending, [whole]],
  [undefined, [whole]],
  [refundFails, [whole, { do: 'wait' }]],
  [undefined, [dispute]],
  [undefined, [dispute, { do: 'close', outcome: 'won' }]],
  [undefined, [dispute, { do: 'close', outcome: 'lost' }]],
]

describe('refunds and disputes of one payment', { timeout: 240_000 }, () => {
  it('reach the same state under duplicated, reordered and lost webhooks', async () => {
    const seen = new Set<PaymentState>()
    const { context } = fixture.service
    const some = fc.sample(fc.tuple(fc.constantFrom(undefined, refundPending, refundFails), acts), 30)
    const all = [...stories, ...some]
    for (const [index, arrival] of fc.sample(deliveryOrders, all.length).entries()) {
      const [card, run] = all[index] ?? [undefined, []]
      await fixture.webhooks({ dropped: true })
      const { registrationId, payment, charge } = await sold(card)
      const { stripePaymentIntentId: payment_intent, paymentId } = payment
      for (const act of run) {
        if (act.do === 'wait') fixture.simulator.advanceClock(2 * 3600)
        // Rejected if it is disputed or nothing is left, which is expected.
        else if (act.do === 'refund' && act.byUs) await ask({ registrationId, amount: act.amount })
        else if (act.do === 'refund')
          await fixture.stripe.refunds.create({ payment_intent, amount: act.amount }).catch(() => {})
        else if (act.do === 'dispute')
          await fixture.sim('POST', `/charges/${charge}/dispute`, { inquiry: act.inquiry }).catch(() => {})
        else {
          const [open] = (await fixture.stripe.disputes.list({ payment_intent })).data
          const outcome = open?.status.startsWith('warning')
            ? 'warning_closed'
            : act.outcome === 'lost'
              ? 'lost'
              : 'won'
          if (open) await fixture.sim('POST', `/disputes/${open.id}/close`, { outcome }).catch(() => {})
        }
      }
      const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
      const about = events.filter(({ data }) => JSON.stringify(data).includes(payment_intent))
      const statuses = await fixture.deliverInOrder(about, arrival)
      expect(statuses).toEqual(statuses.map(() => 200))
      await runRefunds(context, neverAborts).catch(() => {})
      await reconcile(context, neverAborts)

      // By the final state at Stripe.
      const [back, disputed] = await Promise.all([
        fixture.stripe.refunds.list({ payment_intent, limit: 100 }),
        fixture.stripe.disputes.list({ payment_intent, limit: 100 }),
      ])
      const made = back.data.map(({ amount, status }) => ({
        amount,
        status: refundStatus(status),
      }))
      await eventually(async () => {
        const [row] = await context.db.select().from(payments).where(eq(payments.id, paymentId))
        const published = bed.bus.all(paymentRefunded, of(registrationId))
        // A purchase is cancelled if a full refund was published, and that was published once.
        const isOver = published.some(({ data }) => data.whole === true)
        expect(row?.returnedAt !== null).toBe(isOver)
        const expected = paymentState(
          { amount: 40_000, returnedAt: isOver ? Temporal.Now.instant() : null },
          made,
          disputed.data,
        )
        const checkout = await fixture.read(registrationId)
        const story = JSON.stringify({ card, run, arrival: arrival.lost })
        expect([story, checkout.payment?.state]).toEqual([story, expected])
        const succeeded = checkout.refunds.filter(({ status }) => status === 'succeeded')
        expect(succeeded.every(({ refundId }) => published.some(({ data }) => data.refundId === refundId))).toBe(true)
        expect(new Set(published.map(({ data }) => data.refundId)).size).toBe(published.length)
        // Published refunds less published failures are what was refunded.
        const failed = bed.bus.all(refundFailed, of(registrationId))
        const sum = (list: { data: { amount: number } }[]) => list.reduce((all, { data }) => all + data.amount, 0)
        expect(sum(published) - sum(failed)).toBe(succeeded.reduce((all, { amount }) => all + amount, 0))
        const declined = new Set(bed.bus.all(refundDeclined, of(registrationId)).map(({ data }) => data.refundId))
        for (const { refundId, status } of checkout.refunds)
          if (status === 'failed' && !failed.some(({ data }) => data.refundId === refundId))
            expect(declined.has(refundId)).toBe(true)
        for (const dispute of disputed.data)
          expect(bed.bus.all(paymentDisputed, (one) => one.disputeId === dispute.id).at(-1)?.data.status).toBe(
            dispute.status,
          )
        seen.add(expected)
        return true
      })
    }
    expect(paymentStates.filter((state) => !seen.has(state))).toEqual([])
    const books = await fixture.call('POST', '/admin/reconcile', undefined, adminHeaders)
    expect(books.body).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  })
})
