import { randomUUIDv7 } from 'node:crypto'
import { subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
import {
  memberClassBooked,
  memberClassCancelled,
  memberClassesSchema,
  memberClassMoved,
  memberClassNotRestored,
  memberCreditChanged,
} from '@robokids/contracts/member-classes'
import { userConfirmed } from '@robokids/contracts/identity'
import { familyClassesSchema } from '@robokids/contracts/dashboard'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/iso-time.ts'
import { readBookingsOf } from '../src/members/lock-member.ts'
import { returnClass } from '../src/members/return-class.ts'
import { codeOf, startEnrollment, type Answer, type EnrollmentFixture } from './fixture.ts'
import { spawnEnrollment, type EnrollmentProcess } from './processes.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

const now = () => isoTime(Temporal.Now.instant())
type Session = Awaited<ReturnType<EnrollmentFixture['session']>>
const members = (capacity = 10): Promise<Session> => fixture.session({ classType: 'membership', capacity })
const counts = async ({ id }: Session) => (await fixture.counts(id)).sold

interface Member {
  membershipId: string
  userId: string
  email: string
  first: Session
}

const month = (number: number) => `2031-${String(number).padStart(2, '0')}-20`

function creditOf(
  { membershipId, userId, email }: Omit<Member, 'first'>,
  number: number,
  version = 1,
  withdrawn: 'refunded' | 'disputed' | null = null,
) {
  const creditId = `${membershipId.slice(0, -2)}${String(number).padStart(2, '0')}`
  const facts = { membershipId, email, ownerId: userId, paymentId: creditId }
  return { creditId, ...facts, month: month(number), isFirst: number === 1, withdrawn, version }
}

async function give(member: Member, number: number, version = 1, withdrawn: 'refunded' | 'disputed' | null = null) {
  await fixture.deliver(memberCreditChanged, member.membershipId, creditOf(member, number, version, withdrawn))
}

const started = (member: Omit<Member, 'first'>, classDate: string) => ({
  attemptId: member.membershipId,
  email: member.email,
  ownerId: member.userId,
  plan: 'monthly' as const,
  classDate,
  subscriptionId: `sub_${member.membershipId}`,
  customerId: 'cus_1',
  amount: 700,
  currency: 'usd' as const,
  activatedAt: now(),
  familyTimeZone: 'America/New_York',
})

function newMember(): Omit<Member, 'first'> {
  const membershipId = randomUUIDv7()
  return { membershipId, userId: randomUUIDv7(), email: `${membershipId}@example.com` }
}

/** A membership with its first class booked, and credits for so many more. */
async function join(credits = 0, session?: Session): Promise<Member> {
  const member = { ...newMember(), first: session ?? (await members()) }
  await fixture.deliver(subscriptionActivated, member.membershipId, started(member, member.first.date))
  for (let number = 1; number <= credits + 1; number += 1) await give(member, number)
  return member
}

async function end({ membershipId: attemptId, email }: Member): Promise<void> {
  const facts = { attemptId, email, plan: 'monthly' as const, amount: 700, currency: 'usd' as const }
  await fixture.deliver(subscriptionEnded, attemptId, { ...facts, endedAt: now(), reason: 'cancelled' })
}

async function read({ userId, membershipId }: Member, url?: string) {
  const answer = await fixture.call('GET', `/accounts/${userId}/member-classes`, undefined, {}, url)
  const { memberships } = memberClassesSchema.parse(answer.body)
  const own = memberships.find((one) => one.membershipId === membershipId)
  return {
    credits: own?.credits,
    booked: own?.booked.map(({ classDate }) => classDate),
    ids: own?.booked.map(({ bookingId }) => bookingId),
  }
}

const path = ({ userId }: Member, rest = '') => `/accounts/${userId}/member-classes${rest}`
const book = (member: Member, session: Session, id: string = randomUUIDv7(), url?: string): Promise<Answer> =>
  fixture.call('POST', path(member), { id, membershipId: member.membershipId, classDate: session.date }, {}, url)
const move = (member: Member, bookingId: string, from: Session, to: Session, id: string = randomUUIDv7()) =>
  fixture.call('POST', path(member, `/${bookingId}/move`), { id, from: from.date, classDate: to.date })
const cancel = (member: Member, bookingId: string, from: Session, keepsCredit = true, id: string = randomUUIDv7()) =>
  fixture.call('POST', path(member, `/${bookingId}/cancel`), { id, from: from.date, keepsCredit })
const outcome = (answer: Answer) => (answer.status === 200 ? 200 : codeOf(answer))
const sorted = (answers: Answer[]) => answers.map((answer) => String(outcome(answer))).toSorted()

describe('a member’s credit', () => {
  it('books one class, with its seat, and repeating the request returns the same class', async () => {
    const [member, session] = [await join(1), await members()]
    expect(await read(member)).toMatchObject({ credits: 1, booked: [member.first.date] })
    const id = randomUUIDv7()
    const answers = await Promise.all([book(member, session, id), book(member, session, id)])
    expect(answers.map(outcome)).toEqual([200, 200])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect(await read(member)).toMatchObject({ credits: 0, ids: [member.membershipId, id] })
    expect(await counts(session)).toBe(1)
    expect(await fixture.publishedEvents(memberClassBooked, id)).toMatchObject([
      { membershipId: member.membershipId, email: member.email, classDate: session.date, changes: 0 },
    ])
    expect(outcome(await book(member, await members()))).toBe('no_credit')
  })

  it('is not taken if the booking fails: the date is full, over, not offered, or booked already', async () => {
    const [member, full, begun] = [await join(1), await members(1), await members()]
    await book(await join(1), full)
    expect(outcome(await book(member, full))).toBe('class_full')
    expect(outcome(await book(member, member.first))).toBe('already_booked')
    expect(outcome(await book(member, await fixture.session({ classType: 'basic' })))).toBe('class_not_offered')
    fixture.service.context.clock.set(begun.startsAt)
    expect(outcome(await book(member, begun))).toBe('class_not_offered')
    expect((await read(member)).credits).toBe(1)
  })

  it('of another account is neither seen nor used, and its classes are neither moved nor canceled, by any id', async () => {
    const [member, stranger, session] = [await join(1), await join(1), await members()]
    const asStranger = { ...member, userId: stranger.userId }
    expect((await read(asStranger)).credits).toBeUndefined()
    expect(outcome(await book(asStranger, session))).toBe('membership_not_found')
    const id = randomUUIDv7()
    await book(member, session, id)
    for (const bookingId of [id, member.membershipId, randomUUIDv7()]) {
      const from = bookingId === id ? session : member.first
      expect(outcome(await move(asStranger, bookingId, from, await members()))).toBe('booking_not_found')
      expect(outcome(await cancel(asStranger, bookingId, from))).toBe('booking_not_found')
    }
    // The id of somebody else's class.
    expect(outcome(await book(stranger, await members(), id))).toBe('id_reused')
    expect(await read(member)).toMatchObject({ ids: [member.membershipId, id] })
    expect((await read(stranger)).credits).toBe(1)
  })

  it('belongs to the account that verifies the address of a membership bought without one', async () => {
    const [email, first] = [`maren.${randomUUIDv7()}@example.com`, await members()]
    const member = { membershipId: randomUUIDv7(), email, userId: randomUUIDv7(), first }
    const { ownerId: _, ...data } = started(member, first.date)
    await fixture.deliver(subscriptionActivated, member.membershipId, data)
    await give(member, 1)
    await give(member, 2)
    expect((await read(member)).credits).toBeUndefined()
    await fixture.deliver(userConfirmed, member.userId, {
      poolId: 'local',
      userId: member.userId,
      username: `user_${member.userId}`,
      email,
      emailVerified: true,
      verifiedEmail: email,
      enabled: true,
      givenName: 'Maren',
    })
    expect((await read(member)).credits).toBe(1)
    expect(outcome(await book(member, await members()))).toBe(200)
  })
})

describe('a booked members’ class', () => {
  it('is moved with its credit, once, also by two tabs and by a repeated request', async () => {
    const [member, from, to, other] = [await join(1), await members(), await members(), await members()]
    const [bookingId, id] = [randomUUIDv7(), randomUUIDv7()]
    await book(member, from, bookingId)
    const tabs = await Promise.all([move(member, bookingId, from, to, id), move(member, bookingId, from, to)])
    expect(sorted(tabs)).toEqual(['200', 'booking_changed'])
    const winner = tabs[0]?.status === 200 ? id : undefined
    expect(await Promise.all([from, to].map(counts))).toEqual([0, 1])
    expect(outcome(await move(member, bookingId, to, other))).toBe(200)
    expect(outcome(await move(member, bookingId, other, from))).toBe(200)
    // A late repetition does not move it again.
    if (winner) expect(outcome(await move(member, bookingId, from, to, winner))).toBe(200)
    expect(await Promise.all([from, to, other].map(counts))).toEqual([1, 0, 0])
    expect(await read(member)).toMatchObject({ credits: 0, booked: [member.first.date, from.date] })
    const published = await fixture.publishedEvents(memberClassMoved, bookingId)
    const moved = published.toSorted((a, b) => a.changes - b.changes)
    expect(moved.map(({ classDate, from: { classDate: old }, changes }) => [old, classDate, changes])).toEqual([
      [from.date, to.date, 1],
      [to.date, other.date, 2],
      [other.date, from.date, 3],
    ])
  })

  it('of the sign-up is moved like any other, and its page, its link and its reminder follow', async () => {
    const [member, to] = [await join(), await members()]
    expect(outcome(await move(member, member.membershipId, member.first, to))).toBe(200)
    expect(await read(member)).toMatchObject({ booked: [to.date] })
    const seat = await fixture.call('GET', `/member-seats/${member.membershipId}`)
    expect(seat.body).toMatchObject({ status: 'seated', classDate: to.date })
    const family = await fixture.call('GET', `/accounts/${member.userId}/classes`)
    expect(familyClassesSchema.parse(family.body).memberClasses).toMatchObject([
      { bookingId: member.membershipId, classDate: to.date },
    ])
    const attending = await readBookingsOf(fixture.db, to.id)
    expect(attending.map(({ booking }) => booking.membershipId)).toEqual([member.membershipId])
    expect(await readBookingsOf(fixture.db, member.first.id)).toEqual([])
  })

  it('is not moved to a full date, and keeps its seat', async () => {
    const [member, full] = [await join(), await members(1)]
    await book(await join(1), full)
    expect(outcome(await move(member, member.membershipId, member.first, full))).toBe('class_full')
    expect(await counts(member.first)).toBe(1)
  })

  it('is moved and canceled until the same time of the day before, and no longer', async () => {
    const [member, to] = [await join(), await members()]
    const last = member.first.startsAt.toZonedDateTimeISO('America/Los_Angeles').subtract({ days: 1 }).toInstant()
    fixture.service.context.clock.set(last.add({ milliseconds: 1 }))
    const late = await move(member, member.membershipId, member.first, to)
    expect([outcome(late), outcome(await cancel(member, member.membershipId, member.first))]).toEqual([
      'change_not_allowed',
      'change_not_allowed',
    ])
    expect(late.body).toMatchObject({ message: expect.stringContaining('4:00 PM Pacific') })
    fixture.service.context.clock.set(last.subtract({ seconds: 30 }))
    expect(outcome(await move(member, member.membershipId, member.first, to))).toBe(200)
  })

  it('gives its credit back when it is canceled, once, however often that is asked', async () => {
    const member = await join()
    const id = randomUUIDv7()
    const { membershipId, first } = member
    const answers = await Promise.all([
      cancel(member, membershipId, first, true, id),
      cancel(member, membershipId, first, true, id),
      cancel(member, membershipId, first),
    ])
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
    expect(await read(member)).toMatchObject({ credits: 1, booked: [] })
    expect(await counts(first)).toBe(0)
    expect(await fixture.publishedEvents(memberClassCancelled, membershipId)).toMatchObject([
      { reason: 'requested', keepsCredit: true },
    ])
    expect(outcome(await book(member, first))).toBe(200)
    expect(await read(member)).toMatchObject({ credits: 0, booked: [first.date] })
  })

  it('is not canceled at the cost of its credit, unless the member was told so', async () => {
    const member = await join(3)
    const { membershipId, first } = member
    expect((await read(member)).credits).toBe(3)
    expect(outcome(await cancel(member, membershipId, first))).toBe('change_not_allowed')
    await end(member)
    expect(outcome(await cancel(member, membershipId, first))).toBe('booking_changed')
    expect(await counts(first)).toBe(1)
    expect(outcome(await cancel(member, membershipId, first, false))).toBe(200)
    expect(await counts(first)).toBe(0)
  })

  it('can have its waiver signed after the first class was canceled and another one is booked', async () => {
    const [member, session] = [await join(), await members()]
    await cancel(member, member.membershipId, member.first)
    await book(member, session)
    const signed = await fixture.call('POST', '/waivers', {
      registrationId: member.membershipId,
      guardianName: 'Maren Holt',
      childName: 'Ivo Holt',
      childAge: 9,
      startDate: session.date,
      classType: 'membership',
      evidence: { ipAddress: '198.51.100.7', userAgent: 'Mozilla/5.0 (a test)' },
    })
    expect(signed.status).toBe(200)
    const link = await fixture.call('GET', `/member-seats/${member.membershipId}/link?ownerId=${member.userId}`)
    expect(outcome(link)).toBe('class_link_not_open')
  })

  it('stays when its membership ends, and unused credits lapse', async () => {
    const [member, session] = [await join(2), await members()]
    await book(member, session)
    await end(member)
    expect(await read(member)).toMatchObject({ credits: 0, booked: [member.first.date, session.date] })
    expect(await Promise.all([member.first, session].map(counts))).toEqual([1, 1])
    expect(outcome(await book(member, await members()))).toBe('membership_not_changeable')
    expect(outcome(await move(member, member.membershipId, member.first, await members()))).toBe(200)
  })

  it('is given back by the school with its credit, also beyond three, once', async () => {
    const member = await join(3)
    const { membershipId } = member
    const back = () =>
      fixture.db.transaction((tx) =>
        returnClass(tx, { membershipId, bookingId: membershipId }, fixture.service.context.clock.now()),
      )
    expect((await Promise.all([back(), back()])).filter(Boolean)).toHaveLength(1)
    expect(await read(member)).toMatchObject({ credits: 4, booked: [] })
    expect(await counts(member.first)).toBe(0)
    expect(await fixture.publishedEvents(memberClassCancelled, membershipId)).toMatchObject([
      { reason: 'school', keepsCredit: true },
    ])
  })
})

describe('a payment that goes back', () => {
  it('takes the unused credit, and gives up the class that is still ahead, with one event; both come back when a dispute is won', async () => {
    const [member, session] = [await join(2), await members()]
    const id = randomUUIDv7()
    await book(member, session, id)
    await give(member, 3, 2, 'disputed')
    expect(await read(member)).toMatchObject({ credits: 0, booked: [member.first.date, session.date] })
    await give(member, 2, 2, 'disputed')
    await give(member, 2, 2, 'disputed')
    expect(await read(member)).toMatchObject({ credits: 0, booked: [member.first.date] })
    expect(await counts(session)).toBe(0)
    expect(await fixture.publishedEvents(memberClassCancelled, id)).toMatchObject([
      { reason: 'disputed', keepsCredit: false },
    ])
    await give(member, 2, 3)
    await give(member, 3, 3)
    expect(await read(member)).toMatchObject({ credits: 1, ids: [member.membershipId, id] })
    expect(await fixture.publishedEvents(memberClassBooked, id)).toMatchObject([{ changes: 0 }, { again: true }])
  })

  it('and is won back when the class is full by then gives a credit for another one', async () => {
    const [member, session] = [await join(1), await members(1)]
    const id = randomUUIDv7()
    await book(member, session, id)
    await give(member, 2, 2, 'disputed')
    await book(await join(1), session)
    await give(member, 2, 3)
    expect(await read(member)).toMatchObject({ credits: 1, booked: [member.first.date] })
    expect(await counts(session)).toBe(1)
    expect(await fixture.publishedEvents(memberClassNotRestored, id)).toMatchObject([{ keepsCredit: true }])
  })

  it('leaves a class that is over, and its credit is not used again', async () => {
    const member = await join()
    fixture.service.context.clock.set(member.first.startsAt)
    await give(member, 1, 2, 'refunded')
    expect(await counts(member.first)).toBe(1)
    expect(await fixture.publishedEvents(memberClassCancelled, member.membershipId)).toEqual([])
    await give(member, 1, 3)
    expect((await read(member)).credits).toBe(0)
  })

  it('leaves the same seats and credits in any order of the events of a membership, with repetitions and at once', async () => {
    const cases = fc.record({
      order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
      again: fc.array(fc.nat(5), { maxLength: 3 }),
      atOnce: fc.boolean(),
      isBack: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ order, again, atOnce, isBack }) => {
        const member = { ...newMember(), first: await members() }
        const { membershipId } = member
        const { email, userId: ownerId } = member
        const facts = { attemptId: membershipId, email, ownerId, plan: 'monthly' as const, amount: 700 }
        const events = [
          newEvent(subscriptionActivated, membershipId, started(member, member.first.date)),
          newEvent(memberCreditChanged, membershipId, creditOf(member, 1)),
          newEvent(memberCreditChanged, membershipId, creditOf(member, 1, 2, 'disputed')),
          newEvent(memberCreditChanged, membershipId, creditOf(member, 1, 3, isBack ? 'refunded' : null)),
          newEvent(memberCreditChanged, membershipId, creditOf(member, 2)),
          newEvent(subscriptionEnded, membershipId, {
            ...facts,
            currency: 'usd',
            endedAt: now(),
            reason: 'cancelled',
          }),
        ]
        const sent = [...order, ...again].flatMap((index) => events[index] ?? [])
        if (atOnce) await Promise.all(sent.map((event) => fixture.redeliver(event)))
        else for (const event of sent) await fixture.redeliver(event)
        const kept = isBack ? 0 : 1
        expect(await counts(member.first)).toBe(kept)
        const { credits, booked } = await read(member)
        expect([credits ?? 0, booked?.length ?? 0]).toEqual([0, kept])
      }),
      { numRuns: 15 },
    )
  })
})

