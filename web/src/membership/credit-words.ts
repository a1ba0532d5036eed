import type { Membership } from '@robokids/contracts/billing'
import { formatDay } from '@robokids/contracts/class-date'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'

/** `February 3` */
const day = (instant: string) => formatDay(schoolDate(instant)).replace(/, \d{4}$/, '')

/** `2 classes` */
export const classCount = (count: number) => (count === 1 ? '1 class' : `${count} classes`)

/** As `maxCredits` of contracts, whose file has schemas. */
export const enough = 3

/** What a member can book, and what comes next, in a sentence or two. */
export function creditSentence(
  credits: number,
  membership: Pick<Membership, 'status' | 'endsAt' | 'nextClassAt' | 'unpaid'> | null,
): string {
  const unpaid = membership?.unpaid
  if (unpaid) {
    const missing = `Your payment of ${formatMoney({ amount: unpaid.amount, currency: 'usd' })} did not go through.`
    const again = unpaid.nextTryAt ? `We try again on ${day(unpaid.nextTryAt)}; no` : 'No'
    return `${missing} ${again} new class comes until then. What you have booked stays.`
  }
  const endsAt = membership?.status === 'ended' ? null : membership?.endsAt
  if (endsAt) {
    return credits > 0
      ? `Ends on ${day(endsAt)}. Book your ${classCount(credits)} by then; what you have booked stays.`
      : `Ends on ${day(endsAt)}. What you have booked stays.`
  }
  if (credits >= enough) return `${classCount(credits)} to book. The next month adds none until you book one.`
  if (credits > 0) return `${classCount(credits)} to book.`
  const next = membership?.nextClassAt
  return next ? `Your next class comes on ${day(next)}.` : 'No class to book right now.'
}
