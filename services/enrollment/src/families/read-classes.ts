import { maxOfFamily, type FamilyClasses } from '@robokids/contracts/dashboard'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, inArray, isNotNull, or, sql } from 'drizzle-orm'
import { presentChange } from '../changes/write-change.ts'
import type { Config } from '../config.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { isoTime } from '../iso-time.ts'
import { listOwned } from '../registrations/read-registrations.ts'
import { accountChanges, changes, classSessions, memberSeats } from '../schema.ts'
import { listEntries } from '../waitlist/read-entries.ts'
import { readMemberSeat } from '../waivers/sign-member-waiver.ts'

/** Everything that an account owns, the newest first: its registrations, its seats in members' classes, its places in line. */
export async function readFamilyClasses(userId: string, context: Context<Config>): Promise<FamilyClasses> {
  const { db } = context
  const [owned, memberClasses, waitlist] = await Promise.all([
    listOwned(db, userId, maxOfFamily),
    readMemberClasses(userId, context),
    listEntries(userId, context),
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
    waitlist,
  }
}

export async function readMemberClasses(
  userId: string,
  context: Context<Config>,
): Promise<FamilyClasses['memberClasses']> {
  const { db } = context
  const addresses = db
    .select({ emailKey: accountChanges.emailKey })
    .from(accountChanges)
    .where(and(eq(accountChanges.userId, userId), isNotNull(accountChanges.emailKey)))
  const rows = await db
    .select({ seat: memberSeats, classSession: classSessions })
    .from(memberSeats)
    .innerJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
    .where(
      and(
        isNotNull(memberSeats.classDate),
        or(eq(memberSeats.ownerId, userId), inArray(sql`lower(${memberSeats.email})`, addresses)),
      ),
    )
    .orderBy(desc(memberSeats.createdAt), desc(memberSeats.attemptId))
    .limit(maxOfFamily)
  const found = await Promise.all(
    rows.map(async ({ seat, classSession }) => {
      // An address may have been another account's when the seat was taken.
      if ((await ownershipOfSeat(db, seat)).ownerId !== userId) return []
      const read = await readMemberSeat(seat.attemptId, userId, context)
      if (read.status === 'refused') return []
      return [{ ...read, startsAt: isoTime(classSession.startsAt), durationMinutes: classSession.durationMinutes }]
    }),
  )
  return found.flat()
}
