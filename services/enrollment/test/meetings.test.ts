import { randomUUIDv7 } from 'node:crypto'
import { classesSchema, listedSessionSchema, registrationConfirmed } from '@robokids/contracts/enrollment'
import { classLinkSchema } from '@robokids/contracts/meetings'
import { classLinkMissing, classReminderDue, registrationRescheduled } from '@robokids/contracts/reminders'
import { outbox } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { classSessions, reminders } from '../src/schema.ts'
import { nextReminder, sendReminders } from '../src/reminders/send-reminders.ts'
import { adminHeaders, codeOf, startEnrollment, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

const operate = (method: string, path: string, body?: unknown) => fixture.call(method, path, body, adminHeaders)

async function sessionOf(id: string) {
  return listedSessionSchema.parse((await operate('GET', `/admin/class-sessions/${id}`)).body)
}
const datesOf = async (id: string) => ((await sessionOf(id)).meetings ?? []).map(({ date }) => date)
const startsOf = async (id: string) =>
  ((await sessionOf(id)).meetings ?? []).map(({ startsAt }) => Temporal.Instant.from(startsAt))

const joinUrl = 'https://meet.example.com/room-7?pw=1234'
const setLink = (id: string) => operate('POST', `/admin/class-sessions/${id}/link`, { joinUrl, passcode: '1234' })

const dayAfter = (date = '') => Temporal.PlainDate.from(date).add({ days: 1 }).toString()

/** The mails around meetings of a session that are due, in the order of their publication. */
async function remindersDue(classSessionId: string) {
  const rows = await fixture.db
    .select({ envelope: outbox.envelope })
    .from(outbox)
    .where(
      and(
        eq(outbox.type, classReminderDue.type),
        sql`${outbox.envelope} -> 'data' ->> 'classSessionId' = ${classSessionId}`,
      ),
    )
    .orderBy(asc(outbox.id))
  return rows.map((row) => classReminderDue.schema.parse(row.envelope).data)
}

const runReminders = () => sendReminders(fixture.service.context, new AbortController().signal)

describe('the meetings of a program', () => {
  it('are weekly at 4 PM in California, also across a change of daylight saving time', async () => {
    const session = await fixture.session({ classType: 'advanced', date: '2031-02-14' })
    const { meetings = [] } = await sessionOf(session.id)
    expect(meetings.map(({ number, date }) => [number, date])).toEqual([
      [1, '2031-02-14'],
      [2, '2031-02-21'],
      [3, '2031-02-28'],
      [4, '2031-03-07'],
      [5, '2031-03-14'],
      [6, '2031-03-21'],
      [7, '2031-03-28'],
      [8, '2031-04-04'],
    ])
    expect(meetings.map(({ startsAt }) => startsAt.slice(11, 16))).toEqual([
      '00:00',
      '00:00',
      '00:00',
      '00:00',
      '23:00',
      '23:00',
      '23:00',
      '23:00',
    ])
  })

  it.each([
    ['basic', 6],
    ['intermediate', 6],
    ['advanced', 8],
    ['custom', 8],
    ['membership', 1],
  ] as const)('of %s are %i', async (classType, count) => {
    const session = await fixture.session({ classType })
    expect(await datesOf(session.id)).toHaveLength(count)
  })

  it('are shown with the classes on sale, with a registration and with its confirmation', async () => {
    const session = await fixture.session()
    const expected = (await sessionOf(session.id)).meetings
    const { levels } = classesSchema.parse((await fixture.call('GET', '/classes')).body)
    const onSale = levels
      .flatMap(({ sessions }) => sessions)
      .find(({ classSessionId }) => classSessionId === session.id)
    expect(onSale?.meetings).toEqual(expected)
    const registration = await fixture.enroll(session)
    expect(registration.meetings).toEqual(expected)
    const [confirmed] = await fixture.publishedEvents(registrationConfirmed, registration.registrationId)
    expect(confirmed).toMatchObject({ meetings: expected, scheduleVersion: 0 })
  })
})

describe('a meeting that the school moves', () => {
  it('takes place on its new date, and each paid family is told once, however often the command is repeated', async () => {
    const session = await fixture.session({ date: '2031-05-02' })
    const [first, second] = [await fixture.enroll(session), await fixture.enroll(session)]
    const unpaid = await fixture.hold(session)
    const body = { id: randomUUIDv7(), date: '2031-05-24', startTime: '10:30' }
    const path = `/admin/class-sessions/${session.id}/meetings/4/move`
    for (const _ of [1, 2]) {
      const answer = await operate('POST', path, body)
      expect(listedSessionSchema.parse(answer.body).meetings?.[3]).toMatchObject({
        number: 4,
        date: '2031-05-24',
        startTime: '10:30',
        startsAt: '2031-05-24T17:30:00.000Z',
      })
    }
    for (const { registrationId } of [first, second]) {
      const told = await fixture.publishedEvents(registrationRescheduled, registrationId)
      expect(told).toHaveLength(1)
      expect(told[0]).toMatchObject({
        scheduleVersion: 1,
        change: {
          kind: 'moved',
          number: 4,
          from: { date: '2031-05-23', startTime: '16:00' },
          to: { date: '2031-05-24', startTime: '10:30' },
        },
      })
      expect(told[0]?.meetings).toHaveLength(6)
    }
    expect(await fixture.publishedEvents(registrationRescheduled, unpaid.registrationId)).toEqual([])
  })

  it('while a family pays is in its confirmation, and told only there', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    const [, second] = await datesOf(session.id)
    const path = `/admin/class-sessions/${session.id}/meetings/2/move`
    expect((await operate('POST', path, { id: randomUUIDv7(), date: dayAfter(second) })).status).toBe(200)
    await fixture.pay(registrationId)
    const { meetings } = await fixture.waitForStatus(registrationId, 'confirmed')
    const [confirmed] = await fixture.publishedEvents(registrationConfirmed, registrationId)
    expect(confirmed).toMatchObject({ meetings, scheduleVersion: 1 })
    expect(confirmed?.meetings?.[1]?.date).toBe(dayAfter(second))
    expect(await fixture.publishedEvents(registrationRescheduled, registrationId)).toEqual([])
  })

  it('may be skipped, so that it and all later ones take place a week later', async () => {
    const session = await fixture.session({ date: '2031-06-06' })
    await operate('POST', `/admin/class-sessions/${session.id}/meetings/3/skip`, { id: randomUUIDv7() })
    expect(await datesOf(session.id)).toEqual([
      '2031-06-06',
      '2031-06-13',
      '2031-06-27',
      '2031-07-04',
      '2031-07-11',
      '2031-07-18',
    ])
  })

  it.each([
    ['the first one', 1, (dates: string[]) => ({ date: dayAfter(dates[0]) }), 'meeting_not_movable'],
    ['one that does not exist', 7, (dates: string[]) => ({ date: dayAfter(dates[5]) }), 'meeting_not_found'],
    ['one to the day of the one before', 2, (dates: string[]) => ({ date: dates[0] }), 'meeting_not_movable'],
    ['one to the day of the next', 2, (dates: string[]) => ({ date: dates[2] }), 'meeting_not_movable'],
    ['one to a day that does not exist', 2, () => ({ date: '2032-02-30' }), 'validation_failed'],
    ['one to a time that does not exist', 2, () => ({ startTime: '24:10' }), 'validation_failed'],
  ])('is refused if it is %s', async (_what, number, to, code) => {
    const session = await fixture.session()
    const before = await datesOf(session.id)
    const path = `/admin/class-sessions/${session.id}/meetings/${number}/move`
    const body = { id: randomUUIDv7(), date: dayAfter(before[1]), ...to(before) }
    expect(codeOf(await operate('POST', path, body))).toBe(code)
    expect(await datesOf(session.id)).toEqual(before)
  })

  it('that has begun is not moved any more', async () => {
    const session = await fixture.session()
    const [, second] = await startsOf(session.id)
    const [, , third] = await datesOf(session.id)
    if (second) fixture.service.context.clock.set(second)
    const path = `/admin/class-sessions/${session.id}/meetings/2/move`
    expect(codeOf(await operate('POST', path, { id: randomUUIDv7(), date: third }))).toBe('meeting_not_movable')
  })
})

