import { formatClassTime, formatShortClassDate } from './class-date.ts'
import type { Meeting } from './meetings.ts'

/**
 * `Jan 8, Jan 15, Jan 23 at 10:30 AM, Jan 29`: the dates of a program, with the time in California of those that differ from the
 * first one. In a file without zod, for pages without a form.
 */
export function formatMeetingDates(meetings: readonly Pick<Meeting, 'date' | 'startTime'>[]): string {
  const usual = meetings[0]?.startTime
  const dates = meetings.map(({ date, startTime }) =>
    startTime === usual ? formatShortClassDate(date) : `${formatShortClassDate(date)} at ${formatClassTime(startTime)}`,
  )
  return dates.join(', ')
}
