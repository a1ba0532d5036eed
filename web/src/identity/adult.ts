const adultYears = 18
const dayMillis = 24 * 60 * 60 * 1000

/** The latest birthdate of an adult: the day before the date 18 years ago, on the reader's own calendar (`YYYY-MM-DD`). */
export function latestAdultBirthdate(now: Date): string {
  const year = now.getFullYear() - adultYears
  // February 29 has no counterpart in most years: February 28 stands for it.
  const lastOfMonth = new Date(Date.UTC(year, now.getMonth() + 1, 0)).getUTCDate()
  const date = Date.UTC(year, now.getMonth(), Math.min(now.getDate(), lastOfMonth))
  return new Date(date - dayMillis).toISOString().slice(0, 10)
}
