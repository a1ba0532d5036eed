/* In a file of its own: every page loads the formatting of class dates, few pages need this. */
const hour = 3_600_000

/** Returns the first Sunday on or after a day of a month (0 is January), as the time of its 00:00 UTC. */
function sundayFrom(year: number, month: number, day: number): number {
  const weekday = new Date(Date.UTC(year, month, day)).getUTCDay()
  return Date.UTC(year, month, day + ((7 - weekday) % 7))
}

/**
 * Returns how many hours the school's clocks are behind UTC at a time (milliseconds since 1970), by the rule of the United
 * States since 2007: daylight saving time from 2 AM on the second Sunday in March to 2 AM on the first Sunday in November. Not
 * by Intl, for the reason given in class-date.ts, nor by Temporal, which not every browser has.
 */
function hoursBehind(time: number): number {
  const year = new Date(time).getUTCFullYear()
  return time >= sundayFrom(year, 2, 8) + 10 * hour && time < sundayFrom(year, 10, 1) + 9 * hour ? 7 : 8
}

/**
 * Returns the calendar day (`YYYY-MM-DD`) of an instant (RFC 3339) in `classTimeZone`. Pages and mails use it for the end of a
 * membership and its next charge, so that both name the same day. Any other text is returned unchanged.
 */
export function schoolDate(instant: string): string {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return instant
  return new Date(time - hoursBehind(time) * hour).toISOString().slice(0, 10)
}

/** Returns the time (`HH:MM`) of an instant (RFC 3339) in `classTimeZone`. Any other text is returned unchanged. */
export function schoolTime(instant: string): string {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return instant
  return new Date(time - hoursBehind(time) * hour).toISOString().slice(11, 16)
}

/**
 * Returns the instant (milliseconds since 1970) of a time (`HH:MM`) on a day (`YYYY-MM-DD`) in `classTimeZone`, or undefined if
 * they are invalid. When the clocks go back and an hour occurs twice, it is the first one.
 */
export function schoolInstant(date: string, time: string): number | undefined {
  const asUtc = Date.parse(`${date}T${time}:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(asUtc)) return undefined
  const summer = asUtc + 7 * hour
  return hoursBehind(summer) === 7 ? summer : asUtc + 8 * hour
}
