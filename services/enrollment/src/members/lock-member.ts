import type { MemberClass, MemberClassFacts } from '@robokids/contracts/member-classes'
import { memberClassDays } from '@robokids/contracts/member-classes'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { daysBefore } from '../changes/rules.ts'
import { isoTime } from '../iso-time.ts'
import { lockNames } from '../registrations/lock-registration.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { classSessions, memberBookings, memberCredits, memberSeats, waivers } from '../schema.ts'
import type { Credit } from './credit-rules.ts'

export type ClassSessionRow = typeof classSessions.$inferSelect
type SeatRow = typeof memberSeats.$inferSelect

/** A class of a membership: the first one, whose id is the membership's, or one that was booked later. */
export interface Booking {
  bookingId: string
  membershipId: string
  classSessionId: string
  status: 'booked' | 'ended'
  /** How often it was moved, given up or restored. */
  changes: number
  /** When it was booked or changed last. */
  since: Temporal.Instant
}

export interface Member {
  membershipId: string
  /** Null until the event of its start has arrived. */
  seat: SeatRow | null
  hasEnded: boolean
  credits: Credit[]
  bookings: Booking[]
}

/** The first class of a membership that ever got a seat. */
function firstBooking(seat: SeatRow): Booking[] {
  const { attemptId, classDate, classSessionId, outcome, changes, changedAt, createdAt } = seat
  if (classDate === null || classSessionId === null || (outcome !== 'seated' && outcome !== 'released')) return []
  const status = outcome === 'seated' ? ('booked' as const) : ('ended' as const)
  const since = changedAt ?? createdAt
  return [{ bookingId: attemptId, membershipId: attemptId, classSessionId, status, changes, since }]
}

function laterBooking(row: typeof memberBookings.$inferSelect): Booking {
  const { id, membershipId, classSessionId, status, changes, changedAt, createdAt } = row
  return { bookingId: id, membershipId, classSessionId, status, changes, since: changedAt ?? createdAt }
}

/** The classes of memberships, as of `firstBooking` and later ones, the first ones first. */
async function readBookings(db: Database | Transaction, seats: SeatRow[]): Promise<Booking[]> {
  const ids = seats.map(({ attemptId }) => attemptId)
  const later = await db
    .select()
    .from(memberBookings)
    .where(inArray(memberBookings.membershipId, ids))
    .orderBy(asc(memberBookings.createdAt), asc(memberBookings.id))
  return [...seats.flatMap(firstBooking), ...later.map(laterBooking)]
}

/** The booked classes of memberships with their class sessions, the earliest first. */
export async function readBookedClasses(db: Database | Transaction, seats: SeatRow[]) {
  const bookings = (await readBookings(db, seats)).filter(({ status }) => status === 'booked')
  const sessions = await db
    .select()
    .from(classSessions)
    .where(inArray(classSessions.id, [...new Set(bookings.map(({ classSessionId }) => classSessionId))]))
    .orderBy(asc(classSessions.startsAt))
  return sessions.flatMap((session) =>
    bookings.filter(({ classSessionId }) => classSessionId === session.id).map((booking) => ({ booking, session })),
  )
}

/** The memberships that attend a class session, with their class. */
export async function readBookingsOf(db: Database | Transaction, classSessionId: string) {
  const first = await db
    .select()
    .from(memberSeats)
    .where(and(eq(memberSeats.classSessionId, classSessionId), eq(memberSeats.outcome, 'seated')))
  const later = await db
    .select({ seat: memberSeats, booking: memberBookings })
    .from(memberBookings)
    .innerJoin(memberSeats, eq(memberSeats.attemptId, memberBookings.membershipId))
    .where(and(eq(memberBookings.classSessionId, classSessionId), eq(memberBookings.status, 'booked')))
  return [
    ...first.flatMap((seat) => firstBooking(seat).map((booking) => ({ seat, booking }))),
    ...later.map(({ seat, booking }) => ({ seat, booking: laterBooking(booking) })),
  ].toSorted((a, b) => (a.booking.bookingId < b.booking.bookingId ? -1 : 1))
}

export async function readCredits(db: Database | Transaction, membershipIds: string[]) {
  return db
    .select()
    .from(memberCredits)
    .where(inArray(memberCredits.membershipId, membershipIds))
    .orderBy(asc(memberCredits.month), asc(memberCredits.id))
}

