import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { paymentRefunded } from '@robokids/contracts/billing'
import {
  registrationHeld,
  registrationFactsSchema,
  registrationRejected,
  registrationSchema,
  type Registration,
} from '@robokids/contracts/enrollment'
import { familyClassesSchema } from '@robokids/contracts/dashboard'
import { userConfirmed, userDeleted } from '@robokids/contracts/identity'
import {
  waitlistEnded,
  waitlistEntrySchema,
  waitlistJoined,
  waitlistLineSchema,
  waitlistOffered,
  type JoinWaitlist,
  type WaitlistEntry,
} from '@robokids/contracts/waitlist'
import { wakeJob } from '@robokids/runtime/db'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { classSessions, registrations, waitlistEntries } from '../src/schema.ts'
import { spawnEnrollment, type EnrollmentProcess } from './processes.ts'
import { adminHeaders, codeOf, requestFor, startEnrollment, type Answer, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

type Session = Awaited<ReturnType<EnrollmentFixture['session']>>

const address = { addressLine1: '14 Alder Way', city: 'San Mateo', state: 'CA', zipCode: '94401' }
const newEmail = () => `${randomUUIDv7()}@example.com`

function joinRequest(session: Session, children = 1, differences: Partial<JoinWaitlist> = {}) {
  return {
    id: randomUUIDv7(),
    guardianName: 'Ada Lind',
    email: newEmail(),
    browserId: randomUUID(),
    childName: 'Mia 0',
    childAge: 8,
    siblings: Array.from({ length: children - 1 }, (_, n) => ({ childName: `Mia ${n + 1}`, childAge: 9 })),
    startDate: session.date,
    classType: 'basic' as const,
    ...differences,
  }
}

const askToJoin = (session: Session, children = 1, differences: Partial<JoinWaitlist> = {}): Promise<Answer> =>
  fixture.call('POST', '/waitlist', joinRequest(session, children, differences))

async function join(session: Session, children = 1, differences: Partial<JoinWaitlist> = {}): Promise<WaitlistEntry> {
  const answer = await askToJoin(session, children, differences)
  expect(answer).toMatchObject({ status: 200 })
  return waitlistEntrySchema.parse(answer.body)
}

const entry = async (id: string) => waitlistEntrySchema.parse((await fixture.call('GET', `/waitlist/${id}`)).body)
const accept = (id: string, body: Record<string, unknown> = {}) =>
  fixture.call('POST', `/waitlist/${id}/accept`, { ...address, ...body })
const leave = (id: string) => fixture.call('POST', `/waitlist/${id}/leave`)
const decline = (id: string) => fixture.call('POST', `/waitlist/${id}/decline`)
const statuses = async (entries: WaitlistEntry[]) =>
  Promise.all(entries.map(async ({ entryId }) => (await entry(entryId)).status))

async function state(session: Session) {
  const [row] = await fixture.db.select().from(classSessions).where(eq(classSessions.id, session.id))
  if (!row) throw new Error('no such session')
  const { held, sold, setAside, familiesWaiting } = row
  return { held, sold, setAside, familiesWaiting }
}

/** A class whose seats are all sold, with the payments of its families. */
async function fullSession(capacity: number, differences: Parameters<EnrollmentFixture['session']>[0] = {}) {
  const session = await fixture.session({ capacity, ...differences })
  const sold = await Promise.all(
    Array.from({ length: capacity }, async () => {
      const paymentId = randomUUIDv7()
      const registration = await fixture.hold(session, { email: newEmail(), browserId: randomUUID() })
      await fixture.pay(registration.registrationId, paymentId)
      return { registration, paymentId }
    }),
  )
  return { session, sold }
}

/** A full refund frees a family's seat. */
function free(sold: { registration: Registration; paymentId: string }[], count = 1): Promise<unknown> {
  const refunded = sold.splice(0, count)
  return Promise.all(refunded.map(({ registration, paymentId }) => fixture.refund(registration, paymentId)))
}

const runJob = () => wakeJob(fixture.db, 'run-waitlists')
const setClock = (instant: Temporal.Instant) => fixture.service.context.clock.set(instant)

async function expectEnded(id: string, outcome: string): Promise<void> {
  const events = await fixture.publishedEvents(waitlistEnded, id)
  expect(events).toMatchObject([{ entryId: id, outcome }])
}

describe('the line of a class, for an administrator', () => {
  it('shows who has an offer and who waits, and a removed family gives its seats to the next one', async () => {
    const { session, sold } = await fullSession(1)
    const [first, next] = [await join(session), await join(session)]
    await free(sold)
    const path = `/admin/class-sessions/${session.id}/waitlist`
    const line = async () => {
      const answer = await fixture.call('GET', path, undefined, adminHeaders)
      return waitlistLineSchema.parse(answer.body).entries.map(({ entryId, status, place }) => [entryId, status, place])
    }
    expect(await line()).toEqual([
      [first.entryId, 'offered', null],
      [next.entryId, 'waiting', 1],
    ])
    const removal = `/admin/waitlist/${first.entryId}/remove`
    expect((await fixture.call('POST', removal)).status).toBe(401)
    expect((await fixture.call('POST', removal, undefined, adminHeaders)).status).toBe(200)
    expect(await line()).toEqual([[next.entryId, 'offered', null]])
  })
})

describe('joining the waitlist', () => {
  it('of a full class gives a family its place, once, however often and by whichever id it asks', async () => {
    const { session } = await fullSession(1)
    const first = await join(session, 2)
    const request = joinRequest(session, 3)
    const answers = await Promise.all([1, 2, 3].map(() => fixture.call('POST', '/waitlist', request)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { entryId: request.id, place: 2 } })
    const again = await fixture.call('POST', '/waitlist', { ...request, id: randomUUIDv7() })
    expect(again).toMatchObject({ status: 200, body: { entryId: request.id, place: 2, familiesWaiting: 2 } })
    const other = await fixture.call('POST', '/waitlist', { ...request, guardianName: 'Bo Lind' })
    expect([other.status, codeOf(other)]).toEqual([409, 'id_reused'])
    const fewer = await fixture.call('POST', '/waitlist', { ...request, id: randomUUIDv7(), siblings: [] })
    expect([fewer.status, codeOf(fewer)]).toEqual([409, 'already_waiting'])
    expect(await entry(first.entryId)).toMatchObject({ status: 'waiting', place: 1, familiesWaiting: 2 })
    expect(await fixture.publishedEvents(waitlistJoined, request.id)).toMatchObject([{ place: 2, familiesWaiting: 2 }])
    const classes = await fixture.call('GET', '/classes')
    expect(JSON.stringify(classes.body)).toContain('"seatsLeft":0,"familiesWaiting":2')
  })

  it('is refused while there are seats for the whole family, and possible if there are too few', async () => {
    const session = await fixture.session({ capacity: 2 })
    const fits = await askToJoin(session, 2)
    expect([fits.status, codeOf(fits)]).toEqual([409, 'class_not_full'])
    await join(session, 3)
    expect(await fixture.seatsLeft(session)).toBe(2)
  })

  it('is refused for a child with a seat, an unknown class, a class of two hours from now, and a class that has begun', async () => {
    const { session, sold } = await fullSession(1)
    const [one] = sold
    const [registered] = await fixture.db
      .select()
      .from(registrations)
      .where(eq(registrations.id, one?.registration.registrationId ?? ''))
    const same = { email: registered?.email ?? '', browserId: registered?.browserId ?? '', childName: 'Ivo' }
    expect(codeOf(await askToJoin(session, 1, same))).toBe('already_registered')
    expect(codeOf(await askToJoin({ ...session, date: '2031-12-31' }))).toBe('class_not_offered')
    setClock(session.startsAt.subtract({ minutes: 110 }))
    expect(codeOf(await askToJoin(session))).toBe('waitlist_closed')
    setClock(session.startsAt)
    expect(codeOf(await askToJoin(session))).toBe('class_not_offered')
  })

  it('is limited for a browser and a network, as unpaid seats are', async () => {
    const { session } = await fullSession(1)
    const { session: other } = await fullSession(1)
    const own = { browserId: randomUUID(), network: '2001:db8:77::/48' }
    for (const n of [1, 2, 3]) await join(session, 4, { ...own, email: newEmail(), childName: `Ivo ${n}` })
    const more = await askToJoin(other, 1, { ...own, network: '2001:db8:78::/48' })
    expect([more.status, codeOf(more)]).toEqual([429, 'too_many_unpaid'])
    await join(session, 4, { network: own.network })
    expect(codeOf(await askToJoin(other, 1, { network: own.network }))).toBe('too_many_unpaid')
    await join(other, 1)
  })

  it('tells a stranger who types a family’s address nothing about its place', async () => {
    const { session } = await fullSession(1)
    const family = { email: newEmail(), childName: 'Noa' }
    const own = await join(session, 1, family)
    const stranger = await join(session, 1, family)
    expect(stranger.entryId).not.toBe(own.entryId)
    const unknown = await fixture.call('GET', `/waitlist/${randomUUIDv7()}`)
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'waitlist_entry_not_found'])
    const others = await fixture.call('GET', `/accounts/${randomUUIDv7()}/classes`)
    expect(others.body).toMatchObject({ waitlist: [] })
  })
})

