import type { ChangeTerms } from '@robokids/contracts/changes'
import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { RegistrationStatus } from '@robokids/contracts/enrollment'
import type { PaymentState } from '@robokids/contracts/payment-state'
import { schoolDate, schoolTime } from '@robokids/contracts/school-date'
import { DomainError } from '@robokids/runtime/errors'
import { hasPlaces, type PlacePrice, type PlaceStatus } from '../places/rules.ts'
import { paymentProblem, type ClassSessionStatus } from '../rules.ts'

/** The share of what was paid that goes back until `days` days before the start. */
export interface RefundShare {
  days: number
  percent: number
}

export interface Policy {
  validFrom: Temporal.Instant
  refunds: RefundShare[]
  freeMoves: number
  moveDays: number
}

/** The start of a class, by the clock on the school's wall. */
export interface ClassStart {
  startsAt: Temporal.Instant
  timeZone: string
  status?: ClassSessionStatus
}

/** The terms of the school: all sales are final, and each child can be moved once until a week before the start. */
export const firstPolicy: Policy = {
  validFrom: Temporal.Instant.from('2025-01-01T08:00:00Z'),
  refunds: [],
  freeMoves: 1,
  moveDays: 7,
}

const isBefore = (a: Temporal.Instant, b: Temporal.Instant) => Temporal.Instant.compare(a, b) < 0

/** The latest of the policies that have begun; undefined before the first one. */
export function policyInForce(policies: Policy[], now: Temporal.Instant): Policy | undefined {
  return policies
    .filter(({ validFrom }) => !isBefore(now, validFrom))
    .toSorted((a, b) => Temporal.Instant.compare(a.validFrom, b.validFrom))
    .at(-1)
}

/** The same time of day as the start, `days` calendar days earlier: an hour more or less if the clocks change in between. */
export function daysBefore({ startsAt, timeZone }: ClassStart, days: number): Temporal.Instant {
  return startsAt.toZonedDateTimeISO(timeZone).subtract({ days }).toInstant()
}

/** The share that a cancellation gives back now, and the last instant at which it does; null for the smallest, which stays. */
export function refundShare(policy: Policy, start: ClassStart, now: Temporal.Instant) {
  const shares = policy.refunds.toSorted((a, b) => b.days - a.days)
  for (const { days, percent } of shares) {
    const until = daysBefore(start, days)
    if (!isBefore(until, now)) return { percent, until }
  }
  return { percent: 0, until: null }
}

interface Payable extends PlacePrice {
  id: string
  childName: string
}

type Line = ChangeTerms['lines'][number]

/** The line of a cancelled place. Fractions of a cent stay with the school. */
export function cancelLine({ id, childName, paidAmount }: Payable, percent: number): Line {
  const back = Math.floor((paidAmount * percent) / 100)
  return { placeId: id, childName, paid: paidAmount, price: null, due: 0, back }
}

/**
 * The line of a moved place: today's price of the new seat, less what the old one was sold for. A child that joined free by a
 * promotion keeps that, so a move at the same price costs nothing; but no more goes back than was paid for this child.
 * @param oldPrice today's price of the old place, for a place of which it is not known what it was sold for
 */
export function moveLine({ id, childName, paidAmount, listAmount }: Payable, price: number, oldPrice: number): Line {
  const soldFor = listAmount ?? Math.max(paidAmount, oldPrice)
  const due = Math.max(0, price - soldFor)
  const back = Math.min(paidAmount, Math.max(0, soldFor - price))
  return { placeId: id, childName, paid: paidAmount, price, due, back }
}

/** The place's amounts after its change. */
export function priceAfter({ paid, price, due, back }: Line): PlacePrice {
  return { paidAmount: paid + due - back, listAmount: price }
}

/** The sums of the lines, set off against each other. */
export function sumsOf(lines: Line[]): { due: number; back: number } {
  const net = lines.reduce((sum, { due, back }) => sum + due - back, 0)
  return { due: Math.max(0, net), back: Math.max(0, -net) }
}

/**
 * The lines with what goes back reduced, from the last one on, to what is left of the payments: an operator may have given some of it
 * back already.
 */
