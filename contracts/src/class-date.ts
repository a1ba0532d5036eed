/**
 * Class dates as people read them. A class date is a calendar day (`YYYY-MM-DD`) with a wall clock time in
 * `classTimeZone`; formatting it never goes through the reader's own zone, so October 3 is October 3 in Tokyo too.
 */
export const classTimeZone = 'America/Los_Angeles'

// Not by Intl: its first formatter costs a phone a fifth of a second, and these are read in American English alone.
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

/** `2025-10-03` → `Friday, October 3, 2025`; anything that is not such a date comes back as it is. */
export function formatClassDate(date: string): string {
  const found = dayOf(date)
  return found ? `${found.weekday}, ${found.month} ${found.day}, ${found.year}` : date
}

/** `2025-10-03` → `Oct 3`. */
export function formatShortClassDate(date: string): string {
  const found = dayOf(date)
  return found ? `${found.month.slice(0, 3)} ${found.day}` : date
}

/** `16:00` → `4:00 PM`. The zone's name is the caller's to add. */
export function formatClassTime(time: string): string {
  const match = /^(\d{2}):(\d{2})$/.exec(time)
  if (!match) return time
  const hour = Number(match[1]) % 24
  return `${hour % 12 || 12}:${match[2]} ${hour < 12 ? 'AM' : 'PM'}`
}

const hour = 3_600_000

/** The first Sunday on or after a day of a month (0 is January), as the time of its 00:00 UTC. */
function sundayFrom(year: number, month: number, day: number): number {
  const weekday = new Date(Date.UTC(year, month, day)).getUTCDay()
  return Date.UTC(year, month, day + ((7 - weekday) % 7))
}

/**
 * The calendar day of an instant (RFC 3339) in `classTimeZone`, `YYYY-MM-DD`: the one in which pages and mails date the end
 * of a membership and its next charge, so that both name the same day. What is not such an instant comes back as it is.
 */
export function schoolDate(instant: string): string {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return instant
  // By the rule of the United States since 2007, for the reason above, and because not every browser has Temporal:
  // daylight-saving time from 2 AM on the second Sunday in March to 2 AM on the first Sunday in November.
  const year = new Date(time).getUTCFullYear()
  const isDaylightSaving = time >= sundayFrom(year, 2, 8) + 10 * hour && time < sundayFrom(year, 10, 1) + 9 * hour
  return new Date(time - (isDaylightSaving ? 7 : 8) * hour).toISOString().slice(0, 10)
}
