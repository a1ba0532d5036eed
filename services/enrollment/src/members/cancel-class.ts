import { maxCredits, memberClassCancelled, type CancelMemberClass } from '@robokids/contracts/member-classes'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { lockClassSessions, moveSeats } from '../registrations/lock-registration.ts'
import { memberBookingChanges } from '../schema.ts'
import { checkChangeable } from './check-changeable.ts'
import { keepsCredit, withoutClass } from './credit-rules.ts'
import { lockOwnBooking, memberClassFacts, saveBooking, saveCredits } from './lock-member.ts'
import { findBookingChange } from './move-class.ts'

/**
 * Gives up a class at its member's request: its seat is free at once, and its credit can be used again while the membership runs.
 * Repeating a request changes nothing.
 * @throws DomainError as in `cancelMemberClassSchema`
 */
export async function cancelClass(
  userId: string,
  bookingId: string,
  { id, from, keepsCredit: shown }: CancelMemberClass,
  { db, clock }: Context<Config>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { member, booking } = await lockOwnBooking(tx, bookingId, userId)
    if (await findBookingChange(tx, id, bookingId)) return
    const { credits, hasEnded, seat } = member
    const [session] = await lockClassSessions(tx, [booking.classSessionId])
    if (!session) throw new Error('The class session of a booked class was not found.')
    const now = clock.now()
    checkChangeable(booking, session, from, now)
    const credit = credits.find((one) => one.bookingId === bookingId)
    // Of a membership that has just been paid, or was paid at a process of the previous version.
    if (!credit)
      throw new DomainError('change_not_allowed', 'This class can’t be canceled yet. Please try again in a moment.')
    const keeps = keepsCredit(credits, hasEnded)
    if (keeps === undefined) {
      throw new DomainError(
        'change_not_allowed',
        `You have ${maxCredits} classes to book already, so this one can’t be added. Move it to another date instead.`,
      )
    }
    if (keeps !== shown)
      throw new DomainError('booking_changed', 'Your membership has changed. Please check it and confirm again.')
    await tx.insert(memberBookingChanges).values({ id, bookingId, toClassSessionId: null, createdAt: now })
    await saveCredits(tx, credits, [withoutClass(credits, credit, hasEnded)], now)
    const ended = { ...booking, status: 'ended' as const, changes: booking.changes + 1, since: now }
    await saveBooking(tx, ended, session.date)
    const facts = await memberClassFacts(tx, seat, ended, session)
    await publish(tx, memberClassCancelled, bookingId, { ...facts, reason: 'requested', keepsCredit: keeps })
    await moveSeats(tx, session.id, { held: 0, sold: -1 }, now)
  })
}
