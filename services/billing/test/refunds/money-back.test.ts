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
import { adminHeaders, arrivals, codeOf, neverAborts, purchase, Till, type Answer, type SimEvent } from '../till.ts'

/* Its own file and simulator: the clock of all refunds is moved. */

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
afterAll(() => till.close())

const refundPending = '4000000000007726'
const refundFails = '4000000000005126'
const of = (registrationId: string) => (data: { registrationId: string | null }) =>
  data.registrationId === registrationId

const ask = (body: Record<string, unknown>): Promise<Answer> =>
  till.call('POST', '/refunds', { refundId: randomUUIDv7(), ...body }, adminHeaders)

async function sold(card?: string) {
  const facts = purchase()
  const { payment } = await till.sell(facts, card)
  if (!payment) throw new Error('It is not paid.')
  const { latest_charge } = await till.stripe.paymentIntents.retrieve(payment.stripePaymentIntentId)
  return { facts, registrationId: facts.registrationId, payment, charge: idOf(latest_charge) ?? '' }
}

/** Has the bank refuse a refund before billing hears of it: which one, the provider's events tell meanwhile. */
async function failUnheard(intentId: string, request: () => Promise<unknown>): Promise<void> {
  const made = async () => {
    const { events } = (await till.sim('GET', '/events')) as { events: SimEvent[] }
    const ofIntent = ({ object }: SimEvent['data']) => 'payment_intent' in object && object.payment_intent === intentId
    return events.filter(({ type, data }) => type === 'refund.created' && ofIntent(data))
  }
  const before = (await made()).length
  for (const method of ['GET', 'POST'])
    await till.fault({ kind: 'reset', method, path: '/v1/refunds', times: 100, when: 'after' })
  await request()
  await eventually(async () => (await made()).length > before)
  till.simulator.advanceClock(2 * 3600)
  await till.sim('DELETE', '/faults')
  // Some tries later the next one is not soon.
  const { context } = till.service
  await context.db.update(refunds).set({ nextTryAt: context.clock.now() }).where(eq(refunds.status, 'pending'))
  await runRefunds(context, neverAborts)
}

async function stateOf(registrationId: string) {
  const { payment } = await till.read(registrationId)
  return [payment?.state, payment?.owed]
}

async function rejected(facts: RegistrationFacts, differences: { duplicateOf?: string } = {}) {
  const { payment } = await till.read(facts.registrationId)
  const { paymentId, receiptNumber, amount, currency } = payment!
  await bed.bus.publish(registrationRejected, facts.registrationId, {
    ...facts,
    payment: { paymentId, receiptNumber, amount, currency },
    reason: 'class_full',
    ...differences,
  })
}

