import { randomUUIDv7 } from 'node:crypto'
import { paymentCompleted, paymentFailed } from '@robokids/contracts/billing'
import {
  registrationCancelled,
  registrationConfirmed,
  registrationExpired,
  registrationRejected,
  type Registration,
} from '@robokids/contracts/enrollment'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enrollment } from '../src/app.ts'
import { classSessions } from '../src/schema.ts'
import { adminHeaders, codeOf, startEnrollment, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

const sibling = { siblings: [{ childName: 'Noa', childAge: 7 }] }

function expire(registrationId: string) {
  return fixture.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
}

async function renew(registrationId: string): Promise<void> {
  expect(await fixture.call('POST', `/registrations/${registrationId}/hold`)).toMatchObject({
    status: 200,
    body: { status: 'held' },
  })
}

/** An expired registration whose seats were taken by another family. */
async function expiredInFullClass() {
  const session = await fixture.session({ capacity: 1 })
  const registration = await fixture.hold(session)
  await expire(registration.registrationId)
  await fixture.enroll(session)
  return { session, registration }
}

describe('payment.completed', () => {
  it('confirms a held registration and publishes it with the payment', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session, sibling)
    const payment = (await fixture.pay(registrationId)).data
    const confirmed = await fixture.read(registrationId)
    expect(confirmed).toMatchObject({
      status: 'confirmed',
      heldUntil: null,
      payment: {
        paymentId: payment.paymentId,
        receiptNumber: 'RK-000042',
        amount: 40_000,
        currency: 'usd',
        paidAt: payment.paidAt,
      },
    })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 2 })
    const event = await fixture.bus.seen(registrationConfirmed, (data) => data.registrationId === registrationId)
    expect(event.data).toMatchObject({
      guardianName: 'Maren Holt',
      children: [{ childName: 'Ivo' }, { childName: 'Noa' }],
      startDate: session.date,
      payment: { paymentId: payment.paymentId, receiptNumber: 'RK-000042', amount: 40_000, currency: 'usd' },
    })
  })

  it('takes effect once, however often it arrives, even with other event ids', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const event = await fixture.pay(registrationId)
    await fixture.redeliver(event)
    await Promise.all(Array.from({ length: 5 }, () => fixture.deliver(paymentCompleted, registrationId, event.data)))
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await fixture.publishedEvents(registrationConfirmed, registrationId)).toHaveLength(1)
    expect(await fixture.publishedEvents(registrationRejected, registrationId)).toEqual([])
  })

  it('takes effect once when two processes handle it concurrently', async () => {
    const second = await fixture.bed.start(enrollment, { DATABASE_URL: fixture.service.databaseUrl })
    const session = await fixture.session()
    const held = await Promise.all(Array.from({ length: 10 }, () => fixture.hold(session)))
    await Promise.all(
      held.map(async ({ registrationId }) => {
        const event = await fixture.pay(registrationId)
        await Promise.all([fixture.deliver(paymentCompleted, registrationId, event.data), fixture.redeliver(event)])
      }),
    )
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 10 })
    for (const { registrationId } of held)
      expect(await fixture.publishedEvents(registrationConfirmed, registrationId)).toHaveLength(1)
    await second.stop()
  })

  it('confirms a hold whose time is over but whose seats are not released yet', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    // The job does not run in between: it locks the same row as the payment, and either order is correct.
    fixture.service.context.clock.advance({ minutes: 37 })
    await fixture.pay(registrationId)
    expect((await fixture.read(registrationId)).status).toBe('confirmed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('confirms a hold that was made in time, even if the class has begun', async () => {
    const session = await fixture.session()
    const clock = fixture.service.context.clock
    clock.set(session.startsAt.subtract({ minutes: 5 }))
    const { registrationId } = await fixture.hold(session)
    clock.set(session.startsAt.add({ minutes: 5 }))
    await fixture.pay(registrationId)
    expect((await fixture.read(registrationId)).status).toBe('confirmed')
  })

  it('takes the seats again for an expired registration if they are free', async () => {
    const session = await fixture.session({ capacity: 2 })
    const { registrationId } = await fixture.hold(session, sibling)
    await expire(registrationId)
    await fixture.pay(registrationId)
    expect(await fixture.read(registrationId)).toMatchObject({ status: 'confirmed', rejectionReason: null })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 2 })
    expect(await fixture.publishedEvents(registrationConfirmed, registrationId)).toHaveLength(1)
  })

  it('rejects an expired registration whose seats are taken, once', async () => {
    const { session, registration } = await expiredInFullClass()
    const { registrationId } = registration
    const event = await fixture.pay(registrationId)
    await fixture.deliver(paymentCompleted, registrationId, event.data)
    const { paymentId } = event.data
    expect(await fixture.read(registrationId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'class_full',
      payment: { paymentId },
    })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await fixture.publishedEvents(registrationRejected, registrationId)).toMatchObject([
      { reason: 'class_full', payment: { paymentId } },
    ])
    expect(await fixture.publishedEvents(registrationConfirmed, registrationId)).toEqual([])
    await fixture.bus.seen(registrationRejected, (data) => data.registrationId === registrationId)
  })

  it('rejects an expired registration whose class has begun', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    await expire(registrationId)
    fixture.service.context.clock.set(session.startsAt)
    await fixture.pay(registrationId)
    expect(await fixture.read(registrationId)).toMatchObject({ status: 'rejected', rejectionReason: 'class_started' })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('rejects a payment for a cancelled class and releases the seats', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, session.id))
    await fixture.pay(registrationId)
    expect(await fixture.read(registrationId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'registration_cancelled',
    })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('rejects another payment of a cancelled registration', async () => {
    const session = await fixture.session()
    const registration = await fixture.enroll(session)
    const { registrationId } = registration
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    const { paymentId } = (await fixture.pay(registrationId)).data
    expect(await fixture.publishedEvents(registrationRejected, registrationId)).toMatchObject([
      { reason: 'registration_cancelled', payment: { paymentId } },
    ])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('leaves a confirmed registration unchanged when it is paid again', async () => {
    const session = await fixture.session()
    const registration = await fixture.enroll(session)
    await fixture.pay(registration.registrationId)
    expect(await fixture.read(registration.registrationId)).toEqual(registration)
    expect(await fixture.publishedEvents(registrationRejected, registration.registrationId)).toEqual([])
    expect(await fixture.counts(session.id)).toMatchObject({ sold: 1 })
  })

  it('gives the last seat to one of ten late payers, and rejects nine', async () => {
    const session = await fixture.session({ capacity: 10 })
    const late = await Promise.all(Array.from({ length: 10 }, () => fixture.hold(session)))
    for (const { registrationId } of late) await expire(registrationId)
    for (let index = 0; index < 9; index += 1) await fixture.enroll(session)
    await Promise.all(late.map(({ registrationId }) => fixture.pay(registrationId)))
    const statuses = await Promise.all(
      late.map(async ({ registrationId }) => (await fixture.read(registrationId)).status),
    )
    expect(statuses.toSorted()).toEqual(['confirmed', ...Array.from({ length: 9 }, () => 'rejected')])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 10 })
  })

  it('is retried until its registration exists', async () => {
    const session = await fixture.session()
    const id = randomUUIDv7()
    const paidAt = Temporal.Now.instant().toString({ fractionalSecondDigits: 3 })
    const money = { amount: 40_000, currency: 'usd' as const }
    const ids = { attemptId: randomUUIDv7(), registrationId: id, paymentId: randomUUIDv7() }
    await fixture.bus.publish(paymentCompleted, id, { ...ids, ...money, receiptNumber: 'RK-000043', paidAt })
    await fixture.hold(session, { id })
    await fixture.waitForStatus(id, 'confirmed')
  })

  it('for an unknown registration becomes a dead letter that can be replayed later', async () => {
    const isolated = await startEnrollment({ CONSUMER_RETRY_DELAYS: '10' })
    const session = await isolated.session()
    const id = randomUUIDv7()
    const paidAt = Temporal.Now.instant().toString({ fractionalSecondDigits: 3 })
    const ids = { attemptId: randomUUIDv7(), registrationId: id, paymentId: randomUUIDv7() }
    const money = { amount: 40_000, currency: 'usd' as const }
    await isolated.bus.publish(paymentCompleted, id, { ...ids, ...money, receiptNumber: 'RK-000044', paidAt })
    const letter = await eventually(async () => {
      const { body } = await isolated.call('GET', '/admin/dead-letters', undefined, adminHeaders)
      return (body as { deadLetters: { id: string; error: string }[] }).deadLetters[0]
    })
    expect(letter.error).toContain(id)
    const replay = () => isolated.call('POST', `/admin/dead-letters/${letter.id}/replay`, {}, adminHeaders)
    expect(codeOf(await replay())).toBe('registration_not_found')
    await isolated.hold(session, { id })
    expect((await replay()).status).toBe(200)
    expect((await isolated.read(id)).status).toBe('confirmed')
    await isolated.bed.stop()
  })
})

