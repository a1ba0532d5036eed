/**
 * Class dates as people read them. A class date is a calendar day (`YYYY-MM-DD`) with a wall clock time in
 * `classTimeZone`; formatting it never goes through the reader's own zone, so October 3 is October 3 in Tokyo too.
 */
export const classTimeZone = 'America/Los_Angeles'

const long = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeZone: 'UTC' })
const medium = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat('en-US', { timeStyle: 'short', timeZone: 'UTC' })

function utcMillis(date: string, time = '00:00'): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2})$/.exec(`${date} ${time}`)
  if (!match) return undefined
  const [year, month, day, hour, minute] = match.slice(1).map(Number) as [number, number, number, number, number]
  return Date.UTC(year, month - 1, day, hour, minute)
}

/** `2025-10-03` → `Friday, October 3, 2025`; anything that is not such a date comes back as it is. */
export function formatClassDate(date: string): string {
  const millis = utcMillis(date)
  return millis === undefined ? date : long.format(millis)
}

/** `2025-10-03` → `Oct 3`. */
export function formatShortClassDate(date: string): string {
  const millis = utcMillis(date)
  return millis === undefined ? date : medium.format(millis)
}

/** `16:00` → `4:00 PM`, with a plain space. The zone's name is the caller's to add. */
export function formatClassTime(time: string): string {
  const millis = utcMillis('2000-01-01', time)
  return millis === undefined ? time : clock.format(millis).replaceAll('\u202f', ' ')
}
