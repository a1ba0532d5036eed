import { randomUUIDv7 } from 'node:crypto'
import { refundRequested } from '@robokids/contracts/billing'
import {
  changeQuoteSchema,
  changeSchema,
  changesSchema,
  moveCheckoutEnded,
  moveEnded,
  moveOptionsSchema,
  movePaid,
  moveRefused,
  placesCancelled,
  placesMoved,
  type Change,
  type ChangeQuote,
} from '@robokids/contracts/changes'
import {
  registrationCancelled,
  registrationExpired,
  waiverSigned,
  type ClassType,
  type Place,
  type Registration,
} from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import { userConfirmed, userUpdated } from '@robokids/contracts/identity'
import { registrationRescheduled } from '@robokids/contracts/reminders'
import { waitlistEnded } from '@robokids/contracts/waitlist'
import { newEvent } from '@robokids/runtime/outbox'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expireMoves } from '../src/changes/end-moves.ts'
import { firstPolicy } from '../src/changes/rules.ts'
import { isoTime } from '../src/iso-time.ts'
import { changePolicies, changes, places } from '../src/schema.ts'
import {
  adminHeaders,
  codeOf,
  requestFor,
  startEnrollment,
  type Answer,
  type EnrollmentFixture,
  type RequestBody,
} from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())
afterEach(async () => {
  fixture.resetClock()
  await fixture.db.update(changePolicies).set(firstPolicy)
})

const unitAmounts = { basic: 40_000, intermediate: 50_000, advanced: 60_000, custom: 100_000, membership: 700 }

type Session = Awaited<ReturnType<EnrollmentFixture['session']>>

interface Family {
  ownerId: string
  registration: Registration
  session: Session
}

/** A paid registration of Ivo and Noa, where a promotion made the second child free. */
async function enroll(
  differences: Partial<RequestBody> = {},
  price: { amount: number; unitAmount?: number; paidSeats?: number } = {
    amount: 40_000,
    unitAmount: 40_000,
    paidSeats: 1,
  },
  session?: Session,
): Promise<Family> {
  const theSession = session ?? (await fixture.session())
  const ownerId = randomUUIDv7()
  const email = `${ownerId}@example.com`
  const children = { childName: 'Ivo', siblings: [{ childName: 'Noa', childAge: 8 }] }
  const { registrationId } = await fixture.hold(theSession, { ownerId, email, ...children, ...differences })
  await fixture.pay(registrationId, randomUUIDv7(), price)
  return { ownerId, registration: await fixture.waitForStatus(registrationId, 'confirmed'), session: theSession }
}

/** A paid registration of one child. */
const enrollOne = (session?: Session) =>
  enroll({ siblings: [] }, { amount: 40_000, unitAmount: 40_000, paidSeats: 1 }, session)

const placeOf = ({ registration }: Family, childName: string): Place => {
  const place = registration.places?.find((one) => one.childName === childName)
  if (!place) throw new Error(`${childName} has no place`)
  return place
}

const pathOf = ({ registration }: Family) => `/registrations/${registration.registrationId}`

async function ask(
  family: Family,
  what: 'cancellation' | 'move',
  body: object,
  ownerId = family.ownerId,
): Promise<ChangeQuote> {
  const answer = await fixture.call('POST', `${pathOf(family)}/${what}/quote`, { ownerId, unitAmounts, ...body })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return changeQuoteSchema.parse(answer.body)
}

const confirm = (family: Family, what: 'cancellation' | 'move', body: object): Promise<Answer> =>
  fixture.call('POST', `${pathOf(family)}/${what}`, {
    ownerId: family.ownerId,
    unitAmounts,
    id: randomUUIDv7(),
    ...body,
  })

/** Looks at what a change would do and confirms it. */
async function change(family: Family, what: 'cancellation' | 'move', body: object): Promise<Change> {
  const { quoteId } = await ask(family, what, body)
  const answer = await confirm(family, what, { quoteId, ...body })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return changeSchema.parse(answer.body)
}

const cancel = (family: Family, ...names: string[]) =>
  change(family, 'cancellation', { placeIds: names.map((name) => placeOf(family, name).placeId) })
const move = (family: Family, to: Session, ...names: string[]) =>
  change(family, 'move', { placeIds: names.map((name) => placeOf(family, name).placeId), to: to.id })

const readAgain = async (family: Family): Promise<Family> => ({
  ...family,
  registration: await fixture.read(family.registration.registrationId),
})

const paymentOf = ({ changeId, terms }: Change, paymentId: string = randomUUIDv7()) =>
  newEvent(movePaid, terms.registrationId, {
    changeId,
    registrationId: terms.registrationId,
    paymentId,
    amount: terms.due,
    currency: 'usd',
    receiptNumber: 'RK-000043',
    paidAt: isoTime(Temporal.Now.instant()),
  })

const payMove = async (paid: Change) => fixture.redeliver(paymentOf(paid))

const seats = async (session: Session) => {
  const { held, sold } = await fixture.counts(session.id)
  return { held, sold }
}

const messageOf = (answer: Answer) => errorBodySchema.parse(answer.body).message