describe('a refund', () => {
  it('is published before the provider is asked, whoever wants it', async () => {
    const { facts, registrationId, payment } = await sold(refundPending)
    await till.refunded(registrationId, 10_000)
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

  it('that was made at the provider is published as asked for, too', async () => {
    const { registrationId, payment } = await sold()
    await till.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId, amount: 100 })
    const { data } = await bed.bus.seen(refundRequested, of(registrationId))
    expect(data).toMatchObject({ amount: 100, underWayTotal: 100, reason: 'requested' })
    await bed.bus.seen(paymentRefunded, of(registrationId))
  })

  it('that the provider refuses is declined, and the money is free again', async () => {
    const { registrationId, charge } = await sold()
    await till.sim('POST', `/charges/${charge}/dispute`)
    const answer = await ask({ registrationId })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'refund_not_possible'])
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId))
    expect(data).toMatchObject({ amount: 40_000, underWayTotal: 0, paidAmount: 40_000 })
    expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(1)
    expect(await stateOf(registrationId)).toEqual(['disputed', 0])
  })

  it('that the provider refuses for another one that was made there says so only once that is known', async () => {
    const { registrationId, payment } = await sold()
    await till.webhooks({ dropped: true })
    await till.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId })
    expect((await ask({ registrationId })).status).toBe(409)
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId))
    // At no time was there nothing on its way.
    expect(data.underWayTotal).toBe(40_000)
    await bed.bus.seen(paymentRefunded, of(registrationId))
  })

  it.each([false, true])(
    'of what could not be kept is of what is left where a part went back in the provider’s dashboard (known before: %s)',
    async (known) => {
      const { facts, registrationId, payment } = await sold()
      if (!known) await till.webhooks({ dropped: true })
      await till.stripe.refunds.create({ payment_intent: payment.stripePaymentIntentId, amount: 10_000 })
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

  it('that fails at the bank before anybody was told is declined, and told as nothing else', async () => {
    const { registrationId, payment } = await sold(refundFails)
    await till.webhooks({ dropped: true })
    await till.fault({ kind: 'reset', method: 'POST', path: '/v1/refunds', times: 6, when: 'after' })
    const refundId = randomUUIDv7()
    await ask({ registrationId, refundId })
    till.simulator.advanceClock(2 * 3600)
    await till.sim('DELETE', '/faults')
    const { data } = await bed.bus.seen(refundDeclined, of(registrationId), 30_000)
    expect(data).toMatchObject({ refundId, paymentId: payment.paymentId, underWayTotal: 0 })
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toEqual([])
    expect(bed.bus.all(refundFailed, of(registrationId))).toEqual([])
    expect(await stateOf(registrationId)).toEqual(['paid', 0])
  })

  it('of what could not be kept that fails before anybody was told is the first that its payer hears of it, once', async () => {
    const { facts, registrationId, payment } = await sold(refundFails)
    await till.webhooks({ dropped: true })
    await failUnheard(payment.stripePaymentIntentId, () => rejected(facts))
    const { data } = await bed.bus.seen(refundFailed, of(registrationId), 30_000)
    const told = { paymentId: payment.paymentId, reason: 'seat_gone', untold: true, underWayTotal: 0 }
    expect(data).toMatchObject({ ...told, paidAmount: 40_000, purchase: facts })

    // The operator tries once more, and the provider refuses again: that is for the operator to know.
    await failUnheard(payment.stripePaymentIntentId, () => ask({ registrationId }))
    await bed.bus.seen(refundDeclined, of(registrationId), 30_000)
    expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
    expect(bed.bus.all(paymentRefunded, of(registrationId))).toEqual([])

    // Nothing had been told to be back: it is no second time.
    await till.refunded(registrationId)
    const back = await bed.bus.seen(paymentRefunded, of(registrationId))
    expect(back.data).toMatchObject({ reason: 'seat_gone', amount: 40_000, whole: true })
    expect(back.data.again).toBeUndefined()
  })
})

describe('a refund that the bank returns', () => {
  it('leaves what was told as over as it is, with the money owed', async () => {
    const { registrationId } = await sold(refundFails)
    await till.refunded(registrationId)
    till.simulator.advanceClock(2 * 3600)
    const failed = await bed.bus.seen(refundFailed, of(registrationId))
    expect(failed.data).toMatchObject({ underWayTotal: 0, paidAmount: 40_000 })
    expect(await stateOf(registrationId)).toEqual(['refund_failed', 40_000])
  })

  it('is made good in parts: each is told for what it is, and the last one says that it is over', async () => {
    const { registrationId } = await sold(refundFails)
    await till.refunded(registrationId, 30_000)
    till.simulator.advanceClock(2 * 3600)
    await bed.bus.seen(refundFailed, of(registrationId))
    expect(await stateOf(registrationId)).toEqual(['paid', 30_000])
    await till.refunded(registrationId, 10_000)
    expect(await stateOf(registrationId)).toEqual(['paid', 20_000])
    await till.refunded(registrationId, 30_000)
    await eventually(() => bed.bus.all(paymentRefunded, of(registrationId)).length === 3)
    const told = bed.bus
      .all(paymentRefunded, of(registrationId))
      .map(({ data: { amount, refundedTotal, again, whole } }) => [amount, refundedTotal, again, whole])
    expect(told).toEqual([
      [30_000, 30_000, undefined, undefined],
      // A part of the thirty that did not arrive.
      [10_000, 10_000, true, undefined],
      // Twenty of them make good for that; ten are new, and nothing is left.
      [30_000, 40_000, undefined, true],
    ])
    expect(await stateOf(registrationId)).toEqual(['refunded', 0])
  })

  it('is sent again and again, until one arrives', async () => {
    const { registrationId } = await sold(refundFails)
    for (const round of [1, 2]) {
      await till.refunded(registrationId)
      till.simulator.advanceClock(2 * 3600)
      await eventually(() => bed.bus.all(refundFailed, of(registrationId)).length === round)
      expect(await stateOf(registrationId)).toEqual(['refund_failed', 40_000])
    }
    await till.refunded(registrationId)
    await eventually(() => bed.bus.all(paymentRefunded, of(registrationId)).length === 3)
    const told = bed.bus.all(paymentRefunded, of(registrationId)).map(({ data: { again, whole } }) => [again, whole])
    expect(told).toEqual([
      [undefined, true],
      [true, true],
      [true, true],
    ])
    expect(await stateOf(registrationId)).toEqual(['refunded', 0])
  })
})