export function limitBack(lines: Line[], left: number): Line[] {
  let excess = sumsOf(lines).back - Math.max(0, left)
  return lines
    .toReversed()
    .map((line) => {
      const less = Math.max(0, Math.min(line.back, excess))
      excess -= less
      return { ...line, back: line.back - less }
    })
    .toReversed()
}

const writeToUs = 'Write to us if something came up.'

export function changeNotAllowed(message: string): DomainError {
  return new DomainError('change_not_allowed', message)
}

/** `Friday, March 12, 2027, 4:00 PM Pacific`: mails and pages name an instant in the same words. */
function instantText(instant: Temporal.Instant): string {
  const text = instant.toString()
  return `${formatClassDate(schoolDate(text))}, ${formatClassTime(schoolTime(text))} Pacific`
}

/** A registration and those of its places that are to be changed. */
export interface Changeable {
  status: RegistrationStatus
  paymentState: PaymentState
  places: { childName: string; status: PlaceStatus; classSessionId: string; moves: number }[]
}

/**
 * Checks that these places can be changed at all, and have not been cancelled yet.
 * @throws DomainError `already_cancelled`, `registration_not_paid`, `change_not_allowed`, `validation_failed`
 */
export function checkChangeable(
  { status, paymentState, places }: Changeable,
  start: ClassStart,
  now: Temporal.Instant,
) {
  const gone = places.find((place) => place.status === 'cancelled')
  if (status === 'cancelled' || gone) {
    const what = gone && status !== 'cancelled' ? `${gone.childName}’s class is` : 'This class is'
    throw new DomainError('already_cancelled', `${what} already canceled.`)
  }
  if (!hasPlaces(status)) throw new DomainError('registration_not_paid', 'This registration is not paid.')
  const problem = paymentProblem(paymentState)
  if (problem !== undefined) throw changeNotAllowed(`${problem}, so it cannot be changed. ${writeToUs}`)
  if (new Set(places.map(({ classSessionId }) => classSessionId)).size > 1) {
    throw new DomainError('validation_failed', 'Choose children of one class.', [
      { path: 'placeIds', message: 'Choose children of one class.' },
    ])
  }
  // A cancelled class never begins.
  if (start.status !== 'cancelled' && !isBefore(now, start.startsAt))
    throw changeNotAllowed(`This class has begun. ${writeToUs}`)
}

/**
 * Checks the policy's rule about moves, and returns the last instant at which they are possible.
 * @throws DomainError `change_not_allowed`
 */
export function checkMovable(
  policy: Policy,
  places: Pick<Changeable['places'][number], 'childName' | 'moves'>[],
  start: ClassStart,
  now: Temporal.Instant,
): Temporal.Instant {
  if (policy.freeMoves === 0) throw changeNotAllowed(`A class cannot be moved at the moment. ${writeToUs}`)
  const until = daysBefore(start, policy.moveDays)
  if (isBefore(until, now)) throw changeNotAllowed(`Moving was free until ${instantText(until)}. ${writeToUs}`)
  const used = places.find(({ moves }) => moves >= policy.freeMoves)
  if (used) {
    const times = policy.freeMoves === 1 ? 'once' : `${policy.freeMoves} times`
    throw changeNotAllowed(`A child can be moved ${times}, and ${used.childName} was. ${writeToUs}`)
  }
  return until
}

/** Once a kit has left, a child moves within its level only. @throws DomainError `change_not_allowed` */
export function checkKit(
  kitShipped: boolean,
  from: { classType: string; levelTitle: string },
  to: { classType: string },
  childNames: string[],
): void {
  if (!kitShipped || from.classType === to.classType) return
  const level = from.levelTitle.split(' ').slice(0, 2).join(' ')
  const names = new Intl.ListFormat('en-US').format(childNames)
  throw changeNotAllowed(`The ${level} kit is on its way, so ${names} can move to another ${level} date.`)
}

/** Names and addresses are on the kit. @throws DomainError `change_not_allowed` */
export function checkCorrectable(kitShipped: boolean): void {
  if (kitShipped) throw changeNotAllowed(`The kit is on its way, so this can no longer be corrected. ${writeToUs}`)
}
