/**
 * The dates of a season's classes. Days are plain dates (`YYYY-MM-DD`) in `classTimeZone`; they are counted in UTC, where every
 * day has 24 hours.
 */
const dayMs = 24 * 60 * 60 * 1000
const friday = 5

/** The minimum number of days from a season's opening to its first class. */
export const seasonLeadDays = 42

/** The number of consecutive class days of a season, starting on a Friday. */
export const seasonLength = 4

function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

/**
 * Returns the first class day of a season that opens on `today`: the first Friday that is at least 42 days away.
 * @param today the day in California on which the season is opened.
 */
export function firstClassDay(today: string): string {
  const earliest = addDays(today, seasonLeadDays)
  const weekday = new Date(`${earliest}T00:00:00Z`).getUTCDay()
  return addDays(earliest, (friday - weekday + 7) % 7)
}

/** Returns the class days of the season that opens on `today`, Friday to Monday. */
export function upcomingSeason(today: string): string[] {
  const first = firstClassDay(today)
  return Array.from({ length: seasonLength }, (_, index) => addDays(first, index))
}