describe('Cancelling a class', () => {
  it('gives nothing back by the terms of the school, says so before, and frees the seat at once', async () => {
    const family = await enroll()
    const placeIds = [placeOf(family, 'Ivo').placeId]
    const { terms } = await ask(family, 'cancellation', { placeIds })
    expect(terms).toMatchObject({
      lines: [{ childName: 'Ivo', paid: 40_000, due: 0, back: 0 }],
      due: 0,
      back: 0,
      rule: { percent: 0, until: null },
    })
    expect(await seats(family.session)).toEqual({ held: 0, sold: 2 })

    const cancelled = await cancel(family, 'Ivo')
    expect(cancelled).toMatchObject({ status: 'done', terms })
    expect(await seats(family.session)).toEqual({ held: 0, sold: 1 })
    const { registration } = await readAgain(family)
    expect(registration).toMatchObject({ status: 'confirmed', children: [{ childName: 'Noa' }] })
    expect(registration.places).toMatchObject([
      { childName: 'Ivo', status: 'cancelled', paidAmount: 40_000 },
      { childName: 'Noa', status: 'seated' },
    ])
    const [event] = await fixture.publishedEvents(placesCancelled, registration.registrationId)
    expect(event).toMatchObject({
      changeId: cancelled.changeId,
      number: 1,
      isOver: false,
      children: [{ childName: 'Noa' }],
    })
    expect(event?.paymentIds).toEqual([registration.payment?.paymentId])
  })

  it('for all children ends the registration: its kit is not shipped and its waiver not signed any more', async () => {
    const family = await enroll()
    await fixture.sign(family.registration)
    await cancel(family, 'Ivo')
    await cancel(family, 'Noa')
    expect(await seats(family.session)).toEqual({ held: 0, sold: 0 })
    const { registrationId } = family.registration
    expect(await fixture.read(registrationId)).toMatchObject({ status: 'cancelled', kit: null })
    const shipment = { carrier: 'UPS', trackingNumber: '1Z9' }
    const shipped = await fixture.call('POST', `/kits/${registrationId}/ship`, shipment, adminHeaders)
    expect(codeOf(shipped)).toBe('kit_not_ready')
    const ended = await fixture.publishedEvents(registrationCancelled, registrationId)
    expect(ended).toMatchObject([{ reason: 'requested' }])
    // A full refund afterwards frees nothing again.
    await fixture.refund(family.registration, family.registration.payment?.paymentId ?? '')
    expect(await seats(family.session)).toEqual({ held: 0, sold: 0 })
  })

  it('happens once, however often and by how many tabs it is requested', async () => {
    const family = await enroll()
    const placeIds = [placeOf(family, 'Ivo').placeId]
    const { quoteId } = await ask(family, 'cancellation', { placeIds })
    const id = randomUUIDv7()
    const again = await Promise.all(
      [id, id, id, randomUUIDv7(), randomUUIDv7()].map((one) =>
        confirm(family, 'cancellation', { id: one, quoteId, placeIds }),
      ),
    )
    expect(await seats(family.session)).toEqual({ held: 0, sold: 1 })
    expect(await fixture.publishedEvents(placesCancelled, family.registration.registrationId)).toHaveLength(1)
    const refused = again.filter(({ status }) => status !== 200)
    expect(again.length - refused.length).toBeGreaterThan(0)
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['already_cancelled']))

    const all = family.registration.places?.map(({ placeId }) => placeId) ?? []
    expect(codeOf(await confirm(family, 'cancellation', { placeIds: all, quoteId }))).toBe('already_cancelled')
    await cancel(family, 'Noa')
    expect(await seats(family.session)).toEqual({ held: 0, sold: 0 })
    for (const one of all)
      expect(codeOf(await confirm(family, 'cancellation', { placeIds: [one], quoteId }))).toBe('already_cancelled')
    expect(await seats(family.session)).toEqual({ held: 0, sold: 0 })
  })

  it('gives back the share of the policy that is in force, and nothing else than what was confirmed', async () => {
    const session = await fixture.session({ startTime: '16:00' })
    const family = await enroll({}, undefined, session)
    const placeIds = [placeOf(family, 'Ivo').placeId]
    await fixture.db.update(changePolicies).set({
      refunds: [
        { days: 30, percent: 100 },
        { days: 7, percent: 50 },
      ],
    })
    const limit = session.startsAt.toZonedDateTimeISO('America/Los_Angeles').subtract({ days: 30 }).toInstant()
    // The clock goes on.
    fixture.service.context.clock.set(limit.subtract({ seconds: 5 }))
    const full = await ask(family, 'cancellation', { placeIds })
    expect(full.terms).toMatchObject({ back: 40_000, rule: { percent: 100, until: isoTime(limit) } })

    fixture.service.context.clock.set(limit.add({ milliseconds: 1 }))
    const refused = await confirm(family, 'cancellation', { placeIds, quoteId: full.quoteId })
    expect(refused.status).toBe(409)
    const { code, quote } = errorBodySchema.parse(refused.body)
    expect([code, quote?.terms.back]).toEqual(['quote_outdated', 20_000])
    expect(await seats(family.session)).toEqual({ held: 0, sold: 2 })
    const agreed = await confirm(family, 'cancellation', { placeIds, quoteId: quote?.quoteId })
    expect(changeSchema.parse(agreed.body).terms.back).toBe(20_000)
    expect(placeOf(await readAgain(family), 'Ivo')).toMatchObject({ status: 'cancelled', paidAmount: 20_000 })
  })

  it('promises no more than what a gift of the school has left of the payment, and the other child keeps its seat', async () => {
    const two = { amount: 80_000, unitAmount: 40_000, paidSeats: 2 }
    const family = await enroll({}, two)
    await fixture.db.update(changePolicies).set({ refunds: [{ days: 1, percent: 100 }] })
    const { registrationId, payment } = family.registration
    const gift = {
      refundId: randomUUIDv7(),
      paymentId: payment?.paymentId ?? '',
      registrationId,
      orderId: null,
      membershipId: null,
      amount: 50_000,
      currency: 'usd' as const,
      reason: 'requested' as const,
      underWayTotal: 50_000,
      paidAmount: 80_000,
    }
    await fixture.deliver(refundRequested, registrationId, gift)
    const cancelled = await cancel(family, 'Ivo')
    expect(cancelled.terms).toMatchObject({ back: 30_000, lines: [{ paid: 40_000, back: 30_000 }] })
    const ofChange = { refundId: randomUUIDv7(), amount: 30_000, underWayTotal: 80_000, changeId: cancelled.changeId }
    await fixture.deliver(refundRequested, registrationId, { ...gift, ...ofChange })
    const { registration } = await readAgain(family)
    expect(registration).toMatchObject({ status: 'confirmed', payment: { state: 'paid' } })
    expect((await ask(family, 'cancellation', { placeIds: [placeOf(family, 'Noa').placeId] })).terms.back).toBe(0)
  })

  it('does not end a registration whose whole payment went back for one child', async () => {
    const family = await enroll()
    await fixture.db.update(changePolicies).set({ refunds: [{ days: 1, percent: 100 }] })
    const cancelled = await cancel(family, 'Ivo')
    expect(cancelled.terms.back).toBe(40_000)
    const paymentId = family.registration.payment?.paymentId ?? ''
    await fixture.refund(family.registration, paymentId, 40_000, { changeId: cancelled.changeId, whole: false })
    const { registration } = await readAgain(family)
    expect(registration).toMatchObject({ status: 'confirmed', payment: { state: 'paid' } })
    expect(await seats(family.session)).toEqual({ held: 0, sold: 1 })
    expect((await fixture.sign(registration, { childName: 'Noa' })).status).toBe(200)
  })

  it('is refused once the class has begun, and while the payment goes back', async () => {
    const begun = await enrollOne()
    const placeIds = [placeOf(begun, 'Ivo').placeId]
    fixture.service.context.clock.set(begun.session.startsAt)
    const late = await fixture.call('POST', `${pathOf(begun)}/cancellation/quote`, { ownerId: begun.ownerId, placeIds })
    expect([late.status, codeOf(late)]).toEqual([409, 'change_not_allowed'])
  })

  it('is not possible for another family, nor with its own registration and another’s place', async () => {
    const [maren, ada] = [await enrollOne(), await enrollOne()]
    const placeIds = [placeOf(maren, 'Ivo').placeId]
    const to = (await fixture.session()).id
    for (const what of ['cancellation', 'move'] as const) {
      const { quoteId } = await ask(maren, what, { placeIds, to })
      for (const path of [pathOf(maren), pathOf(ada)])
        for (const end of ['/quote', '']) {
          const body = { ownerId: ada.ownerId, unitAmounts, placeIds, to, quoteId, id: randomUUIDv7() }
          const answer = await fixture.call('POST', `${path}/${what}${end}`, body)
          expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
        }
    }
    const options = await fixture.call('POST', `${pathOf(maren)}/move/options`, {
      ownerId: ada.ownerId,
      unitAmounts,
      placeIds,
    })
    expect(options.status).toBe(404)
    const pending = await move(maren, await fixture.session({ classType: 'intermediate' }), 'Ivo')
    expect((await fixture.call('POST', `/changes/${pending.changeId}/withdraw`, { ownerId: ada.ownerId })).status).toBe(
      404,
    )
    const seen = await fixture.call('GET', `${pathOf(maren)}/changes?ownerId=${ada.ownerId}`)
    expect(seen.status).toBe(404)
    expect(await seats(maren.session)).toEqual({ held: 0, sold: 1 })
  })
})

