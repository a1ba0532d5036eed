import { formatClassDate, formatClassTime, schoolInstant } from '@robokids/contracts/class-date'

/** A wall clock: the day as `YYYY-MM-DD` and the time as `HH:MM`. */
export interface WallClock {
  date: string
  time: string
}

/** With the getters of `Date`, not with Intl, whose first formatter costs a phone a fifth of a second. */
export function readersClock(instant: number): WallClock {
  const local = new Date(instant)
  const two = (part: number) => String(part).padStart(2, '0')
  return {
    date: `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())}`,
    time: `${two(local.getHours())}:${two(local.getMinutes())}`,
  }
}

/** `4:36 PM`, on the reader's own clock. @param instant as the server tells it, `…T00:36:00Z` */
export function timeOfReader(instant: string): string {
  return formatClassTime(readersClock(Date.parse(instant)).time)
}

/** The reader's local time of the class, if it differs from the school's. */
function elsewhere({ date, time }: WallClock): WallClock | undefined {
  const instant = schoolInstant(date, time)
  if (instant === undefined) return undefined
  const clock = readersClock(instant)
  return clock.date === date && clock.time === time ? undefined : clock
}

/**
 * A class time beside its date, in the reader's zone and in the school's if they differ:
 * `4:00 PM Pacific`, `7:00 PM your time (4:00 PM Pacific)`, `1:00 AM your time, the day after (4:00 PM Pacific)`.
 */
export function timeForReader(date: string, time: string): string {
  const pacific = `${formatClassTime(time)} Pacific`
  const clock = elsewhere({ date, time })
  if (!clock) return pacific
  const day = clock.date === date ? '' : clock.date > date ? ', the day after' : ', the day before'
  return `${formatClassTime(clock.time)} your time${day} (${pacific})`
}

/**
 * When a class begins: its own date, never shifted by the reader's zone, and its time; if the reader's date differs,
 * one then, also that, as `Saturday, January 23, 1:00 AM your time`.
 */
export function momentForReader(date: string, time: string): { day: string; time: string; elsewhere?: string } {
  const day = formatClassDate(date)
  const clock = elsewhere({ date, time })
  if (!clock || clock.date === date) return { day, time: timeForReader(date, time) }
  const there = `${formatClassDate(clock.date).replace(/, \d+$/, '')}, ${formatClassTime(clock.time)} your time`
  return { day, time: `${formatClassTime(time)} Pacific`, elsewhere: there }
}
