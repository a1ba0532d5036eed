import type { ListedSession } from '@robokids/contracts/enrollment'
import type { MeetingChange, MoveMeeting } from '@robokids/contracts/meetings'
import { registrationRescheduled } from '@robokids/contracts/reminders'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publishAll } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { presentSession } from '../classes/list-sessions.ts'
import { classSessionNotFound, presentMeeting, readMeetings, scheduleReminders } from '../classes/meetings.ts'
import { moveMeeting, skipMeeting, type MeetingTime } from '../classes/rules.ts'
import type { Config } from '../config.ts'
import { factsOf, readClasses } from '../registrations/read-registrations.ts'
import { classSessions, meetingChanges, meetings, reminders } from '../schema.ts'
import { findAttendees } from './find-attendees.ts'

/** The class of a session, which only some of a registration's children may attend. */
async function readClassFacts(tx: Transaction, classSessionId: string) {
  const [found] = await readClasses(tx, [classSessionId])
  if (!found) return { classSessionId }
  const { id: _, ...theClass } = found
  return { ...theClass, classSessionId }
}

interface Meeting {
  classSessionId: string
  number: number
}

/**
 * Moves a meeting, for an administrator: calendars are updated and the families are told, once per change.
 * @throws DomainError `class_session_not_found`, `meeting_not_found`, `meeting_not_movable`, `id_reused`
 */
export function moveTo(meeting: Meeting, { id, ...to }: MoveMeeting, context: Context<Config>): Promise<ListedSession> {
  return change(
    meeting,
    { id, kind: 'moved' },
    (all, timeZone, now) => moveMeeting(all, meeting.number, to, timeZone, now),
    context,
  )
}

/** As `moveTo`: no class on the date of a meeting, so that it and all later ones take place a week later. */
export function skipDate(meeting: Meeting, { id }: { id: string }, context: Context<Config>): Promise<ListedSession> {
  return change(
    meeting,
    { id, kind: 'skipped' },
    (all, timeZone, now) => skipMeeting(all, meeting.number, timeZone, now),
    context,
  )
}

async function change(
  { classSessionId, number }: Meeting,
  { id, kind }: { id: string; kind: MeetingChange['kind'] },
  decide: (meetings: MeetingTime[], timeZone: string, now: Temporal.Instant) => MeetingTime[],
  context: Context<Config>,
): Promise<ListedSession> {
  return context.db.transaction(async (tx) => {
    const [session] = await tx.select().from(classSessions).where(eq(classSessions.id, classSessionId)).for('update')
    if (!session) throw classSessionNotFound()
    const before = (await readMeetings(tx, [classSessionId])).get(classSessionId) ?? []
    const unchanged = { ...presentSession(session), meetings: before.map(presentMeeting) }
    const [known] = await tx.select().from(meetingChanges).where(eq(meetingChanges.changeId, id))
    if (known) {
      const isRepeated = known.classSessionId === classSessionId && known.number === number && known.kind === kind
      if (!isRepeated) throw new DomainError('id_reused', 'This id belongs to another change.')
      return unchanged
    }
    if (session.status === 'cancelled') throw new DomainError('meeting_not_movable', 'This class is canceled.')
    const now = context.clock.now()
    const after = decide(before, session.timeZone, now)
    const [from, to] = [before, after].map((list) => list.find((one) => one.number === number))
    if (!from || !to) throw new DomainError('meeting_not_found', `This class has no meeting ${number}.`)
    if (from.date === to.date && from.startTime === to.startTime) return unchanged
    await tx.insert(meetingChanges).values({
      changeId: id,
      classSessionId,
      kind,
      number,
      fromDate: from.date,
      fromTime: from.startTime,
      toDate: to.date,
      toTime: to.startTime,
      changedAt: now,
    })
    const changed = after.filter((one) => before.find((old) => old.number === one.number) !== one)
    await saveMeetings(tx, classSessionId, changed, now)
    const [updated = session] = await tx
      .update(classSessions)
      .set({ scheduleVersion: sql`${classSessions.scheduleVersion} + 1` })
      .where(eq(classSessions.id, classSessionId))
      .returning()
    const schedule = { meetings: after.map(presentMeeting), scheduleVersion: updated.scheduleVersion }
    const timeOf = ({ date, startTime }: MeetingTime) => ({ date, startTime })
    const told = { changeId: id, kind, number, from: timeOf(from), to: timeOf(to) }
    const families = await findAttendees(tx, classSessionId)
    // Its other children may be in another class.
    const facts = await readClassFacts(tx, classSessionId)
    await publishAll(
      tx,
      registrationRescheduled,
      families.map(({ row, children }) => ({
        subject: row.id,
        data: { ...factsOf(row), ...facts, children, change: told, ...schedule },
      })),
    )
    return { ...presentSession(updated), meetings: schedule.meetings }
  })
}

/** A reminder that was sent for the old time is sent again for the new one, unless that is too near already. */
async function saveMeetings(
  tx: Transaction,
  classSessionId: string,
  changed: MeetingTime[],
  now: Temporal.Instant,
): Promise<void> {
  const numbers = changed.map(({ number }) => number)
  for (const { number, date, startTime, startsAt } of changed) {
    await tx
      .update(meetings)
      .set({ date, startTime, startsAt })
      .where(and(eq(meetings.classSessionId, classSessionId), eq(meetings.number, number)))
  }
  await tx
    .delete(reminders)
    .where(and(eq(reminders.classSessionId, classSessionId), inArray(reminders.number, numbers)))
  const rows = changed.map((meeting) => ({ ...meeting, classSessionId }))
  await scheduleReminders(tx, rows, ({ dueAt }) => Temporal.Instant.compare(dueAt, now) <= 0, now)
  await wakeJob(tx, 'send-reminders')
}
