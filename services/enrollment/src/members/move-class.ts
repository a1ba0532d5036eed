import { memberClassMoved, type MemberClass, type MoveMemberClass } from '@robokids/contracts/member-classes'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { moveAllSeats } from '../registrations/lock-registration.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from '../rules.ts'
import { classSessions, memberBookingChanges } from '../schema.ts'
import { checkNotBooked, lockWanted } from './book-class.ts'
import { checkChangeable } from './check-changeable.ts'
import { classTimeOf, lockOwnBooking, memberClassFacts, presentBooking, saveBooking } from './lock-member.ts'

/** Finds the change that a request repeats. @throws DomainError `id_reused` */
export async function findBookingChange(tx: Transaction, id: string, bookingId: string) {
  const [known] = await tx.select().from(memberBookingChanges).where(eq(memberBookingChanges.id, id))
  if (known && known.bookingId !== bookingId) throw new DomainError('id_reused', 'This id belongs to another change.')
  return known
}

/**
 * Moves a class to another date: the new seat is taken and the old one freed together, or neither. Its credit goes with it.
 * Repeating a request returns the class as it is by then.
 * @throws DomainError as in `moveMemberClassSchema`
 */
export async function moveClass(
  userId: string,
  bookingId: string,
  { id, from, classDate }: MoveMemberClass,
  { db, clock }: Context<Config>,
): Promise<MemberClass> {
  return db.transaction(async (tx) => {
    const { member, booking } = await lockOwnBooking(tx, bookingId, userId)
    if (await findBookingChange(tx, id, bookingId)) {
      const [session] = await tx.select().from(classSessions).where(eq(classSessions.id, booking.classSessionId))
      if (session) return presentBooking(booking, session)
    }
    const { wanted, locked } = await lockWanted(tx, classDate, [booking.classSessionId])
    const now = clock.now()
    const current = locked.find((one) => one.id === booking.classSessionId)
    if (!current) throw new Error('The class session of a booked class was not found.')
    checkChangeable(booking, current, from, now)
    if (wanted.id === current.id) return presentBooking(booking, current)
    checkNotBooked(member, wanted.id)
    if (!isOffered(wanted, now)) throw classNotOffered('classDate')
    if (seatsLeft(wanted) < 1) throw classFull()
    await tx.insert(memberBookingChanges).values({ id, bookingId, toClassSessionId: wanted.id, createdAt: now })
    const moved = { ...booking, classSessionId: wanted.id, changes: booking.changes + 1, since: now }
    await saveBooking(tx, moved, wanted.date)
    const facts = await memberClassFacts(tx, member.seat, moved, wanted)
    await publish(tx, memberClassMoved, bookingId, { ...facts, from: classTimeOf(current) })
    await moveAllSeats(
      tx,
      new Map([
        [current.id, { held: 0, sold: -1 }],
        [wanted.id, { held: 0, sold: 1 }],
      ]),
      now,
    )
    return presentBooking(moved, wanted)
  })
}
