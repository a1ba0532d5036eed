/* In a file of its own: each page loads what formats class dates, and few need this. */
const hour = 3_600_000

/** The first Sunday on or after a day of a month (0 is January), as the time of its 00:00 UTC. */
function sundayFrom(year: number, month: number, day: number): number {
  const weekday = new Date(Date.UTC(year, month, day)).getUTCDay()
  return Date.UTC(year, month, day + ((7 - weekday) % 7))
}

/**
 * How many hours the school's clocks are behind UTC at a time (milliseconds since 1970): by the rule of the United States since
 * 2007, for the reason given with the class dates, and because not every browser has Temporal: daylight-saving time from 2 AM
 * on the second Sunday in March to 2 AM on the first Sunday in November.
 */
function hoursBehind(time: number): number {
  const year = new Date(time).getUTCFullYear()
  return time >= sundayFrom(year, 2, 8) + 10 * hour && time < sundayFrom(year, 10, 1) + 9 * hour ? 7 : 8
}

/**
 * The calendar day of an instant (RFC 3339) in `classTimeZone`, `YYYY-MM-DD`: the one in which pages and mails date the end
 * of a membership and its next charge, so that both name the same day. What is not such an instant comes back as it is.
 */
export function schoolDate(instant: string): string {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return instant
  return new Date(time - hoursBehind(time) * hour).toISOString().slice(0, 10)
}

/** The time of an instant (RFC 3339) on the clocks in `classTimeZone`, `HH:MM`. What is not such an instant comes back as it is. */
export function schoolTime(instant: string): string {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return instant
  return new Date(time - hoursBehind(time) * hour).toISOString().slice(11, 16)
}

/**
 * When it is that time (`HH:MM`) of that day (`YYYY-MM-DD`) in `classTimeZone`, in milliseconds since 1970; undefined where it
 * is no such day and time. Of the two times that an hour has in the night in which the clocks go back, the first.
 */
export function schoolInstant(date: string, time: string): number | undefined {
  const asUtc = Date.parse(`${date}T${time}:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(asUtc)) return undefined
  const summer = asUtc + 7 * hour
  return hoursBehind(summer) === 7 ? summer : asUtc + 8 * hour
}
