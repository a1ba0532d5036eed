import { schoolDate } from './school-date.ts'

const adultYears = 18
const dayMillis = 24 * 60 * 60 * 1000

/**
 * The latest birthdate of an adult at an instant (RFC 3339), `YYYY-MM-DD`: the day before the date 18 years ago, on the
 * school's calendar like every rule of days, so that a page and the server never differ, wherever the reader is.
 */
export function latestAdultBirthdate(instant: string): string {
  const [year = 0, month = 0, day = 0] = schoolDate(instant).split('-').map(Number)
  // February 29 has no counterpart in most years: February 28 stands for it.
  const lastOfMonth = new Date(Date.UTC(year - adultYears, month, 0)).getUTCDate()
  const date = Date.UTC(year - adultYears, month - 1, Math.min(day, lastOfMonth))
  return new Date(date - dayMillis).toISOString().slice(0, 10)
}