describe('seats that become free', () => {
  it('by a refund, the end of a hold or a raised capacity are offered in order, and nobody else sees them', async () => {
    const { session, sold } = await fullSession(2)
    const line = [await join(session), await join(session), await join(session), await join(session)]
    await free(sold)
    expect(await statuses(line)).toEqual(['offered', 'waiting', 'waiting', 'waiting'])
    const offered = await fixture.publishedEvents(waitlistOffered, line[0]?.entryId ?? '')
    const ends = Temporal.Instant.from(offered[0]?.offerEndsAt ?? '')
    expect(Math.round(fixture.service.context.clock.now().until(ends).total('hours'))).toBe(24)

    const raised = await fixture.call(
      'POST',
      `/admin/class-sessions/${session.id}/capacity`,
      { capacity: 3 },
      adminHeaders,
    )
    expect(raised).toMatchObject({ status: 200, body: { held: 2, sold: 1, capacity: 3 } })
    expect(await statuses(line)).toEqual(['offered', 'offered', 'waiting', 'waiting'])

    const accepted = registrationSchema.parse((await accept(line[0]?.entryId ?? '')).body)
    await fixture.call('POST', `/registrations/${accepted.registrationId}/expire`, undefined, adminHeaders)
    expect(await statuses(line)).toEqual(['accepted', 'offered', 'offered', 'waiting'])
    expect(await state(session)).toEqual({ held: 2, sold: 1, setAside: 0, familiesWaiting: 1 })
    expect(await fixture.seatsLeft(session)).toBe(0)
  })

  it('stay with a family that corrects its own registration or holds its seat again, while others wait', async () => {
    const session = await fixture.session({ capacity: 1 })
    const own = { email: newEmail(), browserId: randomUUID(), unlessRegistered: true }
    const held = await fixture.hold(session, own)
    const waiting = await join(session)
    const corrected = requestFor(session, { ...own, childName: 'Ivo Emil', replaces: held.registrationId })
    expect(await fixture.register(corrected)).toMatchObject({ status: 200, body: { status: 'held' } })
    expect(await statuses([waiting])).toEqual(['waiting'])
    expect(await state(session)).toMatchObject({ held: 1, familiesWaiting: 1 })
    // The seat of the correction goes to the line, and the family does not get it back by its old page.
    await fixture.call('POST', `/registrations/${corrected.id}/expire`, undefined, adminHeaders)
    expect(await statuses([waiting])).toEqual(['offered'])
    const renewed = await fixture.call('POST', `/registrations/${corrected.id}/hold`, {
      ...own,
      network: '2001:db8:5::/48',
    })
    expect([renewed.status, codeOf(renewed)]).toEqual([409, 'class_full'])
    expect(await state(session)).toMatchObject({ held: 1, familiesWaiting: 0 })
  })

  it('are not for a payment that comes after its hold: it is rejected, and the offer stays', async () => {
    const session = await fixture.session({ capacity: 1 })
    const late = await fixture.hold(session, { email: newEmail(), browserId: randomUUID() })
    const waiting = await join(session)
    await fixture.call('POST', `/registrations/${late.registrationId}/expire`, undefined, adminHeaders)
    await fixture.pay(late.registrationId)
    const [rejected] = await fixture.waitForEvents(registrationRejected, late.registrationId)
    expect(rejected).toMatchObject({ reason: 'class_full' })
    expect(await statuses([waiting])).toEqual(['offered'])
    expect(await state(session)).toMatchObject({ held: 1, sold: 0 })
  })

  it('are set aside for a family that was passed over twice, on all pages and for every buyer, until 72 hours before', async () => {
    const { session, sold } = await fullSession(4)
    const three = await join(session, 3)
    await free(sold)
    expect(await state(session)).toMatchObject({ held: 0, setAside: 0 })
    expect(await fixture.seatsLeft(session)).toBe(1)
    // Somebody else takes it and releases it.
    const buyer = await fixture.hold(session, { email: newEmail(), browserId: randomUUID() })
    await fixture.call('POST', `/registrations/${buyer.registrationId}/expire`, undefined, adminHeaders)
    expect(await state(session)).toMatchObject({ held: 0, setAside: 1 })
    expect(await fixture.seatsLeft(session)).toBe(0)
    const refused = await fixture.register(requestFor(session, { email: newEmail(), browserId: randomUUID() }))
    expect([refused.status, codeOf(refused)]).toEqual([409, 'class_full'])
    const behind = await join(session, 1)
    await free(sold)
    expect(await statuses([three, behind])).toEqual(['waiting', 'waiting'])
    expect(await state(session)).toMatchObject({ held: 0, setAside: 2, familiesWaiting: 2 })

    setClock(session.startsAt.subtract({ hours: 72 }))
    await runJob()
    await eventually(async () => (await entry(behind.entryId)).status === 'offered')
    expect(await statuses([three])).toEqual(['waiting'])
    expect(await state(session)).toMatchObject({ held: 1, setAside: 0, familiesWaiting: 1 })
    expect(await fixture.seatsLeft(session)).toBe(1)
  })

  it('are set aside 48 hours after a family was first passed over, and offered to the next if it leaves', async () => {
    const { session, sold } = await fullSession(2)
    const two = await join(session, 2)
    await free(sold)
    expect(await fixture.seatsLeft(session)).toBe(1)
    setClock(fixture.service.context.clock.now().add({ hours: 48, minutes: 1 }))
    await runJob()
    await eventually(async () => (await state(session)).setAside === 1)
    const behind = await join(session, 1)
    expect(await statuses([two, behind])).toEqual(['waiting', 'waiting'])
    await leave(two.entryId)
    expect(await statuses([two, behind])).toEqual(['left', 'offered'])
    expect(await state(session)).toEqual({ held: 1, sold: 1, setAside: 0, familiesWaiting: 0 })
  })

  it('by a process that knows no waitlist are offered by the job', async () => {
    const { session } = await fullSession(1)
    const waiting = await join(session)
    await fixture.db.update(classSessions).set({ sold: 0 }).where(eq(classSessions.id, session.id))
    await runJob()
    await eventually(async () => (await entry(waiting.entryId)).status === 'offered')
    expect(await state(session)).toEqual({ held: 1, sold: 0, setAside: 0, familiesWaiting: 0 })
  })
})

