import type { MembershipPlan } from '@robokids/contracts/auth'
import { classTimeZone } from '@robokids/contracts/class-date'

/** A paid period of a membership. */
export interface PaidPeriod {
  plan: MembershipPlan
  reason: 'first' | 'renewal' | 'switch'
  start: Temporal.Instant
  /** The start of the first period with this day of the month: a membership from the 31st does not drift to the 28th. */
  anchor: Temporal.Instant
}

/** A month of a paid period. */
export interface PaidMonth {
  number: number
  /** Its first day, in California. */
  month: string
  startsAt: Temporal.Instant
}

const zoned = (instant: Temporal.Instant) => instant.toZonedDateTimeISO(classTimeZone)
const monthsOfPlan: Record<MembershipPlan, number> = { monthly: 1, yearly: 12 }

/**
 * The months of a paid period, each of which gives a credit. One that a change of plan begins is no month of its own if a month
 * with a credit was running: the rest of that was credited to the new price, so its class counts as the first of the new period.
 * @param given the first days of the months that have given a credit.
 */
export function paidMonths({ plan, reason, start, anchor }: PaidPeriod, given: string[]): PaidMonth[] {
  const [first, from] = [zoned(start), zoned(anchor)]
  const { months: passed } = from.until(first, {
    largestUnit: 'months',
    smallestUnit: 'months',
    roundingMode: 'halfExpand',
  })
  const months = Array.from({ length: monthsOfPlan[plan] }, (_, number) => {
    const startsAt = number === 0 ? first : from.add({ months: passed + number })
    return { number, month: startsAt.toPlainDate().toString(), startsAt: startsAt.toInstant() }
  })
  const isRunning = given.some((month) => {
    const day = Temporal.PlainDate.from(month)
    const today = first.toPlainDate()
    return Temporal.PlainDate.compare(day, today) <= 0 && Temporal.PlainDate.compare(today, day.add({ months: 1 })) < 0
  })
  return reason === 'switch' && isRunning ? months.slice(1) : months
}

/** The start of a period of which only the end is known, in rows of earlier versions. */
export function startOfPeriod(plan: MembershipPlan, end: Temporal.Instant): Temporal.Instant {
  return zoned(end).subtract({ months: monthsOfPlan[plan] }).toInstant()
}
