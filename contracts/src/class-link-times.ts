/* Without zod, because pages use it. */
import type { Meeting } from './meetings.ts'

/** How long before a meeting its class link opens, and how long after its end it works, in minutes. */
export const linkOpensMinutesBefore = 30
export const linkClosesMinutesAfter = 15

const minuteMs = 60_000

/** The times of a meeting and of its link, in milliseconds. */
export function meetingTimes({ startsAt, durationMinutes }: Pick<Meeting, 'startsAt' | 'durationMinutes'>) {
  const start = Date.parse(startsAt)
  const end = start + durationMinutes * minuteMs
  return {
    opens: start - linkOpensMinutesBefore * minuteMs,
    start,
    end,
    closes: end + linkClosesMinutesAfter * minuteMs,
  }
}

/** A class with its meetings; from a service of the previous version only with the first one. */
interface MeetingClass extends Pick<Meeting, 'startTime' | 'startsAt' | 'durationMinutes'> {
  startDate: string
  meetings?: Meeting[] | undefined
}

export function meetingsOf({ meetings, startDate, startTime, startsAt, durationMinutes }: MeetingClass): Meeting[] {
  if (meetings && meetings.length > 0) return meetings
  return [{ number: 1, date: startDate, startTime, startsAt, durationMinutes }]
}

/** The first meeting that is not over; one is over when its link stops working. */
export function nextMeeting(meetings: readonly Meeting[], now: number): Meeting | undefined {
  return meetings.find((meeting) => now < meetingTimes(meeting).closes)
}