describe('Moving a child', () => {
  it('within its level costs nothing, also for a sibling who joined free by a promotion that is over', async () => {
    const family = await enroll()
    const other = await fixture.session()
    const moved = await move(family, other, 'Noa')
    expect(moved).toMatchObject({ status: 'done', terms: { due: 0, back: 0 } })
    expect(await seats(family.session)).toEqual({ held: 0, sold: 1 })
    expect(await seats(other)).toEqual({ held: 0, sold: 1 })
    const { registration } = await readAgain(family)
    expect(registration.startDate).toBe(family.session.date)
    expect(registration.places).toMatchObject([
      { childName: 'Ivo', startDate: family.session.date, paidAmount: 40_000, moves: 0 },
      { childName: 'Noa', startDate: other.date, paidAmount: 0, moves: 1 },
    ])
    const [event] = await fixture.publishedEvents(placesMoved, registration.registrationId)
    expect(event).toMatchObject({
      number: 1,
      terms: { from: { startDate: family.session.date }, to: { startDate: other.date } },
    })
  })

  it('takes the registration along when no child stays', async () => {
    const family = await enroll()
    const other = await fixture.session()
    await move(family, other, 'Ivo', 'Noa')
    const { registration } = await readAgain(family)
    expect(registration).toMatchObject({ startDate: other.date, classSessionId: other.id, children: [{}, {}] })
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    await fixture.waitForStatus(registration.registrationId, 'cancelled')
    for (const session of [family.session, other]) expect(await seats(session)).toEqual({ held: 0, sold: 0 })
  })

  it('to a level that costs less gives back the difference, at most what was paid for this child', async () => {
    const session = await fixture.session({ classType: 'advanced' })
    const price = { amount: 60_000, unitAmount: 60_000, paidSeats: 1 }
    const family = await enroll({}, price, session)
    const other = await fixture.session()
    expect((await move(family, other, 'Ivo')).terms).toMatchObject({ due: 0, back: 20_000 })
    expect((await move(family, other, 'Noa')).terms).toMatchObject({ due: 0, back: 0 })
    expect(placeOf(await readAgain(family), 'Ivo').paidAmount).toBe(40_000)
  })

  it('frees the old class for another registration of the child, and takes the new one', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const family = await enroll({ email })
    const other = await fixture.session()
    await move(family, other, 'Noa')
    const { ownerId } = family
    const again = { email, ownerId, childName: 'Noa', childAge: 9, unlessRegistered: true }
    const there = await fixture.register({ ...requestOf(other), ...again })
    expect(codeOf(there)).toBe('already_registered')
    const here = await fixture.register({ ...requestOf(family.session), ...again })
    expect(here.status).toBe(200)
  })

  it('to a class where the child has a seat already is refused', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const ownerId = randomUUIDv7()
    const first = await enroll({ email, ownerId })
    const second = await enroll({ email, ownerId })
    const family = { ...first, ownerId }
    const placeIds = [placeOf(family, 'Ivo').placeId]
    const body = { ownerId, unitAmounts, placeIds, to: second.session.id }
    expect(codeOf(await fixture.call('POST', `${pathOf(family)}/move/quote`, body))).toBe('already_registered')
  })

  it('is possible until the instant that is named, once, and not while it is switched off', async () => {
    // The clocks change between the two.
    const session = await fixture.session({ date: '2027-03-19' })
    const [first, second, third] = [await enrollOne(session), await enrollOne(session), await enrollOne(session)]
    const other = await fixture.session()
    const deadline = Temporal.Instant.from('2027-03-13T00:00:00Z')
    const clock = fixture.service.context.clock
    clock.set(deadline.subtract({ seconds: 1 }))
    const placeIds = [placeOf(first, 'Ivo').placeId]
    const { terms } = await ask(first, 'move', { placeIds, to: other.id })
    expect(terms.rule.until).toBe(isoTime(deadline))
    const moved = await move(first, other, 'Ivo')
    expect(moved.status).toBe('done')

    const twice = await confirm(first, 'move', { placeIds, to: session.id, quoteId: 'x' })
    expect([twice.status, codeOf(twice), messageOf(twice)]).toEqual([
      409,
      'change_not_allowed',
      'A child can be moved once, and Ivo was. Write to us if something came up.',
    ])

    const { quoteId } = await ask(second, 'move', { placeIds: [placeOf(second, 'Ivo').placeId], to: other.id })
    clock.set(deadline.add({ seconds: 1 }))
    const late = await confirm(second, 'move', { placeIds: [placeOf(second, 'Ivo').placeId], to: other.id, quoteId })
    expect([late.status, messageOf(late)]).toEqual([
      409,
      'Moving was free until Friday, March 12, 2027, 4:00 PM Pacific. Write to us if something came up.',
    ])

    clock.set(deadline.subtract({ hours: 24 }))
    await fixture.db.update(changePolicies).set({ freeMoves: 0 })
    const off = await confirm(third, 'move', { placeIds: [placeOf(third, 'Ivo').placeId], to: other.id, quoteId })
    expect([off.status, codeOf(off)]).toEqual([409, 'change_not_allowed'])
    const asked = await fixture.call('POST', `${pathOf(third)}/move/options`, {
      ownerId: third.ownerId,
      unitAmounts,
      placeIds: [placeOf(third, 'Ivo').placeId],
    })
    expect(moveOptionsSchema.parse(asked.body)).toMatchObject({ refusal: messageOf(off), options: [] })
    clock.set(session.startsAt.add({ hours: 1 }))
    const begun = await confirm(third, 'move', { placeIds: [placeOf(third, 'Ivo').placeId], to: other.id, quoteId })
    expect([begun.status, codeOf(begun)]).toEqual([409, 'change_not_allowed'])
    expect(await seats(session)).toEqual({ held: 0, sold: 2 })
    expect(await seats(other)).toEqual({ held: 0, sold: 1 })
  })

  it('once the kit is shipped is possible within the level only', async () => {
    const family = await enrollOne()
    await fixture.sign(family.registration)
    const shipment = { carrier: 'UPS', trackingNumber: '1Z9' }
    await fixture.call('POST', `/kits/${family.registration.registrationId}/ship`, shipment, adminHeaders)
    const placeIds = [placeOf(family, 'Ivo').placeId]
    const level2 = await fixture.session({ classType: 'intermediate' })
    const level1 = await fixture.session()
    const body = { ownerId: family.ownerId, unitAmounts, placeIds }
    const refused = await fixture.call('POST', `${pathOf(family)}/move/quote`, { ...body, to: level2.id })
    expect([codeOf(refused), messageOf(refused)]).toEqual([
      'change_not_allowed',
      'The Level 1 kit is on its way, so Ivo can move to another Level 1 date.',
    ])
    const { options, kitShipped } = moveOptionsSchema.parse(
      (await fixture.call('POST', `${pathOf(family)}/move/options`, body)).body,
    )
    expect([kitShipped, new Set(options.map(({ classType }) => classType))]).toEqual([true, new Set(['basic'])])
    expect((await move(family, level1, 'Ivo')).status).toBe('done')
  })

  it('to a full class is refused and changes nothing', async () => {
    const family = await enroll()
    const full = await fixture.session({ capacity: 1 })
    const placeIds = family.registration.places?.map(({ placeId }) => placeId)
    const answer = await fixture.call('POST', `${pathOf(family)}/move/quote`, {
      ownerId: family.ownerId,
      unitAmounts,
      placeIds,
      to: full.id,
    })
    expect(codeOf(answer)).toBe('class_full')
    expect(await seats(full)).toEqual({ held: 0, sold: 0 })
  })
})

