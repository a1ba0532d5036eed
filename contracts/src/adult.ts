import { schoolDate } from './school-date.ts'

const adultYears = 18
const dayMs = 24 * 60 * 60 * 1000

/**
 * Returns the latest birthdate (`YYYY-MM-DD`) of an adult at an instant (RFC 3339): the day before the date 18 years ago.
 * Days are counted in the school's time zone, so that the page and the server agree wherever the reader is.
 */
export function latestAdultBirthdate(instant: string): string {
  const [year = 0, month = 0, day = 0] = schoolDate(instant).split('-').map(Number)
  // February 29 becomes February 28 in a year that is not a leap year.
  const lastOfMonth = new Date(Date.UTC(year - adultYears, month, 0)).getUTCDate()
  const date = Date.UTC(year - adultYears, month - 1, Math.min(day, lastOfMonth))
  return new Date(date - dayMs).toISOString().slice(0, 10)
}
