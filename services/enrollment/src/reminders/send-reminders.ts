import { classLinkMissing, classReminderDue } from '@robokids/contracts/reminders'
import type { Transaction } from '@robokids/runtime/db'
import { publish, publishAll } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, isNull, lte, min } from 'drizzle-orm'
import { presentMeeting, readMeetings } from '../classes/meetings.ts'
import type { Config } from '../config.ts'
import { lockClassSessions } from '../registrations/lock-registration.ts'
import { levels, reminders, type classSessions } from '../schema.ts'
import { findAttendees, findMembers } from './find-attendees.ts'

/** When the next mail around a meeting is due. */
export async function nextReminder({ db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(reminders.dueAt) })
    .from(reminders)
    .where(isNull(reminders.handledAt))
  return next?.at ?? null
}

/** Publishes the mails around meetings that are due, one reminder a transaction, until none is left. */
export async function sendReminders(context: Context<Config>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await context.db.transaction((tx) => sendNext(tx, context)))) {
    // The next one.
  }
}

/**
 * Locks the class session before its reminder, as moving a meeting does: the other way round, the two could deadlock.
 * @returns whether one was due.
 */
async function sendNext(tx: Transaction, { clock }: Context<Config>): Promise<boolean> {
  const now = clock.now()
  const isDue = and(isNull(reminders.handledAt), lte(reminders.dueAt, now))
  const [next] = await tx.select().from(reminders).where(isDue).orderBy(asc(reminders.dueAt)).limit(1)
  if (!next) return false
  const { classSessionId, number, kind } = next
  const [session] = await lockClassSessions(tx, [classSessionId])
  const isThis = and(
    eq(reminders.classSessionId, classSessionId),
    eq(reminders.number, number),
    eq(reminders.kind, kind),
  )
  const [reminder] = await tx.update(reminders).set({ handledAt: now }).where(and(isThis, isDue)).returning()
  const isExpired = reminder && Temporal.Instant.compare(reminder.expiresAt, now) <= 0
  // Another process may have sent it, or its meeting may have been moved, while this one waited for the session.
  if (session && reminder && !isExpired) await publishReminder(tx, session, reminder)
  return true
}

async function publishReminder(
  tx: Transaction,
  session: typeof classSessions.$inferSelect,
  { classSessionId, number, kind, dueAt }: typeof reminders.$inferSelect,
): Promise<void> {
  // A family that paid only after it was due has the confirmation, which says the same.
  const isInTime = (since: Temporal.Instant | null) => since === null || Temporal.Instant.compare(since, dueAt) <= 0
  const meetings = (await readMeetings(tx, [classSessionId])).get(classSessionId) ?? []
  const meeting = meetings.find((one) => one.number === number)
  if (session.status !== 'open' || !meeting) return
  const { classType, timeZone, coachName, joinUrl, passcode } = session
  const [level] = await tx
    .select({ title: levels.title })
    .from(levels)
    .where(eq(levels.classType, classType as never))
  const next = meetings.find((one) => one.number === number + 1)
  const facts = {
    kind,
    classSessionId,
    classType,
    levelTitle: level?.title ?? 'Members’ session',
    timeZone,
    meeting: presentMeeting(meeting),
    meetingCount: meetings.length,
    nextMeeting: next ? presentMeeting(next) : null,
    coachName,
  }
  const link = joinUrl === null ? null : { joinUrl, passcode }
  const attendees = (await findAttendees(tx, classSessionId)).filter(({ row }) => isInTime(row.paidAt))
  const families = attendees.map(({ row, children }) => ({
    subject: row.id,
    data: {
      ...facts,
      attendance: 'registration' as const,
      attendanceId: row.id,
      email: row.email,
      guardianName: row.guardianName,
      childNames: children.map(({ childName }) => childName),
      familyTimeZone: row.familyTimeZone,
      isSigned: row.status === 'waiver_signed',
      link: row.status === 'waiver_signed' ? link : null,
    },
  }))
  const seated = (await findMembers(tx, classSessionId)).filter(({ since }) => isInTime(since))
  const members = seated.map(({ membershipId, member }) => ({
    subject: membershipId,
    data: {
      ...facts,
      ...member,
      attendance: 'membership' as const,
      attendanceId: membershipId,
      link: member.isSigned ? link : null,
    },
  }))
  const all = [...families, ...members]
  if (all.length === 0) return
  await publishAll(tx, classReminderDue, all)
  if (kind !== 'day' || link !== null) return
  await publish(tx, classLinkMissing, classSessionId, {
    classSessionId,
    classType,
    levelTitle: facts.levelTitle,
    timeZone,
    meeting: facts.meeting,
    families: all.length,
  })
}
