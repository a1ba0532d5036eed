import {
  classTypes,
  type ClassType,
  classesSchema,
  registrationHeld,
  seasonOpened,
  smallClassesFound,
} from '@robokids/contracts/enrollment'
import { firstClassDay } from '@robokids/contracts/season'
import { outbox } from '@robokids/runtime/outbox'
import type { RunningService } from '@robokids/runtime/service'
import { eventually } from '@robokids/test/bed'
import { and, asc, eq, like } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enrollment } from '../src/app.ts'
import type { Config } from '../src/config.ts'
import { classSessions, levels, seasons } from '../src/schema.ts'
import { codeOf, startEnrollment, requestFor, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

function pacificDay(instant: Temporal.Instant): Temporal.PlainDate {
  return instant.toZonedDateTimeISO('America/Los_Angeles').toPlainDate()
}

describe('the seed', () => {
  it('offers four levels, each on four dates from Friday to Monday at 4 PM in California', async () => {
    const { levels: listed } = classesSchema.parse((await fixture.call('GET', '/classes')).body)
    expect(listed.map(({ levelId, classType, title }) => [levelId, classType, title])).toEqual([
      ['lvl1', 'basic', 'Level 1 Foundations'],
      ['lvl2', 'intermediate', 'Level 2 Smart Robotics and Coding'],
      ['lvl3', 'advanced', 'Level 3 Autonomous Mastery'],
      ['lvlX', 'custom', 'Level X Custom Innovation Lab'],
    ])
    expect(listed.map(({ recommendedAges: { from, to }, programLength }) => [from, to, programLength])).toEqual([
      [6, 13, '6 weeks'],
      [8, 14, '6 weeks'],
      [10, 15, '8 weeks'],
      [11, 16, '6 to 8 weeks'],
    ])
    const first = firstClassDay(pacificDay(Temporal.Now.instant()).toString())
    for (const level of listed) {
      const seeded = level.sessions.filter((session) => session.date < '2030-01-01')
      expect(seeded.map((session) => Temporal.PlainDate.from(session.date).dayOfWeek)).toEqual([5, 6, 7, 1])
      expect(seeded[0]).toMatchObject({
        date: first,
        startTime: '16:00',
        timeZone: 'America/Los_Angeles',
        durationMinutes: 75,
        capacity: 10,
        seatsLeft: 10,
      })
    }
  })

  it('has five sessions on each date of the past and the upcoming season', async () => {
    const rows = await fixture.db.select().from(classSessions).where(eq(classSessions.season, 'fall-2025'))
    expect([...new Set(rows.map((row) => row.date))].toSorted()).toEqual([
      '2025-10-03',
      '2025-10-04',
      '2025-10-05',
      '2025-10-06',
    ])
    expect(
      rows
        .filter((row) => row.date === '2025-10-03')
        .map((row) => row.classType)
        .toSorted(),
    ).toEqual([...classTypes].toSorted())
    expect(rows.find((row) => row.date === '2025-10-03')?.startsAt.toString()).toBe('2025-10-03T23:00:00Z')
    expect(await fixture.db.$count(classSessions)).toBeGreaterThanOrEqual(40)
  })

  it('duplicates and changes nothing on later starts, in any time zone of the process', async () => {
    const first = await fixture.bed.start(enrollment)
    const everything = async () => [
      await first.context.db.select().from(levels).orderBy(asc(levels.position)),
      (await first.context.db.select().from(classSessions).orderBy(asc(classSessions.id))).map((row) => ({
        ...row,
        startsAt: row.startsAt.epochMilliseconds,
      })),
    ]
    const before = await everything()
    const zone = process.env['TZ']
    try {
      for (const TZ of ['UTC', 'America/New_York', 'Asia/Tokyo']) {
        process.env['TZ'] = TZ
        await (await fixture.bed.start(enrollment, { DATABASE_URL: first.databaseUrl })).stop()
        expect(await everything()).toEqual(before)
      }
    } finally {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    }
  })

  it('opens another season only when every date has passed', async () => {
    const first = await fixture.bed.start(enrollment)
    const dates = async () => {
      const rows = await first.context.db
        .selectDistinct({ date: classSessions.date })
        .from(classSessions)
        .orderBy(asc(classSessions.date))
      return rows.map((row) => row.date)
    }
    const before = await dates()
    const last = Temporal.PlainDate.from(before.at(-1) ?? '')
    const restartOn = async (day: Temporal.PlainDate) => {
      const noon = day.toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: '12:00' }).toInstant()
      const offset = Temporal.Now.instant().until(noon).toString()
      await (await fixture.bed.start(enrollment, { DATABASE_URL: first.databaseUrl, CLOCK_OFFSET: offset })).stop()
    }
    await restartOn(last)
    expect(await dates()).toEqual(before)
    const dayAfter = last.add({ days: 1 })
    await restartOn(dayAfter)
    const after = await dates()
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.length).toBe(before.length + 4)
    expect(after[before.length]).toBe(firstClassDay(dayAfter.toString()))
  })
})