const requestOf = (session: { date: string; classType: ClassType }) => ({
  id: randomUUIDv7(),
  guardianName: 'Maren Holt',
  addressLine1: '14 Alder Way',
  city: 'San Mateo',
  state: 'CA',
  zipCode: '94401',
  startDate: session.date,
  classType: session.classType as 'basic',
})

describe('A move with a difference to pay', () => {
  const start = async () => {
    const family = await enroll()
    const other = await fixture.session({ classType: 'intermediate', capacity: 2 })
    return { family, other, pending: await move(family, other, 'Noa') }
  }

  it('holds the new seat and keeps the old one until it is paid, and then moves once, also if it is told twice', async () => {
    const { family, other, pending } = await start()
    expect(pending).toMatchObject({ status: 'held', terms: { due: 10_000, back: 0 } })
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 2 },
      { held: 1, sold: 0 },
    ])
    const payment = paymentOf(pending)
    await fixture.redeliver(payment)
    await fixture.redeliver(newEvent(movePaid, payment.subject, payment.data))
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 1 },
      { held: 0, sold: 1 },
    ])
    const after = await readAgain(family)
    expect(placeOf(after, 'Noa')).toMatchObject({ classType: 'intermediate', paidAmount: 10_000, moves: 1 })
    const [event, ...more] = await fixture.publishedEvents(placesMoved, family.registration.registrationId)
    expect(more).toEqual([])
    expect(event?.paymentIds).toEqual([payment.data.paymentId, family.registration.payment?.paymentId])
  })

  it('that is given up, runs out or is replaced leaves everything as it was and closes its page', async () => {
    const { family, other, pending } = await start()
    const { registrationId } = family.registration
    const withdrawn = await fixture.call('POST', `/changes/${pending.changeId}/withdraw`, { ownerId: family.ownerId })
    expect(changeSchema.parse(withdrawn.body).status).toBe('withdrawn')
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 2 },
      { held: 0, sold: 0 },
    ])

    const second = await move(family, other, 'Noa')
    fixture.service.context.clock.set(Temporal.Instant.from(second.heldUntil ?? '').add({ milliseconds: 1 }))
    await expireMoves(fixture.service.context, new AbortController().signal)
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 2 },
      { held: 0, sold: 0 },
    ])

    const third = await move(family, other, 'Noa')
    const data = { changeId: third.changeId, registrationId, reason: 'expired' as const }
    await fixture.deliver(moveCheckoutEnded, registrationId, data)
    expect(await seats(other)).toEqual({ held: 0, sold: 0 })

    const fourth = await move(family, other, 'Noa')
    const free = await fixture.session()
    expect((await move(family, free, 'Noa')).status).toBe('done')
    expect([await seats(family.session), await seats(other), await seats(free)]).toEqual([
      { held: 0, sold: 1 },
      { held: 0, sold: 0 },
      { held: 0, sold: 1 },
    ])
    const ended = await fixture.publishedEvents(moveEnded, registrationId)
    expect(new Set(ended.map(({ changeId }) => changeId))).toEqual(
      new Set([pending, second, third, fourth].map(({ changeId }) => changeId)),
    )
  })

  it('has one hold and one payment page in several tabs', async () => {
    const { family, other, pending } = await start()
    const again = await Promise.all([1, 2, 3].map(() => move(family, other, 'Noa')))
    expect(again.map(({ changeId }) => changeId)).toEqual([pending, pending, pending].map(({ changeId }) => changeId))
    expect(await seats(other)).toEqual({ held: 1, sold: 0 })
  })

  it('names its payment when the registration ends because its own payment went back', async () => {
    const { family, pending } = await start()
    const payment = paymentOf(pending)
    await fixture.redeliver(payment)
    const { registration } = family
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    const [ended] = await fixture.publishedEvents(registrationCancelled, registration.registrationId)
    expect(ended).toMatchObject({ reason: 'refunded', movePaymentIds: [payment.data.paymentId] })
  })

  it('that is paid after it ran out is made if its seat is still free, and refused otherwise', async () => {
    const { family, other, pending } = await start()
    const end = Temporal.Instant.from(pending.heldUntil ?? '').add({ milliseconds: 1 })
    fixture.service.context.clock.set(end)
    await expireMoves(fixture.service.context, new AbortController().signal)
    await payMove(pending)
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 1 },
      { held: 0, sold: 1 },
    ])

    const late = await move(family, other, 'Ivo')
    fixture.service.context.clock.set(Temporal.Instant.from(late.heldUntil ?? '').add({ milliseconds: 1 }))
    await expireMoves(fixture.service.context, new AbortController().signal)
    await fixture.hold(other)
    await payMove(late)
    const [refused] = await fixture.publishedEvents(moveRefused, family.registration.registrationId)
    expect(refused).toMatchObject({ changeId: late.changeId, children: [{ childName: 'Ivo' }, { childName: 'Noa' }] })
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 1 },
      { held: 1, sold: 1 },
    ])
    expect(placeOf(await readAgain(family), 'Ivo')).toMatchObject({
      startDate: family.session.date,
      paidAmount: 40_000,
    })
  })

  it('ends when its child is cancelled or all is refunded, and what is paid for it then goes back', async () => {
    const cancelled = await start()
    await cancel(cancelled.family, 'Noa')
    expect([await seats(cancelled.family.session), await seats(cancelled.other)]).toEqual([
      { held: 0, sold: 1 },
      { held: 0, sold: 0 },
    ])
    const refunded = await start()
    const { registration } = refunded.family
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    expect([await seats(refunded.family.session), await seats(refunded.other)]).toEqual([
      { held: 0, sold: 0 },
      { held: 0, sold: 0 },
    ])
    const [ended] = await fixture.publishedEvents(registrationCancelled, registration.registrationId)
    expect(ended).toMatchObject({ reason: 'refunded', movePaymentIds: [] })
    for (const { pending, family } of [cancelled, refunded]) {
      await payMove(pending)
      expect(await fixture.publishedEvents(moveRefused, family.registration.registrationId)).toHaveLength(1)
    }
  })
})

