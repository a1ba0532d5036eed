import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import { schoolDate, schoolTime } from '@robokids/contracts/school-date'
import { DomainError } from '@robokids/runtime/errors'
import { changeUntil, type Booking, type ClassSessionRow } from './lock-member.ts'

/**
 * Checks that a class can be moved or canceled now, and that it is the one which the page showed.
 * @throws DomainError `booking_changed`, `change_not_allowed`
 */
export function checkChangeable(
  { status }: Pick<Booking, 'status'>,
  session: Pick<ClassSessionRow, 'date' | 'startsAt' | 'timeZone'>,
  shownDate: string,
  now: Temporal.Instant,
): void {
  if (status === 'ended') throw new DomainError('booking_changed', 'This class was canceled meanwhile.')
  if (session.date !== shownDate)
    throw new DomainError('booking_changed', `This class is on ${formatClassDate(session.date)} by now.`)
  const until = changeUntil(session)
  if (Temporal.Instant.compare(now, until) <= 0) return
  const text = until.toString()
  const at = `${formatClassDate(schoolDate(text))}, ${formatClassTime(schoolTime(text))} Pacific`
  throw new DomainError('change_not_allowed', `Changes were free until ${at}. Write to us if something came up.`)
}
