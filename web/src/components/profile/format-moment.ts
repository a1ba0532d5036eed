import { formatShortClassDate } from '@robokids/contracts/class-date'
import { schoolDate } from '@robokids/contracts/school-date'

/** An ISO instant as a day on the school's calendar, as mails date it: `Nov 28, 2026`. What is no instant comes back as it is. */
export function formatMoment(instant: string): string {
  const day = schoolDate(instant)
  const short = formatShortClassDate(day)
  return short === day ? instant : `${short}, ${day.slice(0, 4)}`
}
