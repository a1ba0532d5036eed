import { maxOfFamily, type FamilyClasses } from '@robokids/contracts/dashboard'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray } from 'drizzle-orm'
import { presentChange } from '../changes/write-change.ts'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { presentBooking, readBookedClasses } from '../members/lock-member.ts'
import { ownSeats, readMemberCredits } from '../members/read-classes.ts'
import { listOwned } from '../registrations/read-registrations.ts'
import { changes, classSessions } from '../schema.ts'
import { listEntries } from '../waitlist/read-entries.ts'
import { readMemberSeat } from '../waivers/sign-member-waiver.ts'

/** Everything that an account owns, the newest first: its registrations, its seats in members' classes, its places in line. */
export async function readFamilyClasses(userId: string, context: Context<Config>): Promise<FamilyClasses> {
  const { db } = context
  const [owned, seats, waitlist] = await Promise.all([
    listOwned(db, userId, maxOfFamily),
    ownSeats(db, userId),
    listEntries(userId, context),
  ])
  const [memberClasses, memberCredits] = await Promise.all([
    readMemberClasses(seats, userId, context),
    readMemberCredits(seats, context),
  ])
  const sessions = await db
    .select({ id: classSessions.id, startsAt: classSessions.startsAt })
    .from(classSessions)
    .where(inArray(classSessions.id, [...new Set(owned.map(({ classSessionId }) => classSessionId))]))
  const ids = owned.map(({ registrationId }) => registrationId)
  const pending =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(changes)
          .where(and(inArray(changes.registrationId, ids), eq(changes.status, 'held')))
  const starts = new Map(sessions.map(({ id, startsAt }) => [id, isoTime(startsAt)]))
  return {
    registrations: owned.map((registration) => ({
      ...registration,
      startsAt: starts.get(registration.classSessionId) ?? registration.createdAt,
      pendingMoves: pending
        .filter(({ registrationId }) => registrationId === registration.registrationId)
        .map(presentChange),
    })),
    memberClasses,
    memberCredits,
    waitlist,
  }
}

/** The classes of an account's memberships, booked ones only. */
async function readMemberClasses(
  seats: Awaited<ReturnType<typeof ownSeats>>,
  userId: string,
  context: Context<Config>,
): Promise<FamilyClasses['memberClasses']> {
  const classes = await readBookedClasses(context.db, seats)
  const members = await Promise.all(seats.map(({ attemptId }) => readMemberSeat(attemptId, userId, context)))
  return classes.flatMap(({ booking, session }) => {
    const member = members.find(({ membershipId }) => membershipId === booking.membershipId)
    if (!member) return []
    const { durationMinutes } = session
    const { bookingId, classDate, startTime, startsAt, changeUntil } = presentBooking(booking, session)
    return [{ ...member, status: 'seated', bookingId, classDate, startTime, startsAt, durationMinutes, changeUntil }]
  })
}
