import { maxOfFamily } from '@robokids/contracts/dashboard'
import type { MemberClasses, MemberCredits } from '@robokids/contracts/member-classes'
import type { Database } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, asc, desc, eq, gt, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { seatsLeft } from '../rules.ts'
import { accountChanges, classSessions, memberSeats } from '../schema.ts'
import { countUnused } from './credit-rules.ts'
import { changeUntil, classTimeOf, presentBooking, readBookedClasses, readCredits } from './lock-member.ts'

/** The memberships of an account that got a seat, the latest first. */
export async function ownSeats(db: Database, userId: string) {
  const addresses = db
    .select({ emailKey: accountChanges.emailKey })
    .from(accountChanges)
    .where(and(eq(accountChanges.userId, userId), isNotNull(accountChanges.emailKey)))
  const rows = await db
    .select()
    .from(memberSeats)
    .where(
      and(
        isNotNull(memberSeats.classDate),
        isNotNull(memberSeats.classSessionId),
        inArray(memberSeats.outcome, ['seated', 'released']),
        or(eq(memberSeats.ownerId, userId), inArray(sql`lower(${memberSeats.email})`, addresses)),
      ),
    )
    .orderBy(desc(memberSeats.createdAt), desc(memberSeats.attemptId))
    .limit(maxOfFamily)
  const owners = await Promise.all(rows.map((seat) => ownershipOfSeat(db, seat)))
  // An address may have been another account's when the seat was taken.
  return rows.filter((_, index) => owners[index]?.ownerId === userId)
}

/** The credits and classes of memberships: of those that run, or have a class ahead. */
export async function readMemberCredits(
  seats: (typeof memberSeats.$inferSelect)[],
  { db, clock }: Context<Config>,
): Promise<MemberCredits[]> {
  const now = clock.now()
  const credits = await readCredits(
    db,
    seats.map(({ attemptId }) => attemptId),
  )
  const classes = (await readBookedClasses(db, seats)).filter(
    ({ session }) => Temporal.Instant.compare(now, session.startsAt) < 0,
  )
  return seats.flatMap(({ attemptId: membershipId, endedAt }) => {
    const booked = classes
      .filter(({ booking }) => booking.membershipId === membershipId)
      .map(({ booking, session }) => presentBooking(booking, session))
    const hasEnded = endedAt !== null
    if (hasEnded && booked.length === 0) return []
    const unused = hasEnded ? 0 : countUnused(credits.filter((one) => one.membershipId === membershipId))
    return [{ membershipId, credits: unused, hasEnded, booked }]
  })
}

/** What a member can book, and has booked. */
export async function readBookable(userId: string, context: Context<Config>): Promise<MemberClasses> {
  const { db, clock } = context
  const now = clock.now()
  const [seats, sessions] = await Promise.all([
    ownSeats(db, userId),
    db
      .select()
      .from(classSessions)
      .where(
        and(
          eq(classSessions.classType, 'membership'),
          eq(classSessions.status, 'open'),
          gt(classSessions.startsAt, now),
        ),
      )
      .orderBy(asc(classSessions.startsAt)),
  ])
  return {
    now: isoTime(now),
    memberships: await readMemberCredits(seats, context),
    dates: sessions.map((session) => ({
      ...classTimeOf(session),
      seatsLeft: seatsLeft(session),
      changeUntil: isoTime(changeUntil(session)),
    })),
  }
}
