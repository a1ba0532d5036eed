import { formatClassDate, formatClassTime, schoolDate } from '@robokids/contracts/class-date'
import { schoolTime } from '@robokids/contracts/school-date'
import { momentForReader } from '../classes/class-time.ts'

/** `Wednesday, January 20, 11:00 AM Pacific` */
export function schoolMoment(instant: string): string {
  const day = formatClassDate(schoolDate(instant)).replace(/, \d+$/, '')
  return `${day}, ${formatClassTime(schoolTime(instant))} Pacific`
}

/** `Wednesday` at the school. */
export function schoolWeekday(instant: string): string {
  return formatClassDate(schoolDate(instant)).split(',')[0] ?? ''
}

/** The same moment on the reader's own clock; null where it is the school's. */
export function readersMoment(instant: string): string | null {
  const { time, elsewhere } = momentForReader(schoolDate(instant), schoolTime(instant))
  if (elsewhere !== undefined) return elsewhere
  return time.includes('your time') ? time.replace(/ \(.*\)$/, '') : null
}

/** `21 hours left.`, `59 minutes left.`; null once it is over. */
export function timeLeft(instant: string, now: number): string | null {
  const minutes = Math.ceil((Date.parse(instant) - now) / 60_000)
  if (!(minutes > 0)) return null
  if (minutes === 1) return '1 minute left.'
  return minutes < 120 ? `${minutes} minutes left.` : `${Math.floor(minutes / 60)} hours left.`
}
