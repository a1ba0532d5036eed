/**
 * Formats class dates. A class date is a calendar day (`YYYY-MM-DD`) with a wall-clock time in `classTimeZone`; formatting
 * never converts it to the reader's time zone, so October 3 is October 3 in Tokyo too.
 */
export const classTimeZone = 'America/Los_Angeles'

export { schoolDate, schoolInstant } from './school-date.ts'

// Not Intl: its first formatter takes a phone a fifth of a second, and the site is in American English only.
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

function dayOf(date: string): { weekday: string; month: string; day: number; year: number } | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date)
  if (!match) return undefined
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  const utc = new Date(Date.UTC(year, month - 1, day))
  return {
    weekday: weekdays[utc.getUTCDay()] ?? '',
    month: months[utc.getUTCMonth()] ?? '',
    day: utc.getUTCDate(),
    year: utc.getUTCFullYear(),
  }
}

/** `2025-10-03` → `Friday, October 3, 2025`; any other text is returned unchanged. */
export function formatClassDate(date: string): string {
  const found = dayOf(date)
  return found ? `${found.weekday}, ${formatDay(date)}` : date
}

/** `2025-10-03` → `October 3, 2025`, for dates whose weekday does not matter. */
export function formatDay(date: string): string {
  const found = dayOf(date)
  return found ? `${found.month} ${found.day}, ${found.year}` : date
}

/** `2025-10-03` → `Oct 3`. */
export function formatShortClassDate(date: string): string {
  const found = dayOf(date)
  return found ? `${found.month.slice(0, 3)} ${found.day}` : date
}

/** `16:00` → `4:00 PM`. The caller adds the name of the time zone. */
export function formatClassTime(time: string): string {
  const match = /^(\d{2}):(\d{2})$/.exec(time)
  if (!match) return time
  const hour = Number(match[1]) % 24
  return `${hour % 12 || 12}:${match[2]} ${hour < 12 ? 'AM' : 'PM'}`
}
