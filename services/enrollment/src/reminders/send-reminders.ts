import { classLinkMissing, classReminderDue } from '@robokids/contracts/reminders'
import type { Transaction } from '@robokids/runtime/db'
import { publish, publishAll } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, isNull, lte, min } from 'drizzle-orm'
import { presentMeeting, readMeetings } from '../classes/meetings.ts'
import type { Config } from '../config.ts'
import { classSessions, levels, reminders } from '../schema.ts'
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

/** @returns whether one was due. */
async function sendNext(tx: Transaction, { clock }: Context<Config>): Promise<boolean> {
  const now = clock.now()
  const [reminder] = await tx
    .select()
    .from(reminders)
    .where(and(isNull(reminders.handledAt), lte(reminders.dueAt, now)))
    .orderBy(asc(reminders.dueAt))
    .limit(1)
    .for('update', { skipLocked: true })
  if (!reminder) return false
  const { classSessionId, number, kind } = reminder
  await tx
    .update(reminders)
    .set({ handledAt: now })
    .where(and(eq(reminders.classSessionId, classSessionId), eq(reminders.number, number), eq(reminders.kind, kind)))
  const isExpired = Temporal.Instant.compare(reminder.expiresAt, now) <= 0
  if (!isExpired) await publishReminder(tx, reminder, reminder.dueAt)
  return true
}

async function publishReminder(
  tx: Transaction,
  { classSessionId, number, kind }: Pick<typeof reminders.$inferSelect, 'classSessionId' | 'number' | 'kind'>,
  dueAt: Temporal.Instant,
): Promise<void> {
  // A family that paid only after it was due has the confirmation, which says the same.
  const isInTime = (since: Temporal.Instant | null) => since === null || Temporal.Instant.compare(since, dueAt) <= 0
  const [session] = await tx.select().from(classSessions).where(eq(classSessions.id, classSessionId)).for('share')
  const meetings = (await readMeetings(tx, [classSessionId])).get(classSessionId) ?? []
  const meeting = meetings.find((one) => one.number === number)
  if (session?.status !== 'open' || !meeting) return
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