describe('the class link', () => {
  it('is open from 30 minutes before a meeting until 15 minutes after its end, for a paid and signed registration only', async () => {
    const session = await fixture.session()
    await setLink(session.id)
    const { clock } = fixture.service.context
    const signed = await fixture.enroll(session)
    await fixture.sign(signed)
    const unsigned = await fixture.enroll(session)
    const held = await fixture.hold(session)
    const [, second] = await startsOf(session.id)
    if (!second) throw new Error('no meeting')
    const at = async (instant: Temporal.Instant, { registrationId } = signed) => {
      clock.set(instant)
      return fixture.call('GET', `/registrations/${registrationId}/link`)
    }
    expect(codeOf(await at(second.subtract({ minutes: 31 })))).toBe('class_link_not_open')
    const opened = await at(second.subtract({ minutes: 29 }))
    expect(classLinkSchema.parse(opened.body)).toEqual({
      meeting: 2,
      joinUrl,
      passcode: '1234',
      closesAt: second.add({ minutes: 90 }).toString({ fractionalSecondDigits: 3 }),
    })
    expect((await at(second.add({ minutes: 89 }))).status).toBe(200)
    expect(codeOf(await at(second.add({ minutes: 91 })))).toBe('class_link_not_open')
    expect(codeOf(await at(second, unsigned))).toBe('waiver_not_signed')
    expect(codeOf(await at(second, held))).toBe('registration_not_paid')
    for (const { registrationId } of [signed, unsigned, held])
      expect(JSON.stringify(await fixture.read(registrationId))).not.toContain('room-7')
    expect(JSON.stringify((await fixture.call('GET', '/classes')).body)).not.toContain('room-7')
  })

  it('that the school has not set is told as missing', async () => {
    const session = await fixture.session()
    const registration = await fixture.enroll(session)
    await fixture.sign(registration)
    const [first] = await startsOf(session.id)
    if (first) fixture.service.context.clock.set(first)
    expect(codeOf(await fixture.call('GET', `/registrations/${registration.registrationId}/link`))).toBe(
      'class_link_missing',
    )
  })

  it.each(['http://meet.example.com/x', 'javascript:alert(1)', '', 'room 7'])('%s is refused', async (wrong) => {
    const session = await fixture.session()
    const answer = await operate('POST', `/admin/class-sessions/${session.id}/link`, { joinUrl: wrong })
    expect(codeOf(answer)).toBe('validation_failed')
  })
})

