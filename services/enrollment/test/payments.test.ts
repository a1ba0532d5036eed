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
import { adminHeaders, codeOf, openSchool, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterEach(() => school.resetClock())
afterAll(() => school.bed.stop())

const sibling = { siblings: [{ childName: 'Noa', childAge: 7 }] }

function expire(registrationId: string) {
  return school.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
}

async function renew(registrationId: string): Promise<void> {
  expect(await school.call('POST', `/registrations/${registrationId}/hold`)).toMatchObject({
    status: 200,
    body: { status: 'held' },
  })
}

/** An expired registration whose seats another family has. */
async function crowdedOut() {
  const session = await school.session({ capacity: 1 })
  const registration = await school.hold(session)
  await expire(registration.registrationId)
  await school.enrol(session)
  return { session, registration }
}

describe('payment.completed', () => {
  it('confirms a held registration and tells it with the payment', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session, sibling)
    const payment = (await school.pay(registrationId)).data
    const confirmed = await school.read(registrationId)
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
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 2 })
    const told = await school.bus.seen(registrationConfirmed, (data) => data.registrationId === registrationId)
    expect(told.data).toMatchObject({
      guardianName: 'Maren Holt',
      children: [{ childName: 'Ivo' }, { childName: 'Noa' }],
      startDate: session.date,
      payment: { paymentId: payment.paymentId, receiptNumber: 'RK-000042', amount: 40_000, currency: 'usd' },
    })
  })

  it('takes effect once, however often and under whatever event id it comes', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const event = await school.pay(registrationId)
    await school.hearAgain(event)
    await Promise.all(Array.from({ length: 5 }, () => school.hear(paymentCompleted, registrationId, event.data)))
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await school.told(registrationConfirmed, registrationId)).toHaveLength(1)
    expect(await school.told(registrationRejected, registrationId)).toEqual([])
  })

  it('takes effect once when two processes hear of it at once', async () => {
    const second = await school.bed.start(enrollment, { DATABASE_URL: school.service.databaseUrl })
    const session = await school.session()
    const held = await Promise.all(Array.from({ length: 10 }, () => school.hold(session)))
    await Promise.all(
      held.map(async ({ registrationId }) => {
        const event = await school.pay(registrationId)
        await Promise.all([school.hear(paymentCompleted, registrationId, event.data), school.hearAgain(event)])
      }),
    )
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 10 })
    for (const { registrationId } of held)
      expect(await school.told(registrationConfirmed, registrationId)).toHaveLength(1)
    await second.stop()
  })

  it('confirms a hold whose time is over but whose seats were not let go yet', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    // Nothing runs the job between these two: the payment and the job lock the same row, and either order is right.
    school.service.context.clock.advance({ minutes: 37 })
    await school.pay(registrationId)
    expect((await school.read(registrationId)).status).toBe('confirmed')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('confirms a hold that was made in time, when the class has begun meanwhile', async () => {
    const session = await school.session()
    const clock = school.service.context.clock
    clock.set(session.startsAt.subtract({ minutes: 5 }))
    const { registrationId } = await school.hold(session)
    clock.set(session.startsAt.add({ minutes: 5 }))
    await school.pay(registrationId)
    expect((await school.read(registrationId)).status).toBe('confirmed')
  })

  it('takes the seats again for an expired registration while they are free', async () => {
    const session = await school.session({ capacity: 2 })
    const { registrationId } = await school.hold(session, sibling)
    await expire(registrationId)
    await school.pay(registrationId)
    expect(await school.read(registrationId)).toMatchObject({ status: 'confirmed', rejectionReason: null })
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 2 })
    expect(await school.told(registrationConfirmed, registrationId)).toHaveLength(1)
  })

  it('rejects an expired registration whose seats are gone, once', async () => {
    const { session, registration } = await crowdedOut()
    const { registrationId } = registration
    const event = await school.pay(registrationId)
    await school.hear(paymentCompleted, registrationId, event.data)
    const { paymentId } = event.data
    expect(await school.read(registrationId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'class_full',
      payment: { paymentId },
    })
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await school.told(registrationRejected, registrationId)).toMatchObject([
      { reason: 'class_full', payment: { paymentId } },
    ])
    expect(await school.told(registrationConfirmed, registrationId)).toEqual([])
    await school.bus.seen(registrationRejected, (data) => data.registrationId === registrationId)
  })

  it('rejects an expired registration whose class has begun', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    await expire(registrationId)
    school.service.context.clock.set(session.startsAt)
    await school.pay(registrationId)
    expect(await school.read(registrationId)).toMatchObject({ status: 'rejected', rejectionReason: 'class_started' })
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('rejects where the class was cancelled, and lets the seats go', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    await school.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, session.id))
    await school.pay(registrationId)
    expect(await school.read(registrationId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'registration_cancelled',
    })
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('rejects another payment of a cancelled registration', async () => {
    const session = await school.session()
    const registration = await school.enrol(session)
    const { registrationId } = registration
    await school.refund(registration, registration.payment?.paymentId ?? '')
    const { paymentId } = (await school.pay(registrationId)).data
    expect(await school.told(registrationRejected, registrationId)).toMatchObject([
      { reason: 'registration_cancelled', payment: { paymentId } },
    ])
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
  })

  it('leaves a confirmed registration as it is when another payment of it comes', async () => {
    const session = await school.session()
    const registration = await school.enrol(session)
    await school.pay(registration.registrationId)
    expect(await school.read(registration.registrationId)).toEqual(registration)
    expect(await school.told(registrationRejected, registration.registrationId)).toEqual([])
    expect(await school.counts(session.id)).toMatchObject({ sold: 1 })
  })

  it('gives the last seat to one of ten late payers, and turns nine away', async () => {
    const session = await school.session({ capacity: 10 })
    const late = await Promise.all(Array.from({ length: 10 }, () => school.hold(session)))
    for (const { registrationId } of late) await expire(registrationId)
    for (let index = 0; index < 9; index += 1) await school.enrol(session)
    await Promise.all(late.map(({ registrationId }) => school.pay(registrationId)))
    const statuses = await Promise.all(
      late.map(async ({ registrationId }) => (await school.read(registrationId)).status),
    )
    expect(statuses.toSorted()).toEqual(['confirmed', ...Array.from({ length: 9 }, () => 'rejected')])
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 10 })
  })

  it('waits for a registration that is not here yet', async () => {
    const session = await school.session()
    const id = randomUUIDv7()
    const paidAt = Temporal.Now.instant().toString({ fractionalSecondDigits: 3 })
    const money = { amount: 40_000, currency: 'usd' as const }
    const ids = { attemptId: randomUUIDv7(), registrationId: id, paymentId: randomUUIDv7() }
    await school.bus.publish(paymentCompleted, id, { ...ids, ...money, receiptNumber: 'RK-000043', paidAt })
    await school.hold(session, { id })
    await school.untilStatus(id, 'confirmed')
  })

  it('that is for no registration becomes a dead letter, to be replayed when there is one', async () => {
    const lonely = await openSchool({ CONSUMER_RETRY_DELAYS: '10' })
    const session = await lonely.session()
    const id = randomUUIDv7()
    const paidAt = Temporal.Now.instant().toString({ fractionalSecondDigits: 3 })
    const ids = { attemptId: randomUUIDv7(), registrationId: id, paymentId: randomUUIDv7() }
    const money = { amount: 40_000, currency: 'usd' as const }
    await lonely.bus.publish(paymentCompleted, id, { ...ids, ...money, receiptNumber: 'RK-000044', paidAt })
    const letter = await eventually(async () => {
      const { body } = await lonely.call('GET', '/admin/dead-letters', undefined, adminHeaders)
      return (body as { deadLetters: { id: string; error: string }[] }).deadLetters[0]
    })
    expect(letter.error).toContain(id)
    const replay = () => lonely.call('POST', `/admin/dead-letters/${letter.id}/replay`, {}, adminHeaders)
    expect(codeOf(await replay())).toBe('registration_not_found')
    await lonely.hold(session, { id })
    expect((await replay()).status).toBe(200)
    expect((await lonely.read(id)).status).toBe('confirmed')
    await lonely.bed.stop()
  })
})

