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
import { isoTime } from '../src/iso-time.ts'
import { codeOf, startEnrollment, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

/** Generates the order of events, which of them are redelivered, and whether all arrive concurrently. */
const deliveryOrders = (events: number) =>
  fc.record({
    order: fc.shuffledSubarray([...Array(events).keys()], { minLength: events }),
    again: fc.array(fc.nat(events - 1), { maxLength: 3 }),
    atOnce: fc.boolean(),
  })
type DeliveryOrder = ReturnType<typeof deliveryOrders> extends fc.Arbitrary<infer One> ? One : never

async function deliverAll(events: CloudEvent[], { order, again, atOnce }: DeliveryOrder): Promise<void> {
  const sent = [...order, ...again].flatMap((index) => events[index] ?? [])
  if (atOnce) await Promise.all(sent.map((event) => fixture.redeliver(event)))
  else for (const event of sent) await fixture.redeliver(event)
}

const runs = { numRuns: 25 }
const now = () => isoTime(Temporal.Now.instant())

describe('the events of a membership', () => {
  it('leave one seat taken although it has ended, in any order, concurrently and with repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(deliveryOrders(3), fc.boolean(), async (deliveryOrder, isHeld) => {
        const session = await fixture.session({ classType: 'membership' })
        const [attemptId, older] = [randomUUIDv7(), randomUUIDv7()]
        const email = `${attemptId}@example.com`
        if (isHeld) {
          const body = { email, classDate: session.date }
          for (const step of [body, { ...body, attemptId: older }, body, { ...body, attemptId }]) {
            expect((await fixture.call('POST', '/member-seats', step)).status).toBe(200)
          }
        }
        const facts = { attemptId, email, plan: 'monthly' as const, amount: 700, currency: 'usd' as const }
        const classDate = session.date
        const begun = { ...facts, classDate, subscriptionId: 'sub_1', customerId: 'cus_1', activatedAt: now() }
        const over = { ...facts, endedAt: now(), reason: 'cancelled' as const }
        await deliverAll(
          [
            newEvent(subscriptionActivated, attemptId, begun),
            newEvent(subscriptionEnded, attemptId, over),
            newEvent(membershipCheckoutExpired, older, { attemptId: older, email, classDate }),
          ],
          deliveryOrder,
        )
        expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
        expect(await fixture.publishedEvents(memberRejected, attemptId)).toEqual([])
        expect(await fixture.publishedEvents(memberSeated, attemptId)).toHaveLength(1)
        const { body } = await fixture.call('GET', `/member-seats/${attemptId}`)
        expect(body).toMatchObject({ status: 'seated', classDate, startTime: '16:00' })
        // A late request holds no second seat after the membership was paid.
        const late = await fixture.call('POST', '/member-seats', { email, classDate, attemptId })
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
  ] as const)('$names lead to $status, in any order, concurrently and with repetitions', async (expected) => {
    const { names, status, sold, confirmed, cancelled } = expected
    await fc.assert(
      fc.asyncProperty(deliveryOrders(names.length), async (deliveryOrder) => {
        const session = await fixture.session()
        const registration = await fixture.hold(session)
        const events = eventsOf(registration)
        await deliverAll(
          names.map((name: Name) => events[name]),
          deliveryOrder,
        )
        const { registrationId } = registration
        expect((await fixture.read(registrationId)).status).toBe(status)
        expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold })
        expect((await fixture.publishedEvents(registrationConfirmed, registrationId)).length).toBeLessThanOrEqual(
          confirmed,
        )
        expect(await fixture.publishedEvents(registrationCancelled, registrationId)).toHaveLength(cancelled)
      }),
      runs,
    )
  })
})