describe('A child that moves', () => {
  const start = async () => {
    const family = await enrollOne()
    const other = await fixture.session({ classType: 'intermediate', capacity: 2 })
    const { ownerId, registration } = family
    const again = { ownerId, email: registration.email, childName: 'Ivo', siblings: [], unlessRegistered: true }
    return { family, other, again, pending: await move(family, other, 'Ivo') }
  }
  const runOut = async ({ heldUntil }: Change) => {
    fixture.service.context.clock.set(Temporal.Instant.from(heldUntil ?? '').add({ milliseconds: 1 }))
    await expireMoves(fixture.service.context, new AbortController().signal)
  }

  it('is not registered in its new class as well while the difference is being paid', async () => {
    const { family, other, again, pending } = await start()
    const refused = await fixture.register(requestFor(other, again))
    expect([refused.status, codeOf(refused)]).toEqual([409, 'already_registered'])
    expect(await seats(other)).toEqual({ held: 1, sold: 0 })
    await payMove(pending)
    expect(await seats(other)).toEqual({ held: 0, sold: 1 })
    expect(await seats(family.session)).toEqual({ held: 0, sold: 0 })
  })

  it('stays where it is, and the payment goes back, if it was registered in the new class after its move ran out', async () => {
    const { family, other, again, pending } = await start()
    await runOut(pending)
    const { registrationId } = await fixture.hold(other, again)
    await fixture.pay(registrationId, randomUUIDv7(), { amount: 50_000 })
    await payMove(pending)
    expect(await fixture.publishedEvents(moveRefused, family.registration.registrationId)).toHaveLength(1)
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 1 },
      { held: 0, sold: 1 },
    ])
  })

  it('takes its new seat when it is paid late, and the unpaid seat that was held for it there ends', async () => {
    const { family, other, again, pending } = await start()
    await runOut(pending)
    const { registrationId } = await fixture.hold(other, again)
    await payMove(pending)
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.publishedEvents(registrationExpired, registrationId)).toHaveLength(1)
    expect([await seats(family.session), await seats(other)]).toEqual([
      { held: 0, sold: 0 },
      { held: 0, sold: 1 },
    ])
  })

  it('has its move told to the address that the account has by then', async () => {
    const { family, pending } = await start()
    const { ownerId, registration } = family
    const account = (email: string) => ({
      poolId: 'local',
      userId: ownerId,
      username: `user_${ownerId}`,
      email,
      emailVerified: true,
      verifiedEmail: email,
      enabled: true,
      givenName: 'Maren',
    })
    await fixture.deliver(userConfirmed, ownerId, account(registration.email))
    const email = `new.${registration.email}`
    const changed = { ...account(email), changed: ['email'], previousEmail: registration.email }
    await fixture.deliver(userUpdated, ownerId, changed)
    await payMove(pending)
    expect(await fixture.publishedEvents(placesMoved, registration.registrationId)).toMatchObject([{ email, ownerId }])
    expect(placeOf(await readAgain(family), 'Ivo')).toMatchObject({ classType: 'intermediate', moves: 1 })
  })

  it('and a meeting of its old and its new class that the school moves at the same moment do not wait for each other, and the family learns each new date once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const family = await enrollOne()
      const other = await fixture.session()
      const { registrationId } = family.registration
      const day = Temporal.PlainDate.from(other.date).add({ days: 8 }).toString()
      const moveMeeting = ({ id }: Session) => {
        const path = `/admin/class-sessions/${id}/meetings/2/move`
        return fixture.call('POST', path, { id: randomUUIDv7(), date: day }, adminHeaders)
      }
      const [old, moved, next] = await Promise.all([
        moveMeeting(family.session),
        move(family, other, 'Ivo'),
        moveMeeting(other),
      ])
      expect([old.status, moved.status, next.status]).toEqual([200, 'done', 200])
      const [told, ...more] = await fixture.publishedEvents(placesMoved, registrationId)
      const rescheduled = await fixture.publishedEvents(registrationRescheduled, registrationId)
      expect(more).toEqual([])
      const toldNow = told?.classes.find(({ classSessionId }) => classSessionId === other.id)
      const toldLater = rescheduled.filter(({ classSessionId }) => classSessionId === other.id)
      // Either the move knew the date already, or it was told after it.
      const versions = [toldNow?.scheduleVersion, ...toldLater.map(({ scheduleVersion }) => scheduleVersion)]
      expect(versions).toEqual(versions.length === 1 ? [1] : [0, 1])
      expect((toldLater[0] ?? toldNow)?.meetings[1]?.date).toBe(day)
    }
  })

  it('no longer waits in the line of the class into which it has moved', async () => {
    const family = await enrollOne()
    const full = await fixture.session({ capacity: 1 })
    const first = await enrollOne(full)
    const { email, ownerId } = { ownerId: family.ownerId, email: family.registration.email }
    const siblings = [{ childName: 'Noa', childAge: 8 }]
    const names = { guardianName: 'Ada Lind', childName: 'Ivo', childAge: 9, siblings }
    const theClass = { startDate: full.date, classType: 'basic' }
    const body = { id: randomUUIDv7(), email, ownerId, browserId: randomUUIDv7(), ...names, ...theClass }
    expect((await fixture.call('POST', '/waitlist', body)).status).toBe(200)
    // One seat is free: too few for both.
    await cancel(first, 'Ivo')
    await move(family, full, 'Ivo')
    expect(await fixture.publishedEvents(waitlistEnded, body.id)).toMatchObject([{ outcome: 'registered' }])
    expect(await seats(full)).toEqual({ held: 0, sold: 1 })
  })
})

