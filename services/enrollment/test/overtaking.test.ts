import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutCreated,
  checkoutExpired,
  membershipCheckoutExpired,
  paymentCompleted,
  paymentFailed,
  paymentRefunded,
  subscriptionActivated,
  subscriptionEnded,
} from '@robokids/contracts/billing'
import {
  memberRejected,
  memberSeated,
  registrationCancelled,
  registrationConfirmed,
  registrationFactsSchema,
  type Registration,
} from '@robokids/contracts/enrollment'
import type { CloudEvent } from '@robokids/contracts/event'
import { newEvent } from '@robokids/runtime/outbox'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/read-registrations.ts'
import { codeOf, openSchool, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterAll(() => school.bed.stop())

/** Of that many events: the order in which they come, which of them come again and again, and whether all come at once. */
const arrivals = (events: number) =>
  fc.record({
    order: fc.shuffledSubarray([...Array(events).keys()], { minLength: events }),
    again: fc.array(fc.nat(events - 1), { maxLength: 3 }),
    atOnce: fc.boolean(),
  })
type Arrival = ReturnType<typeof arrivals> extends fc.Arbitrary<infer One> ? One : never

async function arrive(events: CloudEvent[], { order, again, atOnce }: Arrival): Promise<void> {
  const sent = [...order, ...again].flatMap((index) => events[index] ?? [])
  if (atOnce) await Promise.all(sent.map((event) => school.hearAgain(event)))
  else for (const event of sent) await school.hearAgain(event)
}

const runs = { numRuns: 25 }
const now = () => isoTime(Temporal.Now.instant())

describe('the events of a membership', () => {
  it('that has ended leave no seat behind, in whatever order, together and how often they come', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals(3), fc.boolean(), async (arrival, isHeld) => {
        const session = await school.session({ classType: 'membership' })
        const [attemptId, older] = [randomUUIDv7(), randomUUIDv7()]
        const email = `${attemptId}@example.com`
        if (isHeld) {
          const body = { email, classDate: session.date }
          for (const step of [body, { ...body, attemptId: older }, body, { ...body, attemptId }]) {
            expect((await school.call('POST', '/member-seats', step)).status).toBe(200)
          }
        }
        const facts = { attemptId, email, plan: 'monthly' as const, amount: 700, currency: 'usd' as const }
        const classDate = session.date
        const begun = { ...facts, classDate, subscriptionId: 'sub_1', customerId: 'cus_1', activatedAt: now() }
        const over = { ...facts, endedAt: now(), reason: 'cancelled' as const }
        await arrive(
          [
            newEvent(subscriptionActivated, attemptId, begun),
            newEvent(subscriptionEnded, attemptId, over),
            newEvent(membershipCheckoutExpired, older, { attemptId: older, email, classDate }),
          ],
          arrival,
        )
        expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
        expect(await school.told(memberRejected, attemptId)).toEqual([])
        expect((await school.told(memberSeated, attemptId)).length).toBeLessThanOrEqual(1)
        const { body } = await school.call('GET', `/member-seats/${attemptId}`)
        expect(body).toMatchObject({ status: 'released', classDate, startTime: '16:00' })
        // A request that was on its way when the membership was paid holds no seat beside it.
        const late = await school.call('POST', '/member-seats', { email, classDate, attemptId })
        expect([late.status, codeOf(late)]).toEqual([409, 'already_member'])
      }),
      runs,
    )
  })
})

describe('the events of a registration', () => {
  function eventsOf(registration: Registration) {
    const { registrationId } = registration
    const [attemptId, paymentId] = [randomUUIDv7(), randomUUIDv7()]
    const attempt = { attemptId, registrationId }
    const money = { amount: 40_000, currency: 'usd' as const }
    return {
      created: newEvent(checkoutCreated, registrationId, { ...attempt, ...money, expiresAt: now() }),
      expired: newEvent(checkoutExpired, registrationId, attempt),
      failed: newEvent(paymentFailed, registrationId, { ...attempt, final: true, reason: 'declined' }),
      paid: newEvent(paymentCompleted, registrationId, {
        ...attempt,
        ...money,
        paymentId,
        receiptNumber: 'RK-000042',
        paidAt: now(),
      }),
      refunded: newEvent(paymentRefunded, registrationId, {
        ...money,
        refundId: randomUUIDv7(),
        paymentId,
        registrationId,
        reason: 'requested',
        refundedTotal: 40_000,
        paidAmount: 40_000,
        purchase: registrationFactsSchema.parse(registration),
      }),
    }
  }
  type Name = keyof ReturnType<typeof eventsOf>

  it.each([
    { names: ['created', 'expired', 'failed'], status: 'expired', sold: 0, confirmed: 0, cancelled: 0 },
    { names: ['created', 'expired', 'failed', 'paid'], status: 'confirmed', sold: 1, confirmed: 1, cancelled: 0 },
    { names: ['created', 'expired', 'paid', 'refunded'], status: 'cancelled', sold: 0, confirmed: 1, cancelled: 1 },
  ] as const)('$names end in $status, in whatever order, together and how often they come', async (expected) => {
    const { names, status, sold, confirmed, cancelled } = expected
    await fc.assert(
      fc.asyncProperty(arrivals(names.length), async (arrival) => {
        const session = await school.session()
        const registration = await school.hold(session)
        const events = eventsOf(registration)
        await arrive(
          names.map((name: Name) => events[name]),
          arrival,
        )
        const { registrationId } = registration
        expect((await school.read(registrationId)).status).toBe(status)
        expect(await school.counts(session.id)).toMatchObject({ held: 0, sold })
        expect((await school.told(registrationConfirmed, registrationId)).length).toBeLessThanOrEqual(confirmed)
        expect(await school.told(registrationCancelled, registrationId)).toHaveLength(cancelled)
      }),
      runs,
    )
  })
})