/**
 * Locks a membership's classes and credits, and reads them. All changes of them take this lock before that of any class session. It is
 * not a lock of a row, because the events of a credit can arrive before that of the membership's start.
 */
export async function lockMember(tx: Transaction, membershipId: string): Promise<Member> {
  await lockNames(tx, [`membership ${membershipId}`])
  const [seat = null] = await tx.select().from(memberSeats).where(eq(memberSeats.attemptId, membershipId))
  const credits = await readCredits(tx, [membershipId])
  const bookings = seat ? await readBookings(tx, [seat]) : []
  return { membershipId, seat, hasEnded: seat !== null && seat.endedAt !== null, credits, bookings }
}

/**
 * The membership of an account, locked.
 * @throws DomainError `membership_not_found` also for that of somebody else
 */
export async function lockOwnMember(tx: Transaction, membershipId: string, userId: string) {
  const member = await lockMember(tx, membershipId)
  const { seat } = member
  if (!seat || seat.classDate === null || (await ownershipOfSeat(tx, seat)).ownerId !== userId)
    throw new DomainError('membership_not_found', 'There is no such membership.')
  return { ...member, seat }
}

/**
 * A booked class of an account, with its membership locked.
 * @throws DomainError `booking_not_found` also for that of somebody else
 */
export async function lockOwnBooking(tx: Transaction, bookingId: string, userId: string) {
  const [found] = await tx
    .select({ membershipId: memberBookings.membershipId })
    .from(memberBookings)
    .where(eq(memberBookings.id, bookingId))
  const member = await lockOwnMember(tx, found?.membershipId ?? bookingId, userId).catch((error: unknown) => {
    throw error instanceof DomainError ? bookingNotFound() : error
  })
  const booking = member.bookings.find((one) => one.bookingId === bookingId)
  if (!booking) throw bookingNotFound()
  return { member, booking }
}

function bookingNotFound(): DomainError {
  return new DomainError('booking_not_found', 'We can’t find this class.')
}

/** Writes a changed class. */
export async function saveBooking(tx: Transaction, booking: Booking, classDate: string): Promise<void> {
  const { bookingId, membershipId, classSessionId, status, changes, since: changedAt } = booking
  if (bookingId === membershipId) {
    await tx
      .update(memberSeats)
      .set({ classSessionId, classDate, outcome: status === 'booked' ? 'seated' : 'released', changes, changedAt })
      .where(eq(memberSeats.attemptId, membershipId))
    return
  }
  await tx
    .update(memberBookings)
    .set({ classSessionId, status, changes, changedAt })
    .where(eq(memberBookings.id, bookingId))
}

/** Writes changed credits, and the list that has them. */
export async function saveCredits(
  tx: Transaction,
  credits: Credit[],
  changed: Credit[],
  now: Temporal.Instant,
): Promise<Credit[]> {
  for (const { id, version, withdrawn, status, bookingId } of changed)
    await tx
      .update(memberCredits)
      .set({ version, withdrawn, status, bookingId, updatedAt: now })
      .where(eq(memberCredits.id, id))
  return credits.map((credit) => changed.find(({ id }) => id === credit.id) ?? credit)
}

/** Until when a class can be moved or canceled: the same time of day, a day earlier. */
export function changeUntil(session: Pick<ClassSessionRow, 'startsAt' | 'timeZone'>): Temporal.Instant {
  return daysBefore(session, memberClassDays)
}

export function classTimeOf({ id, date, startTime, timeZone, durationMinutes, startsAt }: ClassSessionRow) {
  return { classSessionId: id, classDate: date, startTime, timeZone, durationMinutes, startsAt: isoTime(startsAt) }
}

export function presentBooking({ bookingId, membershipId }: Booking, session: ClassSessionRow): MemberClass {
  return { bookingId, membershipId, ...classTimeOf(session), changeUntil: isoTime(changeUntil(session)) }
}

/** What events say of a class. */
export async function memberClassFacts(
  tx: Transaction,
  seat: SeatRow,
  { bookingId, membershipId, changes }: Booking,
  session: ClassSessionRow,
): Promise<MemberClassFacts> {
  const { email, ownerId } = await ownershipOfSeat(tx, seat)
  const isValid = and(eq(waivers.membershipId, membershipId), isNull(waivers.replacedBy))
  const isSigned = (await tx.$count(waivers, isValid)) > 0
  const { familyTimeZone } = seat
  return { membershipId, bookingId, email, ownerId, ...classTimeOf(session), familyTimeZone, isSigned, changes }
}
