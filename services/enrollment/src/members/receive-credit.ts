import { memberClassBooked, memberClassCancelled, memberClassNotRestored } from '@robokids/contracts/member-classes'
import type { memberCreditChanged } from '@robokids/contracts/member-classes'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { inArray } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { lockClassSessions, moveSeats } from '../registrations/lock-registration.ts'
import { isOffered, seatsLeft } from '../rules.ts'
import { classSessions, memberCredits } from '../schema.ts'
import { applyCredit, withoutClass, type Credit } from './credit-rules.ts'
import { lockMember, memberClassFacts, saveBooking, saveCredits, type Member } from './lock-member.ts'

/**
 * Applies what billing says about the credit of a month. When its payment goes back, the credit goes, and a booked class that is still
 * ahead is given up; when the payment is won back, both return, the class if there is still a seat.
 */
export async function receiveCredit(
  tx: Transaction,
  { data }: EventOf<typeof memberCreditChanged>,
  { clock }: Context<Config>,
): Promise<void> {
  const { membershipId, creditId: id, paymentId, month, isFirst, withdrawn, version } = data
  const member = await lockMember(tx, membershipId)
  const now = clock.now()
  const ids = member.bookings.map(({ classSessionId }) => classSessionId)
  const sessions = await tx.select().from(classSessions).where(inArray(classSessions.id, ids))
  const isAhead = (bookingId: string) => {
    const booking = member.bookings.find((one) => one.bookingId === bookingId && one.status === 'booked')
    const session = sessions.find((one) => one.id === booking?.classSessionId)
    return session !== undefined && Temporal.Instant.compare(now, session.startsAt) < 0
  }
  const { hasEnded } = member
  const change = { id, month, isFirst, withdrawn, version }
  const applied = applyCredit(member.credits, change, { membershipId, hasEnded, isAhead })
  if (!applied) return
  const { credit, effect } = applied
  await tx
    .insert(memberCredits)
    .values({ ...credit, membershipId, paymentId, createdAt: now, updatedAt: now })
    .onConflictDoUpdate({
      target: memberCredits.id,
      set: { version, withdrawn, status: credit.status, bookingId: credit.bookingId, updatedAt: now },
    })
  if (effect === 'give_up' && withdrawn !== null) await giveUp(tx, member, credit, withdrawn, now)
  if (effect === 'restore') await restore(tx, member, credit, now)
}

function bookingOf({ bookings }: Member, { bookingId }: Credit) {
  return bookings.find((one) => one.bookingId === bookingId)
}

async function giveUp(
  tx: Transaction,
  member: Member,
  credit: Credit,
  reason: NonNullable<Credit['withdrawn']>,
  now: Temporal.Instant,
): Promise<void> {
  const booking = bookingOf(member, credit)
  const [session] = booking ? await lockClassSessions(tx, [booking.classSessionId]) : []
  if (!booking || !session || !member.seat) return
  const ended = { ...booking, status: 'ended' as const, changes: booking.changes + 1, since: now }
  await saveBooking(tx, ended, session.date)
  const facts = await memberClassFacts(tx, member.seat, ended, session)
  await publish(tx, memberClassCancelled, booking.bookingId, { ...facts, reason, keepsCredit: false })
  await moveSeats(tx, session.id, { held: 0, sold: -1 }, now)
}

async function restore(tx: Transaction, member: Member, credit: Credit, now: Temporal.Instant): Promise<void> {
  const booking = bookingOf(member, credit)
  const [session] = booking ? await lockClassSessions(tx, [booking.classSessionId]) : []
  const isTwice =
    booking !== undefined &&
    member.bookings.some((one) => one.status === 'booked' && one.classSessionId === booking.classSessionId)
  if (booking && session && member.seat && !isTwice && isOffered(session, now) && seatsLeft(session) > 0) {
    const again = { ...booking, status: 'booked' as const, changes: booking.changes + 1, since: now }
    await saveBooking(tx, again, session.date)
    const facts = await memberClassFacts(tx, member.seat, again, session)
    await publish(tx, memberClassBooked, booking.bookingId, { ...facts, again: true })
    await moveSeats(tx, session.id, { held: 0, sold: 1 }, now)
    return
  }
  const idle = withoutClass(member.credits, credit, member.hasEnded)
  await saveCredits(tx, member.credits, [idle], now)
  if (!booking || !session || !member.seat) return
  const facts = await memberClassFacts(tx, member.seat, booking, session)
  await publish(tx, memberClassNotRestored, booking.bookingId, { ...facts, keepsCredit: idle.status === 'unused' })
}
