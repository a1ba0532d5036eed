import { formatDay } from '@robokids/contracts/class-date'
import { schoolDate } from '@robokids/contracts/school-date'

/** An ISO instant as a day on the school's calendar: `November 28, 2026`. What is no instant comes back as it is. */
export const formatMoment = (instant: string): string => formatDay(schoolDate(instant))
