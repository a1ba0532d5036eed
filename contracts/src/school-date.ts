/* In a file of its own: each page loads what formats class dates, and few need this. */
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
  // By the rule of the United States since 2007, for the reason given with the class dates, and because not every browser has Temporal:
  // daylight-saving time from 2 AM on the second Sunday in March to 2 AM on the first Sunday in November.
  const year = new Date(time).getUTCFullYear()
  const isDaylightSaving = time >= sundayFrom(year, 2, 8) + 10 * hour && time < sundayFrom(year, 10, 1) + 9 * hour
  return new Date(time - (isDaylightSaving ? 7 : 8) * hour).toISOString().slice(0, 10)
}
