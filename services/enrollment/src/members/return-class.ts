import { memberClassCancelled } from '@robokids/contracts/member-classes'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { lockClassSessions, moveSeats } from '../registrations/lock-registration.ts'
import { returnedCredit } from './credit-rules.ts'
import { lockMember, memberClassFacts, saveBooking, saveCredits } from './lock-member.ts'

/**
 * Gives a member the credit of a class back that the school cancels, also if there are enough already, and publishes it for the mail.
 * Those of a class session are listed by `readBookingsOf`. It locks the membership and then the class session, so the caller has
 * locked neither. Repeating it changes nothing.
 * @returns whether the class was booked.
 */
export async function returnClass(
  tx: Transaction,
  { membershipId, bookingId }: { membershipId: string; bookingId: string },
  now: Temporal.Instant,
): Promise<boolean> {
  const { seat, bookings, credits, hasEnded } = await lockMember(tx, membershipId)
  const booking = bookings.find((one) => one.bookingId === bookingId)
  if (!seat || booking?.status !== 'booked') return false
  const [session] = await lockClassSessions(tx, [booking.classSessionId])
  if (!session) throw new Error('The class session of a booked class was not found.')
  const credit = credits.find((one) => one.bookingId === bookingId)
  if (credit) await saveCredits(tx, credits, [returnedCredit(credit, hasEnded)], now)
  const ended = { ...booking, status: 'ended' as const, changes: booking.changes + 1, since: now }
  await saveBooking(tx, ended, session.date)
  const keepsCredit = credit !== undefined && !hasEnded
  const facts = await memberClassFacts(tx, seat, ended, session)
  await publish(tx, memberClassCancelled, bookingId, { ...facts, reason: 'school', keepsCredit })
  await moveSeats(tx, session.id, { held: 0, sold: -1 }, now)
  return true
}
