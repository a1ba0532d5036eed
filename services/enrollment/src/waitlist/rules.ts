import type { closedReasons, waitlistEnded, WaitlistStatus } from '@robokids/contracts/waitlist'
import type { EventOf } from '@robokids/contracts/event'
import { DomainError } from '@robokids/runtime/errors'
import { isOffered, type ClassSessionState } from '../rules.ts'

/**
 * The rule of the line, as families are told it and as decisions about it are checked:
 *
 * 1. Seats that become free are offered in the order of the line. A family gets an offer for all of its children or none.
 * 2. If fewer are free than a family needs, the next one that fits may take them, or else anybody; the family keeps its place.
 * 3. Once that has happened to a family twice, or 48 hours after the first time, whatever becomes free is set aside until it
 *    fits. This ends 72 hours before the class, so that no seat stays empty for it.
 * 4. An offer lasts 24 hours, but at most half of the time until the class begins. When that would be less than an hour (two
 *    hours before the class), there are no more offers, and free seats are on sale to anybody.
 */
const passesUntilSetAside = 2
export const hoursUntilSetAside = 48
export const hoursWithoutSettingAside = 72
const offerHours = 24
const shortestOfferHours = 1

const hourMs = 3_600_000

/** A waiting family, as the rule sees it. */
export interface WaitingFamily {
  id: string
  seats: number
  passedOver: number
  passedOverSince: Temporal.Instant | null
}

/** When an offer made now would end, at a full minute; null if there is no time left for one. */
export function offerEnd(startsAt: Temporal.Instant, now: Temporal.Instant): Temporal.Instant | null {
  const leftMs = startsAt.epochMilliseconds - now.epochMilliseconds
  const lasts = Math.min(offerHours * hourMs, leftMs / 2)
  if (lasts < shortestOfferHours * hourMs) return null
  return Temporal.Instant.fromEpochMilliseconds(Math.floor((now.epochMilliseconds + lasts) / 60_000) * 60_000)
}

/** Whether the line of a class still moves. */
export function isLineOpen(classSession: ClassSessionState, now: Temporal.Instant): boolean {
  return isOffered(classSession, now) && offerEnd(classSession.startsAt, now) !== null
}

/** Whether free seats are set aside for a family that needs more of them. */
export function isOwedSeats(
  { seats, passedOver, passedOverSince }: WaitingFamily,
  { capacity, startsAt }: ClassSessionState,
  now: Temporal.Instant,
): boolean {
  // It can never fit.
  if (seats > capacity) return false
  if (Temporal.Instant.compare(now, startsAt.subtract({ hours: hoursWithoutSettingAside })) >= 0) return false
  if (passedOver >= passesUntilSetAside) return true
  return (
    passedOverSince !== null && Temporal.Instant.compare(passedOverSince.add({ hours: hoursUntilSetAside }), now) <= 0
  )
}

export interface LineOutcome {
  /** The families that get an offer, and when it ends. */
  offers: string[]
  offerEndsAt: Temporal.Instant | null
  /** The families that keep their place while others may take the free seats. */
  passedOver: string[]
  /** The free seats that nobody else may take. */
  setAside: number
}

/**
 * Applies the rule to a line.
 * @param line the waiting families, in order.
 * @param freed whether seats have just become free; otherwise a family is passed over only by an offer to another one.
 */
export function decideOffers(
  line: WaitingFamily[],
  classSession: ClassSessionState,
  freed: boolean,
  now: Temporal.Instant,
): LineOutcome {
  const offerEndsAt = isOffered(classSession, now) ? offerEnd(classSession.startsAt, now) : null
  const outcome: LineOutcome = { offers: [], offerEndsAt, passedOver: [], setAside: 0 }
  if (offerEndsAt === null) return outcome
  const { capacity, held, sold } = classSession
  let free = Math.max(0, capacity - held - sold)
  const tooLarge: WaitingFamily[] = []
  for (const family of line) {
    if (free === 0) break
    if (family.seats <= free) {
      outcome.offers.push(family.id)
      free -= family.seats
    } else if (isOwedSeats(family, classSession, now)) {
      outcome.setAside = free
      break
    } else tooLarge.push(family)
  }
  if (!freed && outcome.offers.length === 0) return outcome
  outcome.passedOver = tooLarge.map(({ id }) => id)
  // For the second time: what the families behind it did not take is set aside at once.
  const isOwedNow = (family: WaitingFamily) =>
    isOwedSeats({ ...family, passedOver: family.passedOver + 1 }, classSession, now)
  if (tooLarge.some(isOwedNow)) outcome.setAside = free
  return outcome
}

export type EndOutcome = EventOf<typeof waitlistEnded>['data']['outcome']
type ClosedReason = (typeof closedReasons)[number]

/** The final status of an entry, and why it was closed. */
export function endedAs(outcome: EndOutcome): { status: WaitlistStatus; closedReason: ClosedReason | null } {
  switch (outcome) {
    case 'accepted':
    case 'declined':
    case 'expired':
    case 'left':
      return { status: outcome, closedReason: null }
    case 'class_cancelled':
    case 'class_started':
    case 'registered':
      return { status: 'closed', closedReason: outcome }
  }
}

const closedMessages: Record<ClosedReason, string> = {
  class_cancelled: 'This class was canceled, so the line is closed.',
  class_started: 'This class has begun, so the line is closed.',
  registered: 'Your child has a seat in this class already.',
}

/**
 * Checks that an offer can still be accepted.
 * @throws DomainError `offer_ended`
 */
export function checkOffer(
  {
    status,
    offerEndsAt,
    closedReason,
  }: { status: WaitlistStatus; offerEndsAt: Temporal.Instant | null; closedReason: ClosedReason | null },
  classSession: ClassSessionState,
  now: Temporal.Instant,
): void {
  const ended = (message: string) => new DomainError('offer_ended', message)
  if (closedReason !== null) throw ended(closedMessages[closedReason])
  if (classSession.status !== 'open') throw ended(closedMessages.class_cancelled)
  if (status === 'waiting') throw ended('There is no offer for you yet. We’ll email you when there is.')
  const isOver = offerEndsAt === null || Temporal.Instant.compare(offerEndsAt, now) <= 0
  if (status === 'expired' || (status === 'offered' && isOver))
    throw ended('The offer ended. The seats went to the next family.')
  if (status !== 'offered') throw ended('You gave up these seats, and they went to the next family.')
}

/** Seats that families of the line wait for or are offered. */
export interface WaitingSeats {
  seats: number
  /** Whether the requester's account or browser waits for them. */
  ofFamily: boolean
  /** Whether they were asked for from the requester's network. */
  ofNetwork: boolean
}

/**
 * Rejects waiting for more seats than a family or a network may wait for, so that strangers cannot fill the lines.
 * @throws DomainError `too_many_unpaid`
 */
export function checkWaitingSeats(
  waiting: WaitingSeats[],
  wanted: number,
  limits: { family: number; network: number },
): void {
  const sum = (some: WaitingSeats[]) => some.reduce((total, { seats }) => total + seats, 0)
  const ofFamily = sum(waiting.filter((one) => one.ofFamily))
  if (ofFamily + wanted > limits.family) {
    throw new DomainError(
      'too_many_unpaid',
      `Your family waits for ${ofFamily} seats already. Please leave a line that you no longer need.`,
    )
  }
  if (sum(waiting.filter((one) => one.ofNetwork)) + wanted > limits.network) {
    throw new DomainError(
      'too_many_unpaid',
      `Too many families wait from your network. Please use another network, such as your phone's.`,
    )
  }
}