describe('an offer', () => {
  it('becomes the hold of a registration, once, with no moment in which the seats are free', async () => {
    const { session, sold } = await fullSession(2)
    const family = await join(session, 2)
    await free(sold, 2)
    const before = await state(session)
    const answers = await Promise.all([accept(family.entryId), accept(family.entryId), accept(family.entryId)])
    const [first] = answers
    const registration = registrationSchema.parse(first?.body)
    for (const { body } of answers) expect(body).toMatchObject({ registrationId: registration.registrationId })
    expect(registration).toMatchObject({ status: 'held', guardianName: 'Ada Lind', address: { zipCode: '94401' } })
    expect(registration.children).toHaveLength(2)
    expect(await state(session)).toEqual(before)
    expect(await entry(family.entryId)).toMatchObject({
      status: 'accepted',
      registrationId: registration.registrationId,
    })
    expect(await fixture.publishedEvents(registrationHeld, registration.registrationId)).toHaveLength(1)
    await expectEnded(family.entryId, 'accepted')
    await fixture.pay(registration.registrationId)
    await fixture.waitForStatus(registration.registrationId, 'confirmed')
    expect(await state(session)).toEqual({ held: 0, sold: 2, setAside: 0, familiesWaiting: 0 })
    // An accepted entry is over.
    expect(await leave(family.entryId)).toMatchObject({ status: 200, body: { status: 'accepted' } })
  })

  it('that is declined or left goes to the next family, and doing it again changes nothing', async () => {
    const { session, sold } = await fullSession(1)
    const line = [await join(session), await join(session), await join(session)]
    const [ada, bo, cy] = line.map(({ entryId }) => entryId)
    await free(sold)
    expect(await decline(bo ?? '')).toMatchObject({ status: 200, body: { status: 'waiting', place: 1 } })
    for (const _ of [1, 2])
      expect(await decline(ada ?? '')).toMatchObject({ status: 200, body: { status: 'declined' } })
    expect(await statuses(line)).toEqual(['declined', 'offered', 'waiting'])
    expect(await entry(cy ?? '')).toMatchObject({ place: 1, familiesWaiting: 1 })
    const left = await Promise.all([leave(bo ?? ''), leave(bo ?? '')])
    for (const answer of left) expect(answer).toMatchObject({ status: 200, body: { status: 'left' } })
    expect(await statuses(line)).toEqual(['declined', 'left', 'offered'])
    expect(await fixture.publishedEvents(waitlistOffered, cy ?? '')).toHaveLength(1)
    const gone = await accept(ada ?? '')
    expect([gone.status, codeOf(gone)]).toEqual([409, 'offer_ended'])
    await expectEnded(ada ?? '', 'declined')
    await expectEnded(bo ?? '', 'left')
    expect(await state(session)).toEqual({ held: 1, sold: 0, setAside: 0, familiesWaiting: 0 })
  })

  it('that nobody accepts ends after 24 hours, or half of the time that is left, and goes to the next family', async () => {
    const { session, sold } = await fullSession(1)
    const [ada, bo] = [await join(session), await join(session)]
    setClock(session.startsAt.subtract({ hours: 26 }))
    await free(sold)
    expect((await entry(ada.entryId)).offerEndsAt).toBe(
      session.startsAt.subtract({ hours: 13 }).toString({ fractionalSecondDigits: 3 }),
    )
    setClock(session.startsAt.subtract({ hours: 13 }))
    // Too late, although the job has not run.
    expect(codeOf(await accept(ada.entryId))).toBe('offer_ended')
    await runJob()
    await eventually(async () => (await entry(bo.entryId)).status === 'offered')
    expect(await entry(ada.entryId)).toMatchObject({ status: 'expired', place: null })
    await expectEnded(ada.entryId, 'expired')
    expect((await entry(bo.entryId)).offerEndsAt).toBe(
      session.startsAt.subtract({ hours: 6, minutes: 30 }).toString({ fractionalSecondDigits: 3 }),
    )
    setClock(session.startsAt)
    await runJob()
    await eventually(async () => (await entry(bo.entryId)).status !== 'offered')
    expect(await state(session)).toEqual({ held: 0, sold: 0, setAside: 0, familiesWaiting: 0 })
  })

  it('and every place in line end when the class is cancelled or begins, each told once', async () => {
    for (const [change, outcome] of [
      ['cancel', 'class_cancelled'],
      ['begin', 'class_started'],
    ] as const) {
      const { session, sold } = await fullSession(1)
      const [offered, waiting] = [await join(session), await join(session)]
      await free(sold)
      if (change === 'cancel') {
        await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, session.id))
      } else setClock(session.startsAt)
      const refused = await accept(offered.entryId)
      expect([refused.status, codeOf(refused)]).toEqual([409, 'offer_ended'])
      await runJob()
      await eventually(async () => (await entry(waiting.entryId)).status === 'closed')
      for (const { entryId } of [offered, waiting]) {
        expect(await entry(entryId)).toMatchObject({ closedReason: outcome, place: null })
        await expectEnded(entryId, outcome)
      }
      expect(codeOf(await accept(offered.entryId))).toBe('offer_ended')
      expect(await state(session)).toMatchObject({ held: 0, setAside: 0, familiesWaiting: 0 })
    }
  })

  it('is within the capacity of each moment while that is raised and lowered', async () => {
    const { session } = await fullSession(3)
    const line = []
    for (let n = 0; n < 5; n++) line.push(await join(session))
    const setCapacity = (capacity: number) =>
      fixture.call('POST', `/admin/class-sessions/${session.id}/capacity`, { capacity }, adminHeaders)
    expect(await setCapacity(6)).toMatchObject({ status: 200 })
    expect(await statuses(line)).toEqual(['offered', 'offered', 'offered', 'waiting', 'waiting'])
    for (const capacity of [4, 3]) {
      const refused = await setCapacity(capacity)
      expect([refused.status, codeOf(refused)]).toEqual([409, 'seats_taken'])
      expect(JSON.stringify(refused.body)).toContain('3 seats are sold and 3 held')
    }
    await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, session.id))
    expect(await setCapacity(8)).toMatchObject({ status: 200 })
    expect(await state(session)).toMatchObject({ held: 3, sold: 3 })
    for (const { entryId } of line) {
      expect((await fixture.publishedEvents(waitlistOffered, entryId)).length).toBeLessThanOrEqual(1)
    }
  })

  it('ends when its child gets a seat in another way, and is refused for a child whose seat is held already', async () => {
    const { session, sold } = await fullSession(2)
    const family = { email: newEmail(), browserId: randomUUID(), childName: 'Noa' }
    const [own, next] = [await join(session, 1, family), await join(session)]
    // A seat outside of the line, as a process of the previous version would sell it.
    await fixture.db.update(classSessions).set({ capacity: 3 }).where(eq(classSessions.id, session.id))
    const { registrationId } = await fixture.hold(session, family)
    await free(sold)
    expect(await statuses([own, next])).toEqual(['offered', 'waiting'])
    expect(codeOf(await accept(own.entryId, { browserId: family.browserId }))).toBe('already_registered')
    await fixture.pay(registrationId)
    await fixture.waitForStatus(registrationId, 'confirmed')
    expect(await statuses([own, next])).toEqual(['closed', 'offered'])
    await expectEnded(own.entryId, 'registered')
    expect(await state(session)).toEqual({ held: 1, sold: 2, setAside: 0, familiesWaiting: 0 })
  })
})

