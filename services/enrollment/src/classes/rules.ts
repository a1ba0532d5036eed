import type { ClassType } from '@robokids/contracts/enrollment'
import { linkClosesMinutesAfter, linkOpensMinutesBefore, type ReminderKind } from '@robokids/contracts/meetings'
import { DomainError } from '@robokids/runtime/errors'

/** The number of weekly meetings of each program; a members' class is a single one. */
const meetingCounts: Record<ClassType, number> = {
  basic: 6,
  intermediate: 6,
  advanced: 8,
  custom: 8,
  membership: 1,
}

export interface MeetingTime {
  number: number
  /** `YYYY-MM-DD` */
  date: string
  /** `HH:MM` */
  startTime: string
  durationMinutes: number
  startsAt: Temporal.Instant
}

const instantOf = (date: string, startTime: string, timeZone: string) =>
  Temporal.PlainDate.from(date).toZonedDateTime({ timeZone, plainTime: startTime }).toInstant()

const addWeeks = (date: string, weeks: number) => Temporal.PlainDate.from(date).add({ weeks }).toString()

/** The meetings of a new session: weekly at the same wall-clock time, also across a change of daylight saving time. */
export function weeklyMeetings(session: {
  classType: ClassType
  date: string
  startTime: string
  durationMinutes: number
  timeZone: string
}): MeetingTime[] {
  const { classType, startTime, durationMinutes, timeZone } = session
  return Array.from({ length: meetingCounts[classType] }, (_, index) => {
    const date = addWeeks(session.date, index)
    return { number: index + 1, date, startTime, durationMinutes, startsAt: instantOf(date, startTime, timeZone) }
  })
}

export interface Reminder {
  kind: ReminderKind
  dueAt: Temporal.Instant
  /** Not sent after this time. */
  expiresAt: Temporal.Instant
}

/** The mails around a meeting. */
export function remindersOf({ number, startsAt, durationMinutes }: MeetingTime): Reminder[] {
  const before = (hours: number) => startsAt.subtract({ hours })
  const end = startsAt.add({ minutes: durationMinutes })
  const always: Reminder[] = [
    { kind: 'day', dueAt: before(24), expiresAt: before(1) },
    { kind: 'hour', dueAt: before(1), expiresAt: startsAt },
  ]
  if (number > 1) return always
  return [
    { kind: 'welcome', dueAt: before(72), expiresAt: before(24) },
    ...always,
    { kind: 'follow_up', dueAt: end.add({ hours: 1 }), expiresAt: end.add({ hours: 72 }) },
  ]
}

/** When the link of a meeting's video call is shown. */
export function linkTimes({ startsAt, durationMinutes }: Pick<MeetingTime, 'startsAt' | 'durationMinutes'>) {
  return {
    opensAt: startsAt.subtract({ minutes: linkOpensMinutesBefore }),
    closesAt: startsAt.add({ minutes: durationMinutes + linkClosesMinutesAfter }),
  }
}

/** The meeting whose link is open; undefined if none is. */
export function openMeeting<Meeting extends Pick<MeetingTime, 'startsAt' | 'durationMinutes'>>(
  meetings: Meeting[],
  now: Temporal.Instant,
): Meeting | undefined {
  return meetings.find((meeting) => {
    const { opensAt, closesAt } = linkTimes(meeting)
    return Temporal.Instant.compare(opensAt, now) <= 0 && Temporal.Instant.compare(now, closesAt) < 0
  })
}

function meetingToChange(meetings: MeetingTime[], number: number, now: Temporal.Instant): MeetingTime {
  const meeting = meetings.find((one) => one.number === number)
  if (!meeting) throw new DomainError('meeting_not_found', `This class has no meeting ${number}.`)
  if (number === 1) {
    const message = 'The first meeting gives a class its date and cannot be moved. Open another class instead.'
    throw new DomainError('meeting_not_movable', message)
  }
  if (Temporal.Instant.compare(meeting.startsAt, now) <= 0)
    throw new DomainError('meeting_not_movable', `Meeting ${number} has begun already.`)
  return meeting
}

/**
 * Returns the meetings after one of them is moved.
 * @throws DomainError `meeting_not_found`, `meeting_not_movable`
 */
export function moveMeeting(
  meetings: MeetingTime[],
  number: number,
  to: { date: string; startTime?: string | undefined },
  timeZone: string,
  now: Temporal.Instant,
): MeetingTime[] {
  const meeting = meetingToChange(meetings, number, now)
  const { date, startTime = meeting.startTime } = to
  const moved = { ...meeting, date, startTime, startsAt: instantOf(date, startTime, timeZone) }
  if (Temporal.Instant.compare(moved.startsAt, now) <= 0)
    throw new DomainError('meeting_not_movable', `${date} at ${startTime} is not in the future.`)
  const [before, after] = [number - 1, number + 1].map((one) => meetings.find((other) => other.number === one))
  if (before && Temporal.PlainDate.compare(date, before.date) <= 0)
    throw new DomainError(
      'meeting_not_movable',
      `Meeting ${number} must stay after meeting ${number - 1}, ${before.date}.`,
    )
  if (after && Temporal.PlainDate.compare(date, after.date) >= 0)
    throw new DomainError(
      'meeting_not_movable',
      `Meeting ${number} must stay before meeting ${number + 1}, ${after.date}.`,
    )
  return meetings.map((one) => (one.number === number ? moved : one))
}

/**
 * Returns the meetings after the date of one of them is skipped: it and all later ones take place a week later.
 * @throws DomainError `meeting_not_found`, `meeting_not_movable`
 */
export function skipMeeting(
  meetings: MeetingTime[],
  number: number,
  timeZone: string,
  now: Temporal.Instant,
): MeetingTime[] {
  meetingToChange(meetings, number, now)
  return meetings.map((one) => {
    if (one.number < number) return one
    const date = addWeeks(one.date, 1)
    return { ...one, date, startsAt: instantOf(date, one.startTime, timeZone) }
  })
}