describe('a payment that was not owed, whose refund failed', () => {
  it.each(['duplicate', 'amount_mismatch'] as const)('of a %s is listed, and given back by its id', async (reason) => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    const { db } = till.service.context
    const ofThis = eq(checkoutAttempts.purchaseId, facts.registrationId)
    if (reason === 'duplicate') {
      await db.update(checkoutAttempts).set({ status: 'failed' }).where(ofThis)
      await till.sell(facts)
    } else await db.update(checkoutAttempts).set({ amount: 1 }).where(ofThis)
    await till.pay(checkout, refundFails)
    const first = await bed.bus.seen(paymentRefunded, of(facts.registrationId))
    expect(first.data.reason).toBe(reason)
    till.simulator.advanceClock(2 * 3600)
    await bed.bus.seen(refundFailed, of(facts.registrationId))

    const answer = await till.call('GET', '/refunds?status=failed', undefined, adminHeaders)
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
    const told = bed.bus
      .all(paymentRefunded, of(facts.registrationId))
      .map(({ data }) => [data.reason, data.again, data.whole])
    // It is the same money for the same reason: nobody is told that a registration is over.
    expect(told).toEqual([
      [reason, undefined, true],
      [reason, true, undefined],
      [reason, true, true],
    ])
    expect(codeOf(await ask({ paymentId }))).toBe('refund_not_possible')
  })

  it('is not found by an id of no payment, and asked for in one way only', async () => {
    expect(codeOf(await ask({ paymentId: randomUUIDv7() }))).toBe('payment_not_found')
    expect((await ask({ paymentId: randomUUIDv7(), registrationId: randomUUIDv7() })).status).toBe(400)
    expect((await ask({ paymentId: 'x' })).status).toBe(400)
    expect((await till.call('GET', '/refunds')).status).toBe(401)
    expect((await till.call('GET', '/refunds?status=gone', undefined, adminHeaders)).status).toBe(400)
  })
})

describe('money that is owed while its payment is disputed', () => {
  it('is told of once as not kept, goes back by itself once the dispute is won, and is the bank’s to give back where it is lost', async () => {
    for (const outcome of ['won', 'lost']) {
      const { facts, registrationId, charge } = await sold()
      const { id } = (await till.sim('POST', `/charges/${charge}/dispute`)) as { id: string }
      await rejected(facts)
      const { data: told } = await bed.bus.seen(refundFailed, of(registrationId))
      expect(told).toMatchObject({ reason: 'seat_gone', untold: true, disputed: true, underWayTotal: 0 })
      await till.sim('POST', `/disputes/${id}/close`, { outcome })
      await bed.bus.seen(paymentDisputed, (one) => one.disputeId === id && one.status === outcome)
      if (outcome === 'lost') {
        await till.simulator.deliveriesIdle()
        expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
        expect(await stateOf(registrationId)).toEqual(['lost', 0])
        expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(1)
        continue
      }
      const { data } = await bed.bus.seen(paymentRefunded, of(registrationId))
      expect(data).toMatchObject({ reason: 'seat_gone', amount: 40_000, whole: true })
      await rejected(facts)
      await till.deliver(till.event('charge.dispute.closed', id))
      expect(bed.bus.all(refundRequested, of(registrationId))).toHaveLength(2)
      expect(bed.bus.all(refundFailed, of(registrationId))).toHaveLength(1)
      expect(await stateOf(registrationId)).toEqual(['refunded', 0])
    }
  })
})