describe('the mails around meetings', () => {
  it('are due once each, at their minute, with the link only in those of a signed registration', async () => {
    const session = await fixture.session({ date: '2033-03-04' })
    await setLink(session.id)
    await operate('POST', `/admin/class-sessions/${session.id}/coach`, { coachName: 'Dana' })
    const signed = await fixture.enroll(session)
    await fixture.sign(signed)
    const unsigned = await fixture.enroll(session)
    await fixture.hold(session)
    const { clock } = fixture.service.context
    const [first, second] = await startsOf(session.id)
    if (!first || !second) throw new Error('no meetings')
    const seen: string[] = []
    const advanceTo = async (instant: Temporal.Instant, count: number) => {
      clock.set(instant)
      await runReminders()
      // The service's own job may be at it.
      const due = await eventually(async () => {
        const rows = await remindersDue(session.id)
        return rows.length >= seen.length + count && rows
      })
      const fresh = due.slice(seen.length)
      seen.push(...fresh.map(({ kind, meeting, attendanceId }) => `${kind} ${meeting.number} ${attendanceId}`))
      return fresh
    }
    const minute = { minutes: 1 }
    for (const [dueAt, kind, number] of [
      [first.subtract({ hours: 72 }), 'welcome', 1],
      [first.subtract({ hours: 24 }), 'day', 1],
      [first.subtract({ hours: 1 }), 'hour', 1],
      [first.add({ minutes: 135 }), 'follow_up', 1],
      // An hour of daylight saving lies between the first two meetings.
      [second.subtract({ hours: 24 }), 'day', 2],
    ] as const) {
      expect(await advanceTo(dueAt.subtract(minute), 0)).toEqual([])
      const due = await advanceTo(dueAt, 2)
      const told = due.map((one) => [one.kind, one.meeting.number, one.attendanceId, one.link?.joinUrl])
      expect(new Set(told)).toEqual(
        new Set([
          [kind, number, signed.registrationId, joinUrl],
          [kind, number, unsigned.registrationId, undefined],
        ]),
      )
      expect(due[0]).toMatchObject({ coachName: 'Dana', meetingCount: 6 })
      expect(await advanceTo(dueAt.add(minute), 0)).toEqual([])
    }
  })

  it('are not sent about what was cancelled, nor late, and tell the school if a link is missing', async () => {
    const session = await fixture.session({ date: '2033-10-07' })
    const staying = await fixture.enroll(session)
    const leaving = await fixture.hold(session)
    const { data } = await fixture.pay(leaving.registrationId)
    await fixture.refund(await fixture.waitForStatus(leaving.registrationId, 'confirmed'), data.paymentId)
    await fixture.waitForStatus(leaving.registrationId, 'cancelled')
    const { clock } = fixture.service.context
    const [first] = await startsOf(session.id)
    if (!first) throw new Error('no meeting')
    // The process was stopped from before the welcome mail until two hours before the class.
    clock.set(first.subtract({ hours: 2 }))
    await runReminders()
    await fixture.waitForEvents(classLinkMissing, session.id)
    expect((await remindersDue(session.id)).map(({ kind, attendanceId }) => [kind, attendanceId])).toEqual([
      ['day', staying.registrationId],
    ])
    expect(await fixture.publishedEvents(classLinkMissing, session.id)).toMatchObject([{ families: 1 }])
  })

  it('are sent for the new time of a moved meeting', async () => {
    const session = await fixture.session({ date: '2034-01-06' })
    await fixture.enroll(session)
    const { clock } = fixture.service.context
    const [, second] = await startsOf(session.id)
    if (!second) throw new Error('no meeting')
    clock.set(second.subtract({ hours: 24 }))
    await runReminders()
    const body = { id: randomUUIDv7(), date: '2034-01-18' }
    await operate('POST', `/admin/class-sessions/${session.id}/meetings/2/move`, body)
    clock.set(second.subtract({ hours: 1 }))
    await runReminders()
    const moved = second.add({ hours: 5 * 24 })
    clock.set(moved.subtract({ hours: 24 }))
    await runReminders()
    clock.set(moved.subtract({ hours: 1 }))
    await runReminders()
    const due = await eventually(async () => {
      const ofSecond = (await remindersDue(session.id)).filter(({ meeting }) => meeting.number === 2)
      return ofSecond.length >= 3 && ofSecond
    })
    expect(due.map(({ kind, meeting }) => [kind, meeting.date])).toEqual([
      ['day', '2034-01-13'],
      ['day', '2034-01-18'],
      ['hour', '2034-01-18'],
    ])
  })

  it('do not deadlock with moving the meeting that they are about', async () => {
    const session = await fixture.session({ date: '2035-01-05' })
    await fixture.enroll(session)
    const [first] = await startsOf(session.id)
    if (first) fixture.service.context.clock.set(first.subtract({ hours: 24 }))
    let sending: Promise<void> | undefined
    // The steps of moving a meeting: it locks the session, and replaces the reminders.
    await fixture.db.transaction(async (tx) => {
      await tx.select().from(classSessions).where(eq(classSessions.id, session.id)).for('update')
      sending = runReminders()
      await eventually(() =>
        fixture.db
          .execute(sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
          .then(({ rowCount }) => rowCount),
      )
      await tx.delete(reminders).where(eq(reminders.classSessionId, session.id))
    })
    await sending
    expect(await remindersDue(session.id)).toEqual([])
  })

  it('are scheduled for sessions that an older version has opened', async () => {
    const session = await fixture.session()
    const rows = await fixture.db.$count(
      reminders,
      and(eq(reminders.classSessionId, session.id), gt(reminders.dueAt, Temporal.Now.instant())),
    )
    expect(rows).toBe(6 * 2 + 2)
  })

  it('are each sent once and at their minute over a year with both changes of daylight saving time, whenever the process stops', async () => {
    const { clock } = fixture.service.context
    const sessions = []
    for (let month = 1; month <= 12; month += 1) {
      const date = `2036-${String(month).padStart(2, '0')}-01`
      const session = await fixture.session({ date })
      sessions.push({ ...session, family: await fixture.enroll(session) })
    }
    const [cancelled, moved] = [sessions[2], sessions[4]]
    if (!cancelled || !moved) throw new Error('no sessions')
    const from = Temporal.Instant.from('2035-12-20T00:00:00Z')
    const until = Temporal.Instant.from('2037-02-20T00:00:00Z')
    const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), {
      numRuns: 4_000,
      seed: 36,
    })
    const chance = () => random.pop() ?? 0
    /** While the process was stopped. */
    const stops: [Temporal.Instant, Temporal.Instant][] = []
    let isMoved = false
    let cancelledAt: Temporal.Instant | undefined
    for (let now = from; Temporal.Instant.compare(now, until) < 0;) {
      clock.set(now)
      await runReminders()
      if (!cancelledAt && Temporal.Instant.compare(now, cancelled.startsAt.add({ hours: 200 })) > 0) {
        cancelledAt = now
        const { payment, registrationId } = cancelled.family
        await fixture.refund(cancelled.family, payment?.paymentId ?? '')
        await fixture.waitForStatus(registrationId, 'cancelled')
      }
      if (!isMoved && Temporal.Instant.compare(now, moved.startsAt) > 0) {
        isMoved = true
        const body = { id: randomUUIDv7(), date: '2036-05-17', startTime: '09:30' }
        await operate('POST', `/admin/class-sessions/${moved.id}/meetings/3/move`, body)
      }
      const next = (await nextReminder(fixture.service.context)) ?? until
      const resumed = now.add({ minutes: 1 + Math.floor(chance() * 60 * 40) })
      const isStopped = chance() < 0.15 && Temporal.Instant.compare(resumed, next) > 0
      if (isStopped) stops.push([now, resumed])
      now = isStopped ? resumed : Temporal.Instant.compare(next, now) > 0 ? next : now.add({ minutes: 1 })
    }
    const wasStopped = (due: Temporal.Instant) =>
      stops.find(([stop, start]) => Temporal.Instant.compare(stop, due) < 0 && Temporal.Instant.compare(due, start) < 0)

    for (const session of sessions) {
      const rows = await fixture.db.select().from(reminders).where(eq(reminders.classSessionId, session.id))
      const sent = (await remindersDue(session.id)).map(({ kind, meeting }) => `${kind} ${meeting.number}`)
      expect(new Set(sent).size).toBe(sent.length)
      for (const { kind, number, dueAt, expiresAt, handledAt } of rows) {
        if (!handledAt) throw new Error(`${kind} ${number} was not handled`)
        const stop = wasStopped(dueAt)
        const handled = stop?.[1] ?? dueAt
        expect(dueAt.until(handledAt).total('seconds')).toBeLessThan(dueAt.until(handled).total('seconds') + 60)
        const isLate = Temporal.Instant.compare(handled, expiresAt) >= 0
        const isGone = session === cancelled && Temporal.Instant.compare(dueAt, cancelledAt ?? until) > 0
        expect([kind, number, sent.includes(`${kind} ${number}`)]).toEqual([kind, number, !isLate && !isGone])
      }
    }
    const third = (await remindersDue(moved.id)).filter(({ meeting }) => meeting.number === 3)
    expect(new Set(third.map(({ meeting }) => meeting.startsAt))).toEqual(new Set(['2036-05-17T16:30:00.000Z']))
  })
})