describe('the owner of a place in line', () => {
  const account = (userId: string, email: string) => ({
    poolId: 'local',
    userId,
    username: `user_${userId}`,
    email,
    emailVerified: true,
    verifiedEmail: email,
    enabled: true,
    givenName: 'Ada',
  })

  it('is the account that verifies its address, keeps it, and takes its place along when it is deleted', async () => {
    const { session, sold } = await fullSession(1)
    const [userId, otherId, email] = [randomUUIDv7(), randomUUIDv7(), newEmail()]
    const own = await join(session, 1, { email })
    const next = await join(session)
    expect(own.ownerId).toBeNull()
    await fixture.redeliver(newEvent(userConfirmed, userId, account(userId, email)))
    await fixture.redeliver(newEvent(userConfirmed, otherId, account(otherId, newEmail())))
    const list = async (id: string) =>
      familyClassesSchema.parse((await fixture.call('GET', `/accounts/${id}/classes`)).body).waitlist
    expect(await list(userId)).toMatchObject([{ entryId: own.entryId, status: 'waiting', ownerId: userId }])
    expect(await list(otherId)).toEqual([])
    await free(sold)
    expect(await statuses([own, next])).toEqual(['offered', 'waiting'])
    const deleted = newEvent(userDeleted, userId, account(userId, email))
    for (const _ of [1, 2]) await fixture.redeliver(deleted)
    await eventually(async () => (await entry(next.entryId)).status === 'offered')
    await expectEnded(own.entryId, 'left')
    expect(await state(session)).toEqual({ held: 1, sold: 0, setAside: 0, familiesWaiting: 0 })
  })

  it('also owns the registration, if somebody without an account accepts by the link', async () => {
    const { session, sold } = await fullSession(1)
    const [userId, email] = [randomUUIDv7(), newEmail()]
    await fixture.redeliver(newEvent(userConfirmed, userId, account(userId, email)))
    const own = await join(session, 1, { email, ownerId: userId })
    await free(sold)
    const answer = await accept(own.entryId, { browserId: randomUUID() })
    expect(answer).toMatchObject({ status: 200, body: { ownerId: userId } })
  })
})