describe('classes with few children', () => {
  it('are published once, a week before they begin, by one of two processes and after a restart', async () => {
    const one = await fixture.bed.start(enrollment)
    const two = await fixture.bed.start(enrollment, { DATABASE_URL: one.databaseUrl })
    const { db } = one.context
    const rows = await db.select().from(classSessions).where(like(classSessions.season, 'opened-%'))
    const [date = ''] = rows.map((row) => row.date).toSorted()
    const ofDay = (classType: ClassType) => and(eq(classSessions.date, date), eq(classSessions.classType, classType))
    for (const [classType, counts] of [
      ['basic', { sold: 5 }],
      ['intermediate', { sold: 4, held: 1 }],
      ['advanced', { status: 'cancelled' }],
      ['custom', { sold: 3, capacity: 3 }],
    ] as const) {
      await db.update(classSessions).set(counts).where(ofDay(classType))
    }
    const published = async () => {
      const events = await db
        .select({ envelope: outbox.envelope })
        .from(outbox)
        .where(eq(outbox.type, smallClassesFound.type))
        .orderBy(asc(outbox.position))
      return events.map(({ envelope }) => smallClassesFound.schema.parse(envelope).data)
    }
    const weekBefore = (day: string) =>
      Temporal.PlainDate.from(day)
        .subtract({ days: 7 })
        .toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: '16:00' })
        .toInstant()
    const setTime = (instant: Temporal.Instant, ...processes: RunningService<Config>[]) => {
      for (const process of processes) {
        process.context.clock.set(instant)
        process.wakeAll()
      }
    }
    setTime(weekBefore(date).subtract({ seconds: 1 }), one, two)
    setTime(weekBefore(date), one, two)
    const [first] = await eventually(async () => {
      const now = await published()
      return now.length > 0 && now
    })
    expect(first).toMatchObject({ classDate: date })
    expect(first?.classes.map(({ title, paid, held, capacity }) => [title, paid, held, capacity]).toSorted()).toEqual([
      ['Level 2 Smart Robotics and Coding', 4, 1, 10],
      ['Members’ session', 0, 0, 10],
    ])

    // A class that a refund makes small later is published as well; the others are not published again.
    await db.update(classSessions).set({ sold: 4 }).where(ofDay('basic'))
    await Promise.all([one.stop(), two.stop()])
    const offset = Temporal.Now.instant()
      .until(weekBefore(date).add({ hours: 2 }))
      .toString()
    const three = await fixture.bed.start(enrollment, { DATABASE_URL: one.databaseUrl, CLOCK_OFFSET: offset })
    const all = await eventually(async () => {
      const events = await three.context.db
        .select({ envelope: outbox.envelope })
        .from(outbox)
        .where(eq(outbox.type, smallClassesFound.type))
        .orderBy(asc(outbox.position))
      return events.length > 1 && events.map(({ envelope }) => smallClassesFound.schema.parse(envelope).data)
    })
    await three.stop()
    expect(all.map(({ classes }) => classes.map(({ classType }) => classType).toSorted())).toEqual([
      ['intermediate', 'membership'],
      ['basic'],
    ])
  })
})

describe('a season', () => {
  const noonOn = (day: Temporal.PlainDate) =>
    day.toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: '12:00' }).toInstant()
  /** The season's dates, and the published events. */
  async function seasonsOf({ context }: RunningService<Config>) {
    // Read before the dates, which are written in the same transaction, so that no event is read without its dates.
    const events = await context.db
      .select({ envelope: outbox.envelope })
      .from(outbox)
      .where(eq(outbox.type, seasonOpened.type))
      .orderBy(asc(outbox.position))
    const rows = await context.db
      .selectDistinct({ season: classSessions.season, date: classSessions.date })
      .from(classSessions)
      .where(like(classSessions.season, 'opened-%'))
      .orderBy(asc(classSessions.date))
    return {
      dates: rows.map(({ date }) => date),
      published: events.map(({ envelope }) => seasonOpened.schema.parse(envelope).data),
    }
  }

  it('opens automatically after the last date of the previous one, once, in one of two processes', async () => {
    const one = await fixture.bed.start(enrollment)
    const two = await fixture.bed.start(enrollment, { DATABASE_URL: one.databaseUrl })
    const before = await seasonsOf(one)
    expect(before.published).toMatchObject([{ classDates: before.dates }])
    const last = Temporal.PlainDate.from(before.dates.at(-1) ?? '')
    const setTime = (instant: Temporal.Instant) => {
      for (const process of [one, two]) {
        process.context.clock.set(instant)
        process.wakeAll()
      }
    }
    setTime(noonOn(last))
    const dayAfter = last.add({ days: 1 })
    setTime(noonOn(dayAfter))
    const after = await eventually(async () => {
      const now = await seasonsOf(two)
      return now.published.length > 1 && now
    })
    await Promise.all([one.stop(), two.stop()])
    expect(after.dates.slice(0, 4)).toEqual(before.dates)
    expect(after.dates).toHaveLength(8)
    expect(after.published).toEqual([
      ...before.published,
      {
        season: `opened-${dayAfter.toString()}`,
        openedOn: dayAfter.toString(),
        classDates: after.dates.slice(4),
      },
    ])
  })

  it('that was opened before the event existed is published at the next start, once', async () => {
    const first = await fixture.bed.start(enrollment)
    const before = await seasonsOf(first)
    await first.context.db.delete(seasons)
    await first.context.db.delete(outbox)
    for (const start of [1, 2]) {
      const again = await fixture.bed.start(enrollment, { DATABASE_URL: first.databaseUrl })
      expect([start, await seasonsOf(again)]).toEqual([start, before])
      await again.stop()
    }
    await first.stop()
  })
})

