import { formatClassDate, formatClassTime, formatDay } from '@robokids/contracts/class-date'
import { schoolDate, schoolTime } from '@robokids/contracts/school-date'
import { readersClock } from '../classes/class-time.ts'

/** Times of classes as their family sees them: on the reader's own clock first, then Pacific where that differs. */

const dayMs = 86_400_000

const withoutYear = (text: string) => text.replace(/, \d{4}$/, '')
/** `2027-01-22` → `Friday, January 22`. */
const dayOf = (date: string) => withoutYear(formatClassDate(date))
/** `2027-01-22` → `January 22`. */
export const dateOf = (date: string) => withoutYear(formatDay(date))
const weekdayOf = (date: string) => formatClassDate(date).split(',', 1)[0] ?? ''

/** `Friday, January 22` → `Fri, Jan 22`. */
export function shortDayOf(date: string): string {
  const [weekday = '', monthAndDay = ''] = dayOf(date).split(', ')
  const [month = '', day = ''] = monthAndDay.split(' ')
  return `${weekday.slice(0, 3)}, ${month.slice(0, 3)} ${day}`
}

const schoolClock = (instant: string) => ({ date: schoolDate(instant), time: schoolTime(instant) })

interface Moment {
  /** `Friday, January 22`, on the reader's clock. */
  day: string
  /** `7:00 PM your time`, or `4:00 PM Pacific` where that is the same. */
  time: string
  /** Where it differs: `4:00 PM Pacific`, with its weekday if that differs too. */
  pacific?: string
}

/** A class's time on the reader's clock and on the school's. */
export function momentOf(instant: string): Moment {
  const [here, there] = [readersClock(Date.parse(instant)), schoolClock(instant)]
  const pacific = `${formatClassTime(there.time)} Pacific`
  const day = dayOf(here.date)
  if (here.date === there.date && here.time === there.time) return { day, time: pacific }
  const time = `${formatClassTime(here.time)} your time`
  return { day, time, pacific: here.date === there.date ? pacific : `${weekdayOf(there.date)}, ${pacific}` }
}

/** `7:00 PM your time (4:00 PM Pacific)` */
export const timeOf = ({ time, pacific }: Moment) => (pacific === undefined ? time : `${time} (${pacific})`)

/** `4:31 PM`, on the reader's clock. */
export const clockTimeOf = (time: number) => formatClassTime(readersClock(time).time)

/** `Fri, Jan 22, 7:00 PM`, on the reader's clock. */
export function shortMomentOf(time: number): string {
  const here = readersClock(time)
  return `${shortDayOf(here.date)}, ${formatClassTime(here.time)}`
}

/** The days between today and an instant, in the reader's zone. */
export function daysUntil(instant: string, now: number): number {
  const day = (time: number) => Date.parse(`${readersClock(time).date}T00:00:00Z`) / dayMs
  return day(Date.parse(instant)) - day(now)
}

/** `In 3 days` from 2 to 14 days ahead, `Tomorrow`, `Today`; nothing beyond. */
export function nearnessOf(instant: string, now: number): string | undefined {
  const days = daysUntil(instant, now)
  if (days < 0 || days > 14) return undefined
  return days === 0 ? 'Today' : days === 1 ? 'Tomorrow' : `In ${days} days`
}