describe('with two processes', () => {
  let second: EnrollmentProcess
  beforeAll(async () => {
    second = await spawnEnrollment({ DATABASE_URL: fixture.service.databaseUrl, NATS_URL: fixture.bed.nats.url })
  })
  afterAll(() => second.stop())

  it('two seats that become free at the same moment go to two families, each told once', async () => {
    for (let round = 0; round < 5; round++) {
      const { session, sold } = await fullSession(3)
      const [ada, bo, cy] = [await join(session), await join(session), await join(session)]
      await free(sold, 2)
      expect(await statuses([ada, bo, cy])).toEqual(['offered', 'offered', 'waiting'])
      for (const { entryId } of [ada, bo]) {
        expect(await fixture.publishedEvents(waitlistOffered, entryId)).toHaveLength(1)
      }
      expect(await state(session)).toEqual({ held: 2, sold: 1, setAside: 0, familiesWaiting: 1 })
    }
  })

  it('two hundred families of one to four race for the seats of ten cancellations: none is split, skipped or told twice', async () => {
    const { session, sold } = await fullSession(10)
    const urls = [fixture.service.url, second.url]
    const sizes = Array.from({ length: 200 }, (_, n) => 1 + ((n * 7) % 4))
    // A process that is busy says so, and the page asks again with the same id.
    const joinAt = async (request: object, url: string | undefined): Promise<Answer> => {
      const answer = await fixture.call('POST', '/waitlist', request, {}, url)
      return answer.status === 503 ? joinAt(request, url) : answer
    }
    const joinAll = (some: number[], offset: number) =>
      Promise.all(some.map((size, n) => joinAt(joinRequest(session, size), urls[(n + offset) % 2])))
    await joinAll(sizes.slice(0, 100), 0)
    const refunds = sold.map(({ registration, paymentId }) => {
      const { registrationId } = registration
      const amounts = { amount: 40_000, currency: 'usd' as const, refundedTotal: 40_000, paidAmount: 40_000 }
      const purchase = registrationFactsSchema.parse(registration)
      const data = { refundId: randomUUIDv7(), paymentId, registrationId, reason: 'requested' as const, purchase }
      return newEvent(paymentRefunded, registrationId, { ...data, ...amounts })
    })
    const [late] = await Promise.all([
      joinAll(sizes.slice(100), 1),
      // Each twice.
      ...[...refunds, ...refunds].map((event) => fixture.bus.republish(event)),
    ])
    for (const { status } of late) expect(status).toBe(200)
    await eventually(async () => (await state(session)).sold === 0, 60_000)

    const rows = await fixture.db
      .select()
      .from(waitlistEntries)
      .where(eq(waitlistEntries.classSessionId, session.id))
      .orderBy(waitlistEntries.place)
    const offered = rows.filter(({ status }) => status === 'offered')
    const seats = offered.reduce((sum, one) => sum + one.seats, 0)
    const { held, setAside, familiesWaiting } = await state(session)
    expect({ held, families: rows.length, waiting: familiesWaiting }).toEqual({
      held: seats,
      families: 200,
      waiting: 200 - offered.length,
    })
    expect(held + setAside).toBeLessThanOrEqual(10)
    // Nobody waits behind a seat that it could have.
    const waiting = rows.filter(({ status }) => status === 'waiting')
    expect(Math.min(...waiting.map((one) => one.seats))).toBeGreaterThan(10 - held - setAside)
    for (const one of waiting) expect(one.passedOver).toBeLessThanOrEqual(2)
    const { rows: told } = await fixture.db.execute<{ count: number }>(sql`
      select count(*)::int as count from outbox
      where type = 'waitlist.offered' and envelope -> 'data' ->> 'classSessionId' = ${session.id}`)
    expect(told).toEqual([{ count: offered.length }])
  }, 120_000)

  it('an offer is accepted, left and ended at the same moment with one outcome, and the seat is never free', async () => {
    const urls = [fixture.service.url, second.url]
    for (let round = 0; round < 5; round++) {
      const { session, sold } = await fullSession(1)
      const [own, next] = [await join(session), await join(session)]
      await free(sold)
      const [accepted, left] = await Promise.all([
        fixture.call('POST', `/waitlist/${own.entryId}/accept`, address, {}, urls[round % 2]),
        fixture.call('POST', `/waitlist/${own.entryId}/leave`, undefined, {}, urls[(round + 1) % 2]),
        fixture.register(requestFor(session, { email: newEmail(), browserId: randomUUID() }), urls[round % 2]),
      ])
      expect(left.status).toBe(200)
      const outcome = accepted.status === 200 ? ['accepted', 'waiting'] : ['left', 'offered']
      expect(await statuses([own, next])).toEqual(outcome)
      expect(await state(session)).toMatchObject({ held: 1, sold: 0 })
    }
  })

  it('a process that dies with requests in flight leaves each of them done or not begun, and repeating them ends the same', async () => {
    const { session, sold } = await fullSession(4)
    const entries = await Promise.all([1, 2, 1, 1].map((size) => join(session, size)))
    await free(sold, 3)
    const requests = Array.from({ length: 12 }, () => joinRequest(session, 2))
    const [first] = entries
    const send = (url: string) => [
      ...requests.map((request) => fixture.call('POST', '/waitlist', request, {}, url)),
      fixture.call('POST', `/waitlist/${first?.entryId}/accept`, address, {}, url),
      ...entries
        .slice(1, 3)
        .map(({ entryId }) => fixture.call('POST', `/waitlist/${entryId}/leave`, undefined, {}, url)),
    ]
    const dying = send(second.url).map((answer) => answer.catch(() => undefined))
    await dying[0]
    await second.kill()
    await Promise.all(dying)
    for (const answer of await Promise.all(send(fixture.service.url))) expect(answer.status).toBe(200)
    for (const { id } of requests) expect(await fixture.publishedEvents(waitlistJoined, id)).toHaveLength(1)
    for (const { entryId } of entries.slice(0, 3)) {
      expect(await fixture.publishedEvents(waitlistEnded, entryId)).toHaveLength(1)
    }
    const rows = await fixture.db.select().from(waitlistEntries).where(eq(waitlistEntries.classSessionId, session.id))
    const seatsOf = (status: string) =>
      rows.filter((one) => one.status === status).reduce((sum, one) => sum + one.seats, 0)
    const { held, familiesWaiting } = await state(session)
    expect({ rows: rows.length, held }).toEqual({ rows: 16, held: seatsOf('offered') + seatsOf('accepted') })
    expect(familiesWaiting).toBe(rows.filter((one) => one.status === 'waiting').length)
  })
})