describe('Seats', () => {
  const step = fc.record({
    do: fc.constantFrom(
      'cancel' as const,
      'move' as const,
      'pay' as const,
      'end' as const,
      'refund' as const,
      'repeat' as const,
    ),
    family: fc.nat(2),
    child: fc.constantFrom(['Ivo'], ['Noa'], ['Ivo', 'Noa']),
    to: fc.nat(2),
  })

  it('that are sold are always those of the seated places, and what was paid less what went back is what the places say', async () => {
    await fixture.db.update(changePolicies).set({ refunds: [{ days: 1, percent: 35 }], freeMoves: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const sessions = [
          await fixture.session({ capacity: 4 }),
          await fixture.session({ classType: 'intermediate', capacity: 4 }),
          await fixture.session({ classType: 'advanced', capacity: 4 }),
        ]
        const families = [await enroll({}, undefined, sessions[0]), await enroll({}, { amount: 100_001 }, sessions[1])]
        const pending: Change[] = []
        const done: Change[] = []
        for (const { do: what, family: index, child, to } of steps) {
          const family = families[index % 2]
          const session = sessions[to]
          if (!family || !session) continue
          const { registrationId, payment } = family.registration
          try {
            if (what === 'cancel') done.push(await cancel(family, ...child))
            else if (what === 'move') {
              const moved = await move(family, session, ...child)
              ;(moved.status === 'held' ? pending : done).push(moved)
            } else if (what === 'pay' || what === 'repeat') {
              const one = what === 'pay' ? pending.shift() : pending[0]
              if (one) await payMove(one)
            } else if (what === 'end') {
              const one = pending[0]
              const data = { changeId: one?.changeId ?? '', registrationId, reason: 'expired' as const }
              if (one) await fixture.deliver(moveCheckoutEnded, registrationId, data)
            } else if (to === 0) await fixture.refund(family.registration, payment?.paymentId ?? '')
          } catch (error) {
            // Refused: nothing has changed.
            expect(String(error)).toMatch(
              /already_cancelled|change_not_allowed|class_full|validation_failed|registration_not_paid/,
            )
          }
          for (const { id } of sessions) {
            const [counted] = (
              await fixture.db.execute<{
                held: number
                sold: number
                seated: number
                waiting: number
                capacity: number
              }>(sql`
                select held, sold, capacity,
                  (select count(*)::int from places p join registrations r on r.id = p.registration_id
                    where p.class_session_id = s.id and p.status = 'seated' and r.status in ('confirmed', 'waiver_signed')) as seated,
                  (select coalesce(sum(seats), 0)::int from changes c where c.to_class_session_id = s.id and c.status = 'held') as waiting
                from class_sessions s where id = ${id}`)
            ).rows
            expect([counted?.sold, counted?.held]).toEqual([counted?.seated, counted?.waiting])
            expect((counted?.held ?? 0) + (counted?.sold ?? 0)).toBeLessThanOrEqual(counted?.capacity ?? 0)
          }
          const rows = await fixture.db.select().from(places).where(eq(places.registrationId, registrationId))
          const kept = rows.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
          const settled = await fixture.db.select().from(changes).where(eq(changes.registrationId, registrationId))
          const moved = settled
            .filter(({ status }) => status === 'done')
            .reduce((sum, { quote }) => sum + quote.due - quote.back, 0)
          expect(kept).toBe((payment?.amount ?? 0) + moved)
          expect(rows.every(({ paidAmount }) => paidAmount >= 0)).toBe(true)
        }
      }),
      { numRuns: 12 },
    )
  })
})