describe('checkout.expired', () => {
  it('ends the hold of its attempt at once', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session, sibling)
    const attemptId = await school.checkoutCreated(registrationId)
    await school.checkoutExpired(registrationId, attemptId)
    expect((await school.read(registrationId)).status).toBe('expired')
    expect(await school.counts(session.id)).toMatchObject({ held: 0 })
    expect(await school.told(registrationExpired, registrationId)).toHaveLength(1)
  })

  it('ends the first hold also when it overtakes the attempt’s creation', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const attemptId = randomUUIDv7()
    await school.checkoutExpired(registrationId, attemptId)
    await school.checkoutCreated(registrationId, undefined, attemptId)
    expect((await school.read(registrationId)).status).toBe('expired')
    expect(await school.counts(session.id)).toMatchObject({ held: 0 })
  })

  describe.each([
    [['expired 1', 'created 2']],
    [['created 2', 'expired 1']],
    [['created 1 again', 'expired 1', 'created 2']],
    [['created 2', 'created 1 again', 'expired 1']],
    [['expired 1']],
  ])('of an older attempt, heard of as %s,', (order) => {
    it.each([true, false])('never ends a renewed hold; its creation was heard of in time: %s', async (inTime) => {
      const session = await school.session()
      const { registrationId } = await school.hold(session)
      const first = randomUUIDv7()
      const firstMade = Temporal.Now.instant()
      if (inTime) await school.checkoutCreated(registrationId, firstMade, first)
      await expire(registrationId)
      await renew(registrationId)
      const second = randomUUIDv7()
      for (const step of order) {
        if (step === 'expired 1') await school.checkoutExpired(registrationId, first)
        else if (step === 'created 2') await school.checkoutCreated(registrationId, undefined, second)
        else await school.checkoutCreated(registrationId, firstMade, first)
      }
      expect((await school.read(registrationId)).status).toBe('held')
      expect(await school.counts(session.id)).toMatchObject({ held: 1 })
      await school.checkoutExpired(registrationId, second)
      expect((await school.read(registrationId)).status).toBe(order.includes('created 2') ? 'expired' : 'held')
    })
  })

  it('does not end a hold that was prolonged while it stood', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const first = await school.checkoutCreated(registrationId)
    await renew(registrationId)
    await school.checkoutExpired(registrationId, first)
    expect((await school.read(registrationId)).status).toBe('held')
    const second = await school.checkoutCreated(registrationId)
    await school.checkoutExpired(registrationId, second)
    expect((await school.read(registrationId)).status).toBe('expired')
  })

  it('changes nothing of a paid registration, nor of one that is not here', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const attemptId = await school.checkoutCreated(registrationId)
    await school.pay(registrationId)
    await school.checkoutExpired(registrationId, attemptId)
    expect((await school.read(registrationId)).status).toBe('confirmed')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    await school.checkoutExpired(randomUUIDv7(), randomUUIDv7())
  })
})