describe('the last seat of a members’ session, with two processes', () => {
  let second: EnrollmentProcess
  beforeAll(async () => {
    second = await spawnEnrollment({ DATABASE_URL: fixture.service.databaseUrl, NATS_URL: fixture.bed.nats.url })
  })
  afterAll(() => second.kill())

  it('goes to one of ten members who book it in two tabs each, one process dying; nine keep their credit (C059)', async () => {
    const session = await members(1)
    const all = await Promise.all(Array.from({ length: 10 }, () => join(1)))
    const ids = all.map(() => randomUUIDv7())
    const tabs = (url: string) => all.map((member, index) => book(member, session, ids[index], url))
    const dying = tabs(second.url).map((answer) => answer.catch(() => undefined))
    const here = tabs(fixture.service.url)
    await Promise.race(dying)
    await second.kill()
    await Promise.all([...dying, ...here])
    const again = await Promise.all(tabs(fixture.service.url))
    expect(sorted(again)).toEqual(['200', ...Array.from({ length: 9 }, () => 'class_full')])
    const states = await Promise.all(all.map((member) => read(member)))
    for (const { credits = 0, booked = [] } of states) expect(credits + booked.length).toBe(2)
    expect(states.filter(({ credits }) => credits === 1)).toHaveLength(9)
    expect(await counts(session)).toBe(1)
    const winner = again.findIndex(({ status }) => status === 200)
    const [member, id] = [all[winner], ids[winner] ?? '']
    if (!member) throw new Error('Nobody won.')
    const to = await members()
    const moves = await Promise.all([move(member, id, session, to), move(member, id, session, to)])
    expect(sorted(moves)).toEqual(['200', 'booking_changed'])
    await Promise.all([cancel(member, id, to), cancel(member, id, to)])
    expect(await read(member)).toMatchObject({ credits: 1 })
    expect(await Promise.all([session, to].map(counts))).toEqual([0, 0])
    await eventually(async () => (await fixture.publishedEvents(memberClassCancelled, id)).length === 1)
  })
})