describe('The list of changes', () => {
  it('has what its owner has confirmed, in order', async () => {
    const family = await enroll()
    const moved = await move(family, await fixture.session(), 'Noa')
    const cancelled = await cancel(family, 'Ivo')
    const answer = await fixture.call('GET', `${pathOf(family)}/changes?ownerId=${family.ownerId}`)
    expect(changesSchema.parse(answer.body).changes).toEqual([moved, cancelled])
    expect(changeSchema.parse((await fixture.call('GET', `/changes/${moved.changeId}`)).body)).toEqual(moved)
  })
})

describe('A correction', () => {
  const correct = (family: Family, body: object, ownerId = family.ownerId) =>
    fixture.call('POST', `${pathOf(family)}/correction`, { ownerId, ...body })
  const address = { addressLine1: '2 Oak St', addressLine2: '', city: 'Durham', state: 'NC', zipCode: '27701' }

  it('changes names, ages and the address until the kit is shipped, no money, and nothing that was signed', async () => {
    const family = await enroll()
    await fixture.sign(family.registration)
    const { placeId, paidAmount } = placeOf(family, 'Ivo')
    const children = [{ placeId, childName: 'Ivó', childAge: 10 }]
    const answer = await correct(family, { children, address })
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { children: [{ childName: 'Ivó', childAge: 10 }, { childName: 'Noa' }], address },
    ])
    const { registration } = await readAgain(family)
    expect(registration.places?.[0]).toMatchObject({ childName: 'Ivó', childAge: 10, paidAmount })
    const [waiver] = await fixture.waitForEvents(waiverSigned, registration.registrationId)
    expect(waiver?.children).toEqual(family.registration.children)
    const again = await correct(family, { children, address })
    expect(again.body).toEqual(answer.body)

    const shipment = { carrier: 'UPS', trackingNumber: '1Z9' }
    await fixture.call('POST', `/kits/${registration.registrationId}/ship`, shipment, adminHeaders)
    const late = await correct(family, { address: { ...address, city: 'Cary' } })
    expect([late.status, codeOf(late)]).toEqual([409, 'change_not_allowed'])
  })

  it('is not possible for another family, of a cancelled child, or to the name of a child who has a seat there already', async () => {
    const family = await enroll()
    const { placeId } = placeOf(family, 'Ivo')
    const rename = (childName: string, childAge = 9) => ({ children: [{ placeId, childName, childAge }] })
    expect((await correct(family, rename('Ada'), randomUUIDv7())).status).toBe(404)
    expect(codeOf(await correct(family, rename('Noa', 8)))).toBe('validation_failed')
    const { ownerId, registration, session } = family
    const another = { ownerId, email: registration.email, childName: 'Mia', siblings: [] }
    await fixture.pay((await fixture.hold(session, another)).registrationId)
    expect(codeOf(await correct(family, rename('mia')))).toBe('already_registered')
    await cancel(family, 'Ivo')
    expect((await correct(family, rename('Ada'))).status).toBe(404)
    expect((await readAgain(family)).registration.children).toEqual([{ childName: 'Noa', childAge: 8 }])
  })
})
