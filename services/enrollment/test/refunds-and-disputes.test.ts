import { randomUUIDv7 } from 'node:crypto'
import {
  paymentDisputed,
  paymentRefunded,
  refundDeclined,
  refundFailed,
  refundRequested,
} from '@robokids/contracts/billing'
import {
  kitShipped,
  registrationCancelled,
  registrationFactsSchema,
  registrationPageSchema,
  type Registration,
} from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import type { CloudEvent } from '@robokids/contracts/event'
import { newEvent } from '@robokids/runtime/outbox'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/iso-time.ts'
import { adminHeaders, codeOf, startEnrollment, type Answer, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

const paidAmount = 40_000

/** The events of one refund of a registration's payment. */
function refundOf(registration: Registration, amount = paidAmount, refundedTotal = amount) {
  const { registrationId } = registration
  const [refundId, paymentId] = [randomUUIDv7(), registration.payment?.paymentId ?? '']
  const facts = { refundId, paymentId, registrationId, amount, currency: 'usd' as const, reason: 'requested' as const }
  const pendingRefund = { ...facts, orderId: null, membershipId: null, paidAmount }
  const purchase = registrationFactsSchema.parse(registration)
  return {
    requested: newEvent(refundRequested, paymentId, { ...pendingRefund, underWayTotal: refundedTotal }),
    declined: newEvent(refundDeclined, paymentId, { ...pendingRefund, underWayTotal: refundedTotal - amount }),
    refunded: newEvent(paymentRefunded, registrationId, {
      ...facts,
      refundedTotal,
      paidAmount,
      whole: refundedTotal >= paidAmount,
      purchase,
    }),
    failed: newEvent(refundFailed, registrationId, { ...facts, purchase }),
  }
}

function disputeOf({ registrationId, payment, email }: Registration, disputeId = `dp_${randomUUIDv7()}`) {
  return (status: string) =>
    newEvent(paymentDisputed, disputeId, {
      disputeId,
      amount: paidAmount,
      currency: 'usd',
      reason: 'fraudulent',
      status,
      answerBy: null,
      openedAt: isoTime(Temporal.Now.instant()),
      paymentId: payment?.paymentId ?? null,
      registrationId,
      membershipId: null,
      orderId: null,
      email,
    })
}

async function deliver(...events: CloudEvent[]): Promise<void> {
  for (const event of events) await fixture.redeliver(event)
}

const enroll = async () => fixture.enroll(await fixture.session())

async function enrollAndSign(): Promise<Registration> {
  const registration = await enroll()
  expect((await fixture.sign(registration)).status).toBe(200)
  return fixture.read(registration.registrationId)
}

const shipment = { carrier: 'UPS', trackingNumber: '1Z 999' }
const ship = ({ registrationId }: Registration) =>
  fixture.call('POST', `/kits/${registrationId}/ship`, shipment, adminHeaders)

function refusal(answer: Answer): [number, string, string] {
  return [answer.status, codeOf(answer), errorBodySchema.parse(answer.body).message]
}

describe('a full refund in progress', () => {
  it('blocks signing and shipping, with the reason in the response', async () => {
    const [unsigned, signed] = [await enroll(), await enrollAndSign()]
    await deliver(refundOf(unsigned).requested, refundOf(signed).requested)
    expect(refusal(await fixture.sign(unsigned))).toEqual([
      409,
      'registration_not_paid',
      'The payment for this registration is being refunded, so the waiver cannot be signed.',
    ])
    expect(refusal(await ship(signed))).toEqual([
      409,
      'kit_not_ready',
      'The payment for this registration is being refunded, so its kit cannot be shipped.',
    ])
    expect(await fixture.read(signed.registrationId)).toMatchObject({
      status: 'waiver_signed',
      kit: null,
      payment: { state: 'refund_under_way' },
    })
    expect((await fixture.read(unsigned.registrationId)).status).toBe('confirmed')
    // Repeating a signature still succeeds.
    expect((await fixture.sign(signed)).status).toBe(200)
  })

  it('changes nothing if it is declined', async () => {
    const [unsigned, signed] = [await enroll(), await enrollAndSign()]
    for (const one of [unsigned, signed]) {
      const { requested, declined } = refundOf(one)
      await deliver(requested, declined)
      expect(await fixture.read(one.registrationId)).toEqual(one)
    }
    expect((await fixture.sign(unsigned)).status).toBe(200)
    expect((await ship(signed)).status).toBe(200)
  })

  it('in parts blocks shipping only when the parts add up to the whole payment', async () => {
    const signed = await enrollAndSign()
    const [some, rest] = [refundOf(signed, 30_000), refundOf(signed, 10_000, 40_000)]
    await deliver(some.requested)
    expect(await fixture.read(signed.registrationId)).toMatchObject({
      kit: { status: 'ready' },
      payment: { state: 'paid' },
    })
    await deliver(rest.requested)
    expect(refusal(await ship(signed))[1]).toBe('kit_not_ready')
    await deliver(some.refunded, rest.declined)
    expect((await ship(signed)).status).toBe(200)
  })

  it('of a second payment changes nothing', async () => {
    const signed = await enrollAndSign()
    const second = (await fixture.pay(signed.registrationId)).data
    await deliver(refundOf({ ...signed, payment: { ...second, currency: 'usd' } }).requested)
    expect((await ship(signed)).status).toBe(200)
  })
})

describe('a cancelled registration', () => {
  it('stays cancelled when the bank returns its refund, and shows the refund as failed', async () => {
    const signed = await enrollAndSign()
    const { requested, refunded, failed } = refundOf(signed)
    await deliver(requested, refunded, failed)
    expect(await fixture.read(signed.registrationId)).toMatchObject({
      status: 'cancelled',
      kit: null,
      payment: { state: 'refund_failed' },
    })
    expect(refusal(await ship(signed)).slice(0, 2)).toEqual([409, 'kit_not_ready'])
    expect(refusal(await fixture.sign(signed)).slice(0, 2)).toEqual([409, 'registration_not_paid'])
    expect(await fixture.publishedEvents(registrationCancelled, signed.registrationId)).toHaveLength(1)
  })

  it('shows a shipped kit, but not one that was only ready', async () => {
    const [ready, shipped] = [await enrollAndSign(), await enrollAndSign()]
    await ship(shipped)
    await deliver(refundOf(ready).refunded, refundOf(shipped).refunded)
    const find = async ({ registrationId, email }: Registration) => {
      const { body } = await fixture.call('GET', `/registrations?email=${email}&limit=500`, undefined, adminHeaders)
      return registrationPageSchema.parse(body).registrations.find((one) => one.registrationId === registrationId)
    }
    expect(await find(ready)).toMatchObject({ status: 'cancelled', kit: null, payment: { state: 'refunded' } })
    expect(await find(shipped)).toMatchObject({ status: 'cancelled', kit: { status: 'shipped' } })
  })
})

describe('a disputed payment', () => {
  it.each([
    ['needs_response', 'disputed', 'is disputed with the bank'],
    ['under_review', 'disputed', 'is disputed with the bank'],
    ['warning_needs_response', 'disputed', 'is disputed with the bank'],
    ['lost', 'lost', 'was returned after a dispute with the bank'],
  ])('that is %s blocks the waiver and the kit', async (status, state, text) => {
    const [unsigned, signed] = [await enroll(), await enrollAndSign()]
    await deliver(disputeOf(unsigned)(status), disputeOf(signed)(status))
    const answers = [refusal(await fixture.sign(unsigned)), refusal(await ship(signed))]
    expect(answers.map(([code, name]) => [code, name])).toEqual([
      [409, 'registration_not_paid'],
      [409, 'kit_not_ready'],
    ])
    for (const [, , message] of answers) expect(message).toContain(text)
    expect(await fixture.read(signed.registrationId)).toMatchObject({ kit: null, payment: { state } })
    expect(await fixture.publishedEvents(kitShipped, signed.registrationId)).toEqual([])
  })

  it.each(['won', 'warning_closed', 'prevented'])('that ends as %s changes nothing', async (status) => {
    const signed = await enrollAndSign()
    const dispute = disputeOf(signed)
    await deliver(dispute('needs_response'), dispute(status))
    expect(await fixture.read(signed.registrationId)).toMatchObject({
      kit: { status: 'ready' },
      payment: { state: 'won' },
    })
    expect((await ship(signed)).status).toBe(200)
  })
})

describe('refund and dispute events', () => {
  const dispute = fc.constantFrom(
    [],
    ['needs_response'],
    ['needs_response', 'won'],
    ['needs_response', 'under_review', 'lost'],
  )
  const refund = fc.constantFrom(
    ['requested'] as const,
    ['requested', 'declined'] as const,
    ['requested', 'refunded'] as const,
    ['requested', 'refunded', 'failed'] as const,
  )
  const story = fc.record({
    first: refund,
    /** Requested if the first one failed. */
    second: refund,
    dispute,
    order: fc.array(fc.nat(), { minLength: 9, maxLength: 9 }),
    again: fc.array(fc.nat(8), { maxLength: 3 }),
    atOnce: fc.boolean(),
  })

  it('have the same outcome in any order, concurrently and with repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ first, second, dispute: statuses, order, again, atOnce }) => {
        const ends = []
        for (const inOrder of [true, false]) {
          const signed = await enrollAndSign()
          const disputeEvent = disputeOf(signed)
          const [one, two] = [refundOf(signed), refundOf(signed)]
          const isOver = first.at(-1) === 'declined' || first.at(-1) === 'failed'
          const events: CloudEvent[] = [
            ...first.map((name) => one[name]),
            ...(isOver ? second.map((name) => two[name]) : []),
            ...statuses.map((status) => disputeEvent(status)),
          ]
          const shuffled = [...events.keys()].toSorted((a, b) => (order[a] ?? 0) - (order[b] ?? 0))
          const sent = inOrder ? events : [...shuffled, ...again].flatMap((index) => events[index] ?? [])
          if (atOnce && !inOrder) await Promise.all(sent.map((event) => fixture.redeliver(event)))
          else await deliver(...sent)
          const { registrationId, classSessionId } = signed
          const { status, kit, payment } = await fixture.read(registrationId)
          const isCancelled = status === 'cancelled'
          expect(await fixture.publishedEvents(registrationCancelled, registrationId)).toHaveLength(isCancelled ? 1 : 0)
          expect(await fixture.counts(classSessionId)).toMatchObject({ held: 0, sold: isCancelled ? 0 : 1 })
          ends.push({ status, kit, state: payment?.state, shipped: (await ship(signed)).status })
        }
        expect(ends[1]).toEqual(ends[0])
      }),
      { numRuns: 30 },
    )
  })
})