describe('payment.failed', () => {
  const fail = (registrationId: string, attemptId: string, final: boolean) =>
    school.hear(paymentFailed, registrationId, { registrationId, attemptId, final, reason: 'Your card was declined.' })

  it('keeps the seats while another card can be tried, and frees them after the last try', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const attemptId = await school.checkoutCreated(registrationId)
    await fail(registrationId, attemptId, false)
    expect((await school.read(registrationId)).status).toBe('held')
    await fail(registrationId, attemptId, true)
    expect((await school.read(registrationId)).status).toBe('expired')
    expect(await school.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('of the checkout that a renewed hold was taken for ends that hold', async () => {
    const session = await school.session()
    const { registrationId } = await school.hold(session)
    const attemptId = await school.checkoutCreated(registrationId)
    await expire(registrationId)
    await renew(registrationId)
    await school.call('POST', `/registrations/${registrationId}/hold`, { attemptId })
    await fail(registrationId, attemptId, true)
    expect((await school.read(registrationId)).status).toBe('expired')
    expect(await school.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('of an older attempt does not end a renewed hold', async () => {
    const { registrationId } = await school.hold(await school.session())
    const attemptId = await school.checkoutCreated(registrationId)
    await renew(registrationId)
    await fail(registrationId, attemptId, true)
    expect((await school.read(registrationId)).status).toBe('held')
  })
})

describe('payment.refunded', () => {
  const paymentOf = (registration: Registration) => registration.payment?.paymentId ?? ''

  it('in full cancels the registration and frees its seats once', async () => {
    const session = await school.session()
    const registration = await school.enrol(session, sibling)
    const { registrationId } = registration
    const event = await school.refund(registration, paymentOf(registration))
    await school.hearAgain(event)
    await school.refund(registration, paymentOf(registration))
    expect((await school.read(registrationId)).status).toBe('cancelled')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect(await school.told(registrationCancelled, registrationId)).toMatchObject([{ reason: 'refunded' }])
  })

  it('in part changes nothing', async () => {
    const session = await school.session()
    const registration = await school.enrol(session)
    await school.refund(registration, paymentOf(registration), 39_999)
    expect(await school.read(registration.registrationId)).toEqual(registration)
    expect(await school.counts(session.id)).toMatchObject({ sold: 1 })
  })

  it('in parts that make the whole cancels it', async () => {
    const registration = await school.enrol(await school.session())
    await school.refund(registration, paymentOf(registration), 10_000)
    await school.refund(registration, paymentOf(registration), 40_000)
    expect((await school.read(registration.registrationId)).status).toBe('cancelled')
  })

  it('of another payment, a double charge, changes nothing', async () => {
    const registration = await school.enrol(await school.session())
    const { paymentId } = (await school.pay(registration.registrationId)).data
    await school.refund(registration, paymentId)
    expect((await school.read(registration.registrationId)).status).toBe('confirmed')
  })

  it('of a rejected registration changes nothing', async () => {
    const { session, registration } = await crowdedOut()
    const { paymentId } = (await school.pay(registration.registrationId)).data
    await school.refund(registration, paymentId)
    expect((await school.read(registration.registrationId)).status).toBe('rejected')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    expect(await school.told(registrationCancelled, registration.registrationId)).toEqual([])
  })

  it('that overtakes its payment ends the same', async () => {
    const session = await school.session()
    const registration = await school.hold(session, sibling)
    const { registrationId } = registration
    const paymentId = randomUUIDv7()
    await school.refund(registration, paymentId)
    await school.pay(registrationId, paymentId)
    expect((await school.read(registrationId)).status).toBe('cancelled')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect(await school.told(registrationConfirmed, registrationId)).toEqual([])
    expect(await school.told(registrationCancelled, registrationId)).toHaveLength(1)
  })

  it('frees the seat for another family', async () => {
    const session = await school.session({ capacity: 1 })
    const registration = await school.enrol(session)
    await school.refund(registration, paymentOf(registration))
    expect(await school.seatsLeft(session)).toBe(1)
    await school.enrol(session)
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })
})