describe('GET /available-slots', () => {
  it('lists the members’ sessions by default, or those of a level', async () => {
    const members = await fixture.session({ classType: 'membership', capacity: 7 })
    const { body } = await fixture.call('GET', '/available-slots')
    const ofMembers = {
      slots: expect.arrayContaining([{ classDate: members.date, availableSlots: 7, startTime: '16:00' }]),
    }
    expect(body).toMatchObject(ofMembers)
    const basic = await fixture.call('GET', '/available-slots?classType=basic')
    expect(basic.body).not.toMatchObject(ofMembers)
  })

  it('answers 400 for an unknown class type', async () => {
    const answer = await fixture.call('GET', '/available-slots?classType=expert')
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
  })
})

describe('a class date', () => {
  it.each([
    { date: '2027-06-11', startTime: '16:00', classType: 'advanced', now: '2027-06-11T22:59:58Z', offered: true },
    { date: '2027-06-12', startTime: '16:00', classType: 'advanced', now: '2027-06-12T23:00:00Z', offered: false },
    { date: '2027-06-13', startTime: '16:00', classType: 'advanced', now: '2027-06-13T23:30:00Z', offered: false },
    { date: '2027-11-12', startTime: '16:00', classType: 'advanced', now: '2027-11-12T04:00:00Z', offered: true },
    { date: '2027-12-31', startTime: '23:30', classType: 'advanced', now: '2028-01-01T07:29:00Z', offered: true },
    { date: '2028-01-01', startTime: '00:00', classType: 'advanced', now: '2027-12-31T23:59:58-08:00', offered: true },
    {
      date: '2028-01-02',
      startTime: '00:00',
      classType: 'advanced',
      now: '2028-01-02T00:00:00.500-08:00',
      offered: false,
    },
  ] as const)('$date $startTime is offered at $now: $offered', async ({ date, startTime, classType, now, offered }) => {
    const session = await fixture.session({ date, startTime, classType })
    fixture.service.context.clock.set(Temporal.Instant.from(now))
    expect(await fixture.seatsLeft(session)).toBe(offered ? 10 : undefined)
    const request = requestFor(session)
    const answer = await fixture.register(request)
    if (offered) {
      expect(answer.body).toMatchObject({ status: 'held', startDate: date, startTime })
    } else {
      expect([answer.status, codeOf(answer)]).toEqual([400, 'class_not_offered'])
      expect(await fixture.publishedEvents(registrationHeld, request.id)).toEqual([])
    }
  })

  it('that was cancelled is not offered', async () => {
    const session = await fixture.session()
    await fixture.db.update(classSessions).set({ status: 'cancelled' }).where(eq(classSessions.id, session.id))
    expect(await fixture.seatsLeft(session)).toBeUndefined()
    expect(codeOf(await fixture.register(requestFor(session)))).toBe('class_not_offered')
  })
})

describe('seats left', () => {
  it('decrease with each hold and not with its payment, in both lists', async () => {
    const session = await fixture.session()
    const held = []
    for (const left of [9, 8, 7, 6]) {
      held.push(await fixture.hold(session))
      expect(await fixture.seatsLeft(session)).toBe(left)
    }
    for (const { registrationId } of held.slice(0, 3)) {
      await fixture.pay(registrationId)
      expect(await fixture.seatsLeft(session)).toBe(6)
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1, sold: 3 })
  })

  it('are 0, not negative, if the capacity was lowered below the sold seats', async () => {
    const session = await fixture.session()
    const family = []
    for (let index = 0; index < 9; index += 1) family.push(await fixture.enroll(session))
    for (const capacity of [8, 0]) {
      await fixture.db.update(classSessions).set({ capacity }).where(eq(classSessions.id, session.id))
      expect(await fixture.seatsLeft(session)).toBe(0)
      expect(codeOf(await fixture.register(requestFor(session)))).toBe('class_full')
    }
    for (const { registrationId } of family) expect((await fixture.read(registrationId)).status).toBe('confirmed')
  })
})
