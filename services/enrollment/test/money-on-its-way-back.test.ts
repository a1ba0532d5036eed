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
import { isoTime } from '../src/read-registrations.ts'
import { adminHeaders, codeOf, openSchool, type Answer, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterAll(() => school.bed.stop())

const paidAmount = 40_000

/** The events of one refund of a registration's payment. */
function refundOf(registration: Registration, amount = paidAmount, refundedTotal = amount) {
  const { registrationId } = registration
  const [refundId, paymentId] = [randomUUIDv7(), registration.payment?.paymentId ?? '']
  const facts = { refundId, paymentId, registrationId, amount, currency: 'usd' as const, reason: 'requested' as const }
  const underWay = { ...facts, orderId: null, membershipId: null, paidAmount }
  const purchase = registrationFactsSchema.parse(registration)
  return {
    requested: newEvent(refundRequested, paymentId, { ...underWay, underWayTotal: refundedTotal }),
    declined: newEvent(refundDeclined, paymentId, { ...underWay, underWayTotal: refundedTotal - amount }),
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

async function hear(...events: CloudEvent[]): Promise<void> {
  for (const event of events) await school.hearAgain(event)
}

const enrol = async () => school.enrol(await school.session())

async function enrolAndSign(): Promise<Registration> {
  const registration = await enrol()
  expect((await school.sign(registration)).status).toBe(200)
  return school.read(registration.registrationId)
}

const shipment = { carrier: 'UPS', trackingNumber: '1Z 999' }
const ship = ({ registrationId }: Registration) =>
  school.call('POST', `/kits/${registrationId}/ship`, shipment, adminHeaders)

function refusal(answer: Answer): [number, string, string] {
  return [answer.status, codeOf(answer), errorBodySchema.parse(answer.body).message]
}

describe('while a full refund is on its way', () => {
  it('nothing is signed and no kit is shipped, and the answer tells why', async () => {
    const [unsigned, signed] = [await enrol(), await enrolAndSign()]
    await hear(refundOf(unsigned).requested, refundOf(signed).requested)
    expect(refusal(await school.sign(unsigned))).toEqual([
      409,
      'registration_not_paid',
      'The payment of this registration is on its way back, so the waiver cannot be signed.',
    ])
    expect(refusal(await ship(signed))).toEqual([
      409,
      'kit_not_ready',
      'The payment of this registration is on its way back, so its kit cannot be shipped.',
    ])
    expect(await school.read(signed.registrationId)).toMatchObject({
      status: 'waiver_signed',
      kit: null,
      payment: { state: 'refund_under_way' },
    })
    expect((await school.read(unsigned.registrationId)).status).toBe('confirmed')
    // Who has signed is still told so.
    expect((await school.sign(signed)).status).toBe(200)
  })

  it('and is declined, all is as before', async () => {
    const [unsigned, signed] = [await enrol(), await enrolAndSign()]
    for (const one of [unsigned, signed]) {
      const { requested, declined } = refundOf(one)
      await hear(requested, declined)
      expect(await school.read(one.registrationId)).toEqual(one)
    }
    expect((await school.sign(unsigned)).status).toBe(200)
    expect((await ship(signed)).status).toBe(200)
  })

  it('in parts, it is the whole that counts', async () => {
    const signed = await enrolAndSign()
    const [some, rest] = [refundOf(signed, 30_000), refundOf(signed, 10_000, 40_000)]
    await hear(some.requested)
    expect(await school.read(signed.registrationId)).toMatchObject({
      kit: { status: 'ready' },
      payment: { state: 'paid' },
    })
    await hear(rest.requested)
    expect(refusal(await ship(signed))[1]).toBe('kit_not_ready')
    await hear(some.refunded, rest.declined)
    expect((await ship(signed)).status).toBe(200)
  })

  it('a second payment’s refund changes nothing', async () => {
    const signed = await enrolAndSign()
    const second = (await school.pay(signed.registrationId)).data
    await hear(refundOf({ ...signed, payment: { ...second, currency: 'usd' } }).requested)
    expect((await ship(signed)).status).toBe(200)
  })
})

describe('a registration that was told as cancelled', () => {
  it('stays so when the bank returns its refund, and its money is shown as owed', async () => {
    const signed = await enrolAndSign()
    const { requested, refunded, failed } = refundOf(signed)
    await hear(requested, refunded, failed)
    expect(await school.read(signed.registrationId)).toMatchObject({
      status: 'cancelled',
      kit: null,
      payment: { state: 'refund_failed' },
    })
    expect(refusal(await ship(signed)).slice(0, 2)).toEqual([409, 'kit_not_ready'])
    expect(refusal(await school.sign(signed)).slice(0, 2)).toEqual([409, 'registration_not_paid'])
    expect(await school.told(registrationCancelled, signed.registrationId)).toHaveLength(1)
  })

  it('shows a kit that was shipped, and none that was only ready', async () => {
    const [ready, shipped] = [await enrolAndSign(), await enrolAndSign()]
    await ship(shipped)
    await hear(refundOf(ready).refunded, refundOf(shipped).refunded)
    const find = async ({ registrationId, email }: Registration) => {
      const { body } = await school.call('GET', `/registrations?email=${email}&limit=500`, undefined, adminHeaders)
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
    ['lost', 'lost', 'went back after a dispute with the bank'],
  ])('that is %s keeps the waiver and the kit back', async (status, state, text) => {
    const [unsigned, signed] = [await enrol(), await enrolAndSign()]
    await hear(disputeOf(unsigned)(status), disputeOf(signed)(status))
    const answers = [refusal(await school.sign(unsigned)), refusal(await ship(signed))]
    expect(answers.map(([code, name]) => [code, name])).toEqual([
      [409, 'registration_not_paid'],
      [409, 'kit_not_ready'],
    ])
    for (const [, , message] of answers) expect(message).toContain(text)
    expect(await school.read(signed.registrationId)).toMatchObject({ kit: null, payment: { state } })
    expect(await school.told(kitShipped, signed.registrationId)).toEqual([])
  })

  it.each(['won', 'warning_closed', 'prevented'])('that is %s in the end changes nothing', async (status) => {
    const signed = await enrolAndSign()
    const dispute = disputeOf(signed)
    await hear(dispute('needs_response'), dispute(status))
    expect(await school.read(signed.registrationId)).toMatchObject({
      kit: { status: 'ready' },
      payment: { state: 'won' },
    })
    expect((await ship(signed)).status).toBe(200)
  })
})

describe('the events of money on its way back', () => {
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
    /** Asked for where the first one came to nothing. */
    second: refund,
    dispute,
    order: fc.array(fc.nat(), { minLength: 9, maxLength: 9 }),
    again: fc.array(fc.nat(8), { maxLength: 3 }),
    atOnce: fc.boolean(),
  })

  it('end the same in whatever order, together and how often they come', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ first, second, dispute: statuses, order, again, atOnce }) => {
        const ends = []
        for (const inOrder of [true, false]) {
          const signed = await enrolAndSign()
          const toldOf = disputeOf(signed)
          const [one, two] = [refundOf(signed), refundOf(signed)]
          const isOver = first.at(-1) === 'declined' || first.at(-1) === 'failed'
          const events: CloudEvent[] = [
            ...first.map((name) => one[name]),
            ...(isOver ? second.map((name) => two[name]) : []),
            ...statuses.map((status) => toldOf(status)),
          ]
          const shuffled = [...events.keys()].toSorted((a, b) => (order[a] ?? 0) - (order[b] ?? 0))
          const sent = inOrder ? events : [...shuffled, ...again].flatMap((index) => events[index] ?? [])
          if (atOnce && !inOrder) await Promise.all(sent.map((event) => school.hearAgain(event)))
          else await hear(...sent)
          const { registrationId, classSessionId } = signed
          const { status, kit, payment } = await school.read(registrationId)
          const isCancelled = status === 'cancelled'
          expect(await school.told(registrationCancelled, registrationId)).toHaveLength(isCancelled ? 1 : 0)
          expect(await school.counts(classSessionId)).toMatchObject({ held: 0, sold: isCancelled ? 0 : 1 })
          ends.push({ status, kit, state: payment?.state, shipped: (await ship(signed)).status })
        }
        expect(ends[1]).toEqual(ends[0])
      }),
      { numRuns: 30 },
    )
  })
})
