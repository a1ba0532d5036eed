import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutExpired, subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/iso-time.ts'
import { classSessions, memberHolds, memberSeats } from '../src/schema.ts'
import { codeOf, startEnrollment, pathsOf, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

const membersSession = (differences: { capacity?: number; date?: string } = {}) =>
  fixture.session({ classType: 'membership', ...differences })

const now = () => isoTime(Temporal.Now.instant())

const member = (classDate: string, attemptId: string = randomUUIDv7()) => ({
  attemptId,
  email: 'maren.holt@example.com',
  plan: 'monthly' as const,
  classDate,
  subscriptionId: `sub_${attemptId}`,
  customerId: 'cus_1',
  amount: 700,
  currency: 'usd' as const,
  activatedAt: isoTime(Temporal.Now.instant()),
  familyTimeZone: 'America/New_York',
})

async function join(classDate: string, attemptId?: string) {
  const data = member(classDate, attemptId)
  return { ...data, event: await fixture.deliver(subscriptionActivated, data.attemptId, data) }
}

async function outcomeOf(attemptId: string): Promise<string> {
  const [row] = await fixture.db.select().from(memberSeats).where(eq(memberSeats.attemptId, attemptId))
  return row?.outcome ?? 'none'
}

async function slotsLeft(classDate: string): Promise<number | undefined> {
  const { body } = await fixture.call('GET', '/available-slots')
  return (body as { slots: { classDate: string; availableSlots: number }[] }).slots.find(
    (slot) => slot.classDate === classDate,
  )?.availableSlots
}

async function counted(outcome: string): Promise<number> {
  const metrics = await (await fetch(`${fixture.service.url}/metrics`)).text()
  return Number(new RegExp(`^member_seats_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

describe('a new membership', () => {
  it('takes a seat in the members’ session of its date only', async () => {
    const session = await membersSession({ capacity: 7 })
    const other = await membersSession({ capacity: 7 })
    const level = await fixture.session({ classType: 'basic', date: session.date, capacity: 7 })
    const { attemptId } = await join(session.date)
    expect(await outcomeOf(attemptId)).toBe('seated')
    expect(await slotsLeft(session.date)).toBe(6)
    expect(await fixture.counts(session.id)).toEqual({ held: 0, sold: 1, capacity: 7 })
    expect(await slotsLeft(other.date)).toBe(7)
    expect(await fixture.seatsLeft(level)).toBe(7)
  })

  it('takes one seat, however often its event arrives', async () => {
    const session = await membersSession()
    const { attemptId, event } = await join(session.date)
    await fixture.redeliver(event)
    // The same data in another event.
    await join(session.date, attemptId)
    expect(await slotsLeft(session.date)).toBe(9)
  })

  it('is rejected and counted if the session is full', async () => {
    const session = await membersSession({ capacity: 2 })
    const before = await counted('class_full')
    const members = await Promise.all(Array.from({ length: 5 }, () => join(session.date)))
    const outcomes = await Promise.all(members.map(({ attemptId }) => outcomeOf(attemptId)))
    expect(outcomes.toSorted()).toEqual(['class_full', 'class_full', 'class_full', 'seated', 'seated'])
    expect(await fixture.counts(session.id)).toEqual({ held: 0, sold: 2, capacity: 2 })
    expect(await slotsLeft(session.date)).toBe(0)
    expect(await counted('class_full')).toBe(before + 3)
    const seated = fixture.bed.bus.all(memberSeated, ({ classDate }) => classDate === session.date)
    expect(seated).toHaveLength(2)
    expect(seated[0]?.data).toMatchObject({
      plan: 'monthly',
      amount: 700,
      startTime: '16:00',
      familyTimeZone: 'America/New_York',
    })
    const rejected = fixture.bed.bus.all(memberRejected, ({ classDate }) => classDate === session.date)
    expect(rejected.map(({ data }) => data.reason)).toEqual(['class_full', 'class_full', 'class_full'])
  })

  it('keeps its seat when it ends before the class, as it is paid for', async () => {
    const session = await membersSession()
    const { attemptId, email, plan, amount, currency } = await join(session.date)
    const over = { attemptId, email, plan, amount, currency, endedAt: now(), reason: 'cancelled' as const }
    await fixture.redeliver(await fixture.deliver(subscriptionEnded, attemptId, over))
    expect([await outcomeOf(attemptId), await slotsLeft(session.date)]).toEqual(['seated', 9])
  })

  it('gets no seat in a session that has begun, was cancelled, or does not exist', async () => {
    const begun = await membersSession()
    const cancelled = await membersSession()
    await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, cancelled.id))
    fixture.service.context.clock.set(begun.startsAt)
    for (const [date, outcome] of [
      [begun.date, 'class_started'],
      [cancelled.date, 'class_not_offered'],
      ['2199-01-01', 'class_not_offered'],
    ] as const) {
      const before = await counted(outcome)
      const { attemptId } = await join(date)
      expect(await outcomeOf(attemptId)).toBe(outcome)
      expect(await counted(outcome)).toBe(before + 1)
    }
    expect(await fixture.counts(begun.id)).toMatchObject({ held: 0, sold: 0 })
  })
})

describe('POST /member-seats', () => {
  const address = () => `Maren+${randomUUIDv7()}@Example.com`
  const request = (email: string, classDate: string, attemptId?: string) =>
    fixture.call('POST', '/member-seats', { email, classDate, ...(attemptId ? { attemptId } : {}) })
  async function hold(email: string, classDate: string, attemptId?: string) {
    const answer = await request(email, classDate, attemptId)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body as { heldUntil: string }
  }

  it('holds one seat per email, however it is typed, and extends the hold each time', async () => {
    const session = await membersSession({ capacity: 3 })
    const email = address()
    const first = await hold(email, session.date)
    await Promise.all([email, email.toUpperCase(), ` ${email.toLowerCase()} `].map((one) => hold(one, session.date)))
    fixture.service.context.clock.advance({ minutes: 5 })
    const last = await hold(email, session.date)
    expect(Temporal.Instant.compare(last.heldUntil, first.heldUntil)).toBe(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1, sold: 0 })
    expect(await slotsLeft(session.date)).toBe(2)
  })

  it('moves the hold to another date, and keeps it if that one is full', async () => {
    const [session, other] = [await membersSession(), await membersSession({ capacity: 1 })]
    const email = address()
    await hold(email, session.date)
    await hold(email, other.date)
    expect([await slotsLeft(session.date), await slotsLeft(other.date)]).toEqual([10, 0])
    const rival = address()
    await hold(rival, session.date)
    const answer = await request(rival, other.date)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'class_full'])
    expect(answer.body).toMatchObject({ message: 'This class is full. Please choose another date.' })
    expect([await slotsLeft(session.date), await slotsLeft(other.date)]).toEqual([9, 0])
  })

  it('never holds more seats than the capacity under concurrent requests', async () => {
    const [session, other] = [await membersSession({ capacity: 3 }), await membersSession({ capacity: 3 })]
    const addresses = Array.from({ length: 8 }, address)
    const requests = addresses.flatMap((email) => [request(email, session.date), request(email, other.date)])
    const answers = await Promise.all(requests)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    for (const { id } of [session, other]) {
      const { held, sold } = await fixture.counts(id)
      expect(held + sold).toBeLessThanOrEqual(3)
    }
    const rows = await fixture.db.select().from(memberHolds)
    for (const { id } of [session, other]) {
      expect((await fixture.counts(id)).held).toBe(rows.filter((row) => row.classSessionId === id).length)
    }
  })

  it('holds a seat that the paid membership gets, even if the session is full or has begun', async () => {
    const session = await membersSession({ capacity: 1 })
    await hold('maren.holt@example.com', session.date)
    fixture.service.context.clock.set(session.startsAt)
    const { attemptId } = await join(session.date)
    expect(await outcomeOf(attemptId)).toBe('seated')
    expect(await fixture.counts(session.id)).toEqual({ held: 0, sold: 1, capacity: 1 })
  })

  it('holds a seat until it expires or its checkout ends, but not an older checkout', async () => {
    const session = await membersSession()
    const [email, slow] = [address(), address()]
    const [older, newer] = [randomUUIDv7(), randomUUIDv7()]
    await hold(email, session.date, older)
    await hold(email, session.date, newer)
    const expired = (attemptId: string) =>
      fixture.deliver(membershipCheckoutExpired, attemptId, { attemptId, email, classDate: session.date })
    await expired(older)
    expect((await fixture.counts(session.id)).held).toBe(1)
    await expired(newer)
    expect((await fixture.counts(session.id)).held).toBe(0)
    await hold(slow, session.date)
    const release = (one: string) => fixture.call('POST', '/member-seats/release', { email: one })
    expect((await release(slow.toUpperCase())).status).toBe(200)
    expect((await fixture.counts(session.id)).held).toBe(0)
    await hold(slow, session.date, newer)
    await release(slow)
    expect((await fixture.counts(session.id)).held).toBe(1)
    fixture.service.context.clock.advance({ hours: 1 })
    fixture.service.wakeAll()
    await eventually(async () => (await fixture.counts(session.id)).held === 0)
  })

  it('answers 400 class_not_offered with a message for a date that is not open to members', async () => {
    const begun = await membersSession()
    const cancelled = await membersSession()
    await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, cancelled.id))
    const levelOnly = await fixture.session({ classType: 'basic' })
    fixture.service.context.clock.set(begun.startsAt)
    for (const date of [begun.date, cancelled.date, levelOnly.date, '2199-01-01', '2025-10-03']) {
      const answer = await request(address(), date)
      expect([date, answer.status, codeOf(answer), pathsOf(answer)]).toEqual([
        date,
        400,
        'class_not_offered',
        ['classDate'],
      ])
      expect(answer.body).toMatchObject({
        message: 'This class date is not offered. Please choose another date.',
      })
    }
  })

  it('answers 400 for an invalid date or email', async () => {
    for (const date of ['2027-02-30', 'tomorrow', '2027-1-1']) {
      const answer = await request(address(), date)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    }
    expect((await request('maren', (await membersSession()).date)).status).toBe(400)
  })
})
