import type { ClassCancellation } from '@robokids/contracts/class-cancellation'
import type { ChangeStatus } from '@robokids/contracts/changes'
import { DomainError } from '@robokids/runtime/errors'
import { isOffered, type ClassSessionState } from '../rules.ts'

/** Until 5:00 PM on the school's clock, that many days from today. */
export function chooseUntil(now: Temporal.Instant, days: number, timeZone: string): Temporal.Instant {
  const day = now.toZonedDateTimeISO(timeZone).toPlainDate().add({ days })
  return day.toZonedDateTime({ timeZone, plainTime: '17:00' }).toInstant()
}

/**
 * Checks that a class can be cancelled, and that the operator has seen whom it concerns.
 * @throws DomainError `class_not_offered`, `quote_outdated`
 */
export function checkCancellable(
  classSession: Pick<ClassSessionState, 'status' | 'startsAt'> & { classType: string },
  { seen, families }: { seen: number; families: number },
  now: Temporal.Instant,
): void {
  if (classSession.classType === 'membership')
    throw new DomainError('class_not_offered', 'A members’ session cannot be canceled yet: only the class of a level.')
  if (!isOffered(classSession, now))
    throw new DomainError('class_not_offered', 'This class has begun. Move or skip its meetings instead.')
  if (seen === families) return
  const count = families === 1 ? '1 family' : `${families} families`
  throw new DomainError('quote_outdated', `${count} now. Look again.`)
}

type State = ClassCancellation['families'][number]['state']

/** What has become of a family whose class was cancelled. */
export function stateOfFamily({
  isCancelled,
  isSeated,
  changes,
  refunds,
}: {
  isCancelled: boolean
  /** Whether a child still sits in the cancelled class. */
  isSeated: boolean
  /** What was chosen, by the family or at the deadline. */
  changes: { status: ChangeStatus; kind: 'cancel' | 'move'; back: number }[]
  /** Those of these changes. */
  refunds: { amount: number; refunded: boolean; failed: boolean }[]
}): { state: State; back: number } {
  const made = changes.filter(({ status }) => status === 'done')
  const back = made.reduce((sum, change) => sum + change.back, 0)
  if (isSeated) return { state: isCancelled ? 'choosing' : 'to_cancel', back }
  if (back === 0) return { state: made.some(({ kind }) => kind === 'move') ? 'moved' : 'ended', back }
  const returned = refunds
    .filter(({ refunded, failed }) => refunded && !failed)
    .reduce((sum, { amount }) => sum + amount, 0)
  if (returned >= back) return { state: 'refunded', back }
  return { state: refunds.some(({ failed }) => failed) ? 'refund_failed' : 'refund_under_way', back }
}
