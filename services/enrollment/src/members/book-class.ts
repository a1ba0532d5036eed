import { memberClassBooked, type BookMemberClass, type MemberClass } from '@robokids/contracts/member-classes'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { lockClassSessions, moveSeats } from '../registrations/lock-registration.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from '../rules.ts'
import { classSessions, memberBookings } from '../schema.ts'
import { nextCredit } from './credit-rules.ts'
import { membersSessionOf } from './hold-member-seat.ts'
import { lockOwnMember, memberClassFacts, presentBooking, saveCredits, type Member } from './lock-member.ts'

/** Locks the class sessions of a member's change, all of them at once, with the one of the wanted date. */
export async function lockWanted(tx: Transaction, classDate: string, others: string[] = []) {
  const [found] = await tx.select({ id: classSessions.id }).from(classSessions).where(membersSessionOf(classDate))
  if (!found) throw classNotOffered('classDate')
  const locked = await lockClassSessions(tx, [found.id, ...others])
  const wanted = locked.find(({ id }) => id === found.id)
  if (!wanted) throw classNotOffered('classDate')
  return { wanted, locked }
}

/** @throws DomainError `already_booked`: a membership has one seat in a class. */
export function checkNotBooked({ bookings }: Member, classSessionId: string): void {
  if (bookings.some((one) => one.status === 'booked' && one.classSessionId === classSessionId))
    throw new DomainError('already_booked', 'You have already booked this date.')
}

/**
 * Books a class with the oldest credit of an account's membership: the seat and the credit together, or neither. Repeating a request
 * returns the same class.
 * @throws DomainError as in `bookMemberClassSchema`
 */
export async function bookClass(
  userId: string,
  { id, membershipId, classDate }: BookMemberClass,
  { db, clock }: Context<Config>,
): Promise<MemberClass> {
  return db.transaction(async (tx) => {
    const member = await lockOwnMember(tx, membershipId, userId)
    const { seat, credits, bookings, hasEnded } = member
    const known = bookings.find((one) => one.bookingId === id)
    if (known) {
      const [session] = await tx.select().from(classSessions).where(eq(classSessions.id, known.classSessionId))
      if (session && known.status === 'booked') return presentBooking(known, session)
      throw new DomainError('booking_changed', 'This class was canceled meanwhile.')
    }
    if (hasEnded)
      throw new DomainError('membership_not_changeable', 'This membership has ended. You can become a member again.')
    const credit = nextCredit(credits)
    if (!credit)
      throw new DomainError('no_credit', 'There is no class to book. The next one comes with your next month.')
    const { wanted } = await lockWanted(tx, classDate)
    const now = clock.now()
    checkNotBooked(member, wanted.id)
    if (!isOffered(wanted, now)) throw classNotOffered('classDate')
    if (seatsLeft(wanted) < 1) throw classFull()
    const row = { id, membershipId, classSessionId: wanted.id, status: 'booked' as const, createdAt: now }
    const inserted = await tx.insert(memberBookings).values(row).onConflictDoNothing().returning()
    // That of another membership.
    if (inserted.length === 0) throw new DomainError('id_reused', 'This id belongs to another class.')
    await saveCredits(tx, credits, [{ ...credit, status: 'booked', bookingId: id }], now)
    const booking = { ...row, bookingId: id, changes: 0, since: now }
    await publish(tx, memberClassBooked, id, await memberClassFacts(tx, seat, booking, wanted))
    // Last, because everyone who wants a seat of the session waits for its row.
    await moveSeats(tx, wanted.id, { held: 0, sold: 1 }, now)
    return presentBooking(booking, wanted)
  })
}
