import { formatDay } from '@robokids/contracts/class-date'
import { schoolDate } from '@robokids/contracts/school-date'

/** An ISO instant as a date in the school's time zone: `November 28, 2026`. Invalid input is returned as it is. */
export const formatMoment = (instant: string): string => formatDay(schoolDate(instant))
