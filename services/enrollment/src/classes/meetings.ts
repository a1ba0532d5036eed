import type { Meeting, Schedule } from '@robokids/contracts/meetings'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import { isoTime } from '../iso-time.ts'
import { classSessions, meetings, reminders } from '../schema.ts'
import { remindersOf, weeklyMeetings, type MeetingTime } from './rules.ts'

type MeetingRow = typeof meetings.$inferSelect
type ClassSessionRow = typeof classSessions.$inferSelect

export function classSessionNotFound(): DomainError {
  return new DomainError('class_session_not_found', 'There is no class session with this id.')
}

export function presentMeeting({ number, date, startTime, durationMinutes, startsAt }: MeetingTime): Meeting {
  return { number, date, startTime, durationMinutes, startsAt: isoTime(startsAt) }
}

/** The meetings of sessions, in their order. */
export async function readMeetings(
  db: Database | Transaction,
  classSessionIds: string[],
): Promise<Map<string, MeetingRow[]>> {
  if (classSessionIds.length === 0) return new Map()
  const rows = await db
    .select()
    .from(meetings)
    .where(inArray(meetings.classSessionId, classSessionIds))
    .orderBy(asc(meetings.number))
  return Map.groupBy(rows, ({ classSessionId }) => classSessionId)
}

/** The meetings and the coach of sessions, as registrations show them. */
export async function readSchedules(db: Database | Transaction, classSessionIds: string[]) {
  const rows = await db
    .select({ id: classSessions.id, coachName: classSessions.coachName })
    .from(classSessions)
    .where(inArray(classSessions.id, classSessionIds))
  const found = await readMeetings(db, classSessionIds)
  return new Map(
    rows.map(({ id, coachName }) => [id, { meetings: (found.get(id) ?? []).map(presentMeeting), coachName }]),
  )
}

/** The schedule of a session, for an event. */
export async function readSchedule(
  db: Database | Transaction,
  { id, scheduleVersion }: Pick<ClassSessionRow, 'id' | 'scheduleVersion'>,
): Promise<Schedule> {
  const rows = (await readMeetings(db, [id])).get(id) ?? []
  return { meetings: rows.map(presentMeeting), scheduleVersion }
}

/** The mails around meetings; what is past its time is never sent. */
export async function scheduleReminders(
  tx: Transaction,
  rows: MeetingRow[],
  isMissed: (reminder: { dueAt: Temporal.Instant; expiresAt: Temporal.Instant }) => boolean,
  now: Temporal.Instant,
): Promise<void> {
  const values = rows.flatMap((row) =>
    remindersOf(row).map((reminder) => ({
      ...reminder,
      classSessionId: row.classSessionId,
      number: row.number,
      handledAt: isMissed(reminder) ? now : null,
    })),
  )
  for (let index = 0; index < values.length; index += 1_000) {
    const batch = values.slice(index, index + 1_000)
    await tx.insert(reminders).values(batch).onConflictDoNothing()
  }
}

/** Gives their meetings to sessions that have none: new ones, and those of the previous version. Safe to repeat. */
export async function addMeetings(tx: Transaction, now: Temporal.Instant): Promise<void> {
  const without = await tx
    .select()
    .from(classSessions)
    .where(sql`not exists (select from ${meetings} where ${eq(meetings.classSessionId, classSessions.id)})`)
    .orderBy(asc(classSessions.id))
    .for('no key update')
  for (const session of without) {
    const values = weeklyMeetings(session).map((meeting) => ({ ...meeting, classSessionId: session.id }))
    const rows = await tx.insert(meetings).values(values).onConflictDoNothing().returning()
    await scheduleReminders(tx, rows, ({ expiresAt }) => Temporal.Instant.compare(expiresAt, now) <= 0, now)
  }
}