describe('checkout.expired', () => {
  it('ends the hold of its attempt immediately', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session, sibling)
    const attemptId = await fixture.checkoutCreated(registrationId)
    await fixture.checkoutExpired(registrationId, attemptId)
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
    expect(await fixture.publishedEvents(registrationExpired, registrationId)).toHaveLength(1)
  })

  it('ends the first hold even if it arrives before the attempt’s creation', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const attemptId = randomUUIDv7()
    await fixture.checkoutExpired(registrationId, attemptId)
    await fixture.checkoutCreated(registrationId, undefined, attemptId)
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  describe.each([
    [['expired 1', 'created 2']],
    [['created 2', 'expired 1']],
    [['created 1 again', 'expired 1', 'created 2']],
    [['created 2', 'created 1 again', 'expired 1']],
    [['expired 1']],
  ])('of an older attempt, in the order %s,', (order) => {
    it.each([true, false])('never ends a renewed hold; its creation arrived in time: %s', async (inTime) => {
      const session = await fixture.session()
      const { registrationId } = await fixture.hold(session)
      const first = randomUUIDv7()
      const firstMade = Temporal.Now.instant()
      if (inTime) await fixture.checkoutCreated(registrationId, firstMade, first)
      await expire(registrationId)
      await renew(registrationId)
      const second = randomUUIDv7()
      for (const step of order) {
        if (step === 'expired 1') await fixture.checkoutExpired(registrationId, first)
        else if (step === 'created 2') await fixture.checkoutCreated(registrationId, undefined, second)
        else await fixture.checkoutCreated(registrationId, firstMade, first)
      }
      expect((await fixture.read(registrationId)).status).toBe('held')
      expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
      await fixture.checkoutExpired(registrationId, second)
      expect((await fixture.read(registrationId)).status).toBe(order.includes('created 2') ? 'expired' : 'held')
    })
  })

  it('does not end a hold that was extended before it expired', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const first = await fixture.checkoutCreated(registrationId)
    await renew(registrationId)
    await fixture.checkoutExpired(registrationId, first)
    expect((await fixture.read(registrationId)).status).toBe('held')
    const second = await fixture.checkoutCreated(registrationId)
    await fixture.checkoutExpired(registrationId, second)
    expect((await fixture.read(registrationId)).status).toBe('expired')
  })

  it('changes nothing for a paid or unknown registration', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const attemptId = await fixture.checkoutCreated(registrationId)
    await fixture.pay(registrationId)
    await fixture.checkoutExpired(registrationId, attemptId)
    expect((await fixture.read(registrationId)).status).toBe('confirmed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    await fixture.checkoutExpired(randomUUIDv7(), randomUUIDv7())
  })
})