describe('a registration that is paid a second time', () => {
  it('is given back as a duplicate, once, however often it is told', async () => {
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

/** What operators, cardholders and banks do to a payment of $400. */
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
/** One for each state. */
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
  it('come to the same end in whatever order, how often, or whether at all they are heard of', async () => {
    const seen = new Set<PaymentState>()
    const { context } = till.service
    const some = fc.sample(fc.tuple(fc.constantFrom(undefined, refundPending, refundFails), acts), 30)
    const all = [...stories, ...some]
    for (const [index, arrival] of fc.sample(arrivals, all.length).entries()) {
      const [card, run] = all[index] ?? [undefined, []]
      await till.webhooks({ dropped: true })
      const { registrationId, payment, charge } = await sold(card)
      const { stripePaymentIntentId: payment_intent, paymentId } = payment
      for (const act of run) {
        if (act.do === 'wait') till.simulator.advanceClock(2 * 3600)
        // Refused where it is disputed, or nothing is left: that is a part of it.
        else if (act.do === 'refund' && act.byUs) await ask({ registrationId, amount: act.amount })
        else if (act.do === 'refund')
          await till.stripe.refunds.create({ payment_intent, amount: act.amount }).catch(() => {})
        else if (act.do === 'dispute')
          await till.sim('POST', `/charges/${charge}/dispute`, { inquiry: act.inquiry }).catch(() => {})
        else {
          const [open] = (await till.stripe.disputes.list({ payment_intent })).data
          const outcome = open?.status.startsWith('warning')
            ? 'warning_closed'
            : act.outcome === 'lost'
              ? 'lost'
              : 'won'
          if (open) await till.sim('POST', `/disputes/${open.id}/close`, { outcome }).catch(() => {})
        }
      }
      const { events } = (await till.sim('GET', '/events')) as { events: SimEvent[] }
      const about = events.filter(({ data }) => JSON.stringify(data).includes(payment_intent))
      const statuses = await till.deliverAnyhow(about, arrival)
      expect(statuses).toEqual(statuses.map(() => 200))
      await runRefunds(context, neverAborts).catch(() => {})
      await reconcile(context, neverAborts)

      // As the provider says at the end.
      const [back, disputed] = await Promise.all([
        till.stripe.refunds.list({ payment_intent, limit: 100 }),
        till.stripe.disputes.list({ payment_intent, limit: 100 }),
      ])
      const made = back.data.map(({ amount, status }) => ({
        amount,
        status: refundStatus(status),
      }))
      await eventually(async () => {
        const [row] = await context.db.select().from(payments).where(eq(payments.id, paymentId))
        const told = bed.bus.all(paymentRefunded, of(registrationId))
        // Over is what was told to be over, and it was told once.
        const isOver = told.some(({ data }) => data.whole === true)
        expect(row?.returnedAt !== null).toBe(isOver)
        const expected = paymentState(
          { amount: 40_000, returnedAt: isOver ? Temporal.Now.instant() : null },
          made,
          disputed.data,
        )
        const checkout = await till.read(registrationId)
        const story = JSON.stringify({ card, run, arrival: arrival.lost })
        expect([story, checkout.payment?.state]).toEqual([story, expected])
        const succeeded = checkout.refunds.filter(({ status }) => status === 'succeeded')
        expect(succeeded.every(({ refundId }) => told.some(({ data }) => data.refundId === refundId))).toBe(true)
        expect(new Set(told.map(({ data }) => data.refundId)).size).toBe(told.length)
        // What was promised is the whole of what is known: told, less what was told to have failed, is what is back.
        const failed = bed.bus.all(refundFailed, of(registrationId))
        const sum = (list: { data: { amount: number } }[]) => list.reduce((all, { data }) => all + data.amount, 0)
        expect(sum(told) - sum(failed)).toBe(succeeded.reduce((all, { amount }) => all + amount, 0))
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
    const books = await till.call('POST', '/admin/reconcile', undefined, adminHeaders)
    expect(books.body).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  })
})
