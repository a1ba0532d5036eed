import { randomUUIDv7 } from 'node:crypto'
import { subscriptionActivated } from '@robokids/contracts/billing'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/read-registrations.ts'
import { classSessions, memberSeats } from '../src/schema.ts'
import { codeOf, openSchool, pathsOf, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterEach(() => school.resetClock())
afterAll(() => school.bed.stop())

const membersSession = (differences: { capacity?: number; date?: string } = {}) =>
  school.session({ classType: 'membership', ...differences })

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
})

async function join(classDate: string, attemptId?: string) {
  const data = member(classDate, attemptId)
  return { ...data, event: await school.hear(subscriptionActivated, data.attemptId, data) }
}

async function outcomeOf(attemptId: string): Promise<string> {
  const [row] = await school.db.select().from(memberSeats).where(eq(memberSeats.attemptId, attemptId))
  return row?.outcome ?? 'none'
}

async function slotsLeft(classDate: string): Promise<number | undefined> {
  const { body } = await school.call('GET', '/available-slots')
  return (body as { slots: { classDate: string; availableSlots: number }[] }).slots.find(
    (slot) => slot.classDate === classDate,
  )?.availableSlots
}

async function counted(outcome: string): Promise<number> {
  const metrics = await (await fetch(`${school.service.url}/metrics`)).text()
  return Number(new RegExp(`^member_seats_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

describe('a membership that begins', () => {
  it('takes a seat of the members’ session of its date, and of no other', async () => {
    const session = await membersSession({ capacity: 7 })
    const other = await membersSession({ capacity: 7 })
    const level = await school.session({ classType: 'basic', date: session.date, capacity: 7 })
    const { attemptId } = await join(session.date)
    expect(await outcomeOf(attemptId)).toBe('seated')
    expect(await slotsLeft(session.date)).toBe(6)
    expect(await school.counts(session.id)).toEqual({ held: 0, sold: 1, capacity: 7 })
    expect(await slotsLeft(other.date)).toBe(7)
    expect(await school.seatsLeft(level)).toBe(7)
  })

  it('takes one seat, however often it is told of', async () => {
    const session = await membersSession()
    const { attemptId, event } = await join(session.date)
    await school.hearAgain(event)
    // The same fact under another event's id.
    await join(session.date, attemptId)
    expect(await slotsLeft(session.date)).toBe(9)
  })

  it('never takes a seat that is not there: what is too many is written down and counted', async () => {
    const session = await membersSession({ capacity: 2 })
    const before = await counted('class_full')
    const members = await Promise.all(Array.from({ length: 5 }, () => join(session.date)))
    const outcomes = await Promise.all(members.map(({ attemptId }) => outcomeOf(attemptId)))
    expect(outcomes.toSorted()).toEqual(['class_full', 'class_full', 'class_full', 'seated', 'seated'])
    expect(await school.counts(session.id)).toEqual({ held: 0, sold: 2, capacity: 2 })
    expect(await slotsLeft(session.date)).toBe(0)
    expect(await counted('class_full')).toBe(before + 3)
  })

  it('gets no seat of a date that has begun, was cancelled, or never was', async () => {
    const begun = await membersSession()
    const cancelled = await membersSession()
    await school.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, cancelled.id))
    school.service.context.clock.set(begun.startsAt)
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
    expect(await school.counts(begun.id)).toMatchObject({ held: 0, sold: 0 })
  })
})

describe('GET /member-seats/:classDate', () => {
  const seats = (date: string) => school.call('GET', `/member-seats/${date}`)

  it('answers the free seats of an open date', async () => {
    const session = await membersSession({ capacity: 3 })
    await join(session.date)
    expect((await seats(session.date)).body).toEqual({ classDate: session.date, availableSlots: 2 })
  })

  it('answers 409 class_full, in words, where none is left', async () => {
    const session = await membersSession({ capacity: 1 })
    await join(session.date)
    const answer = await seats(session.date)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'class_full'])
    expect(answer.body).toMatchObject({ message: 'This class is full. Please choose another date.' })
  })

  it('answers 400 class_not_offered, in words, for a date that is not open to members', async () => {
    const begun = await membersSession()
    const cancelled = await membersSession()
    await school.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, cancelled.id))
    const levelOnly = await school.session({ classType: 'basic' })
    school.service.context.clock.set(begun.startsAt)
    for (const date of [begun.date, cancelled.date, levelOnly.date, '2199-01-01', '2025-10-03']) {
      const answer = await seats(date)
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

  it('answers 400 to what is no date', async () => {
    for (const date of ['2027-02-30', 'tomorrow', '%00', '2027-1-1']) {
      const answer = await seats(date)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    }
  })
})