describe('payment.failed', () => {
  const fail = (registrationId: string, attemptId: string, final: boolean) =>
    fixture.deliver(paymentFailed, registrationId, {
      registrationId,
      attemptId,
      final,
      reason: 'Your card was declined.',
    })

  it('keeps the seats while another card can be tried, and releases them after the last attempt', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const attemptId = await fixture.checkoutCreated(registrationId)
    await fail(registrationId, attemptId, false)
    expect((await fixture.read(registrationId)).status).toBe('held')
    await fail(registrationId, attemptId, true)
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('of the checkout of a renewed hold ends that hold', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const attemptId = await fixture.checkoutCreated(registrationId)
    await expire(registrationId)
    await renew(registrationId)
    await fixture.call('POST', `/registrations/${registrationId}/hold`, { attemptId })
    await fail(registrationId, attemptId, true)
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('of an older attempt does not end a renewed hold', async () => {
    const { registrationId } = await fixture.hold(await fixture.session())
    const attemptId = await fixture.checkoutCreated(registrationId)
    await renew(registrationId)
    await fail(registrationId, attemptId, true)
    expect((await fixture.read(registrationId)).status).toBe('held')
  })
})

describe('payment.refunded', () => {
  const paymentOf = (registration: Registration) => registration.payment?.paymentId ?? ''

  it('in full cancels the registration and releases its seats once', async () => {
    const session = await fixture.session()
    const registration = await fixture.enroll(session, sibling)
    const { registrationId } = registration
    const event = await fixture.refund(registration, paymentOf(registration))
    await fixture.redeliver(event)
    await fixture.refund(registration, paymentOf(registration))
    expect((await fixture.read(registrationId)).status).toBe('cancelled')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect(await fixture.publishedEvents(registrationCancelled, registrationId)).toMatchObject([{ reason: 'refunded' }])
  })

  it('in part changes nothing', async () => {
    const session = await fixture.session()
    const registration = await fixture.enroll(session)
    await fixture.refund(registration, paymentOf(registration), 39_999)
    expect(await fixture.read(registration.registrationId)).toEqual(registration)
    expect(await fixture.counts(session.id)).toMatchObject({ sold: 1 })
  })

  it('in parts that add up to the whole cancels the registration', async () => {
    const registration = await fixture.enroll(await fixture.session())
    await fixture.refund(registration, paymentOf(registration), 10_000)
    await fixture.refund(registration, paymentOf(registration), 40_000)
    expect((await fixture.read(registration.registrationId)).status).toBe('cancelled')
  })

  it('of a second payment, a double charge, changes nothing', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const { paymentId } = (await fixture.pay(registration.registrationId)).data
    await fixture.refund(registration, paymentId)
    expect((await fixture.read(registration.registrationId)).status).toBe('confirmed')
  })

  it('of a rejected registration changes nothing', async () => {
    const { session, registration } = await expiredInFullClass()
    const { paymentId } = (await fixture.pay(registration.registrationId)).data
    await fixture.refund(registration, paymentId)
    expect((await fixture.read(registration.registrationId)).status).toBe('rejected')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await fixture.publishedEvents(registrationCancelled, registration.registrationId)).toEqual([])
  })

  it('has the same outcome if it arrives before its payment', async () => {
    const session = await fixture.session()
    const registration = await fixture.hold(session, sibling)
    const { registrationId } = registration
    const paymentId = randomUUIDv7()
    await fixture.refund(registration, paymentId)
    await fixture.pay(registrationId, paymentId)
    expect((await fixture.read(registrationId)).status).toBe('cancelled')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect(await fixture.publishedEvents(registrationConfirmed, registrationId)).toEqual([])
    expect(await fixture.publishedEvents(registrationCancelled, registrationId)).toHaveLength(1)
  })

  it('frees the seat for another family', async () => {
    const session = await fixture.session({ capacity: 1 })
    const registration = await fixture.enroll(session)
    await fixture.refund(registration, paymentOf(registration))
    expect(await fixture.seatsLeft(session)).toBe(1)
    await fixture.enroll(session)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })
})
