import type { Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { readPlaces } from '../places/read-places.ts'
import type { RegistrationRow } from './read-registrations.ts'
import type { SeatChange } from '../rules.ts'
import { serveLine } from '../waitlist/line.ts'
import { classSessions, places, registrations } from '../schema.ts'

/** Locks a registration and its session. Every change of a registration locks these two, always in this order. */
export async function lockRegistration(tx: Transaction, id: string) {
  const [locked] = await tx
    .select({ registration: registrations, classSession: classSessions })
    .from(registrations)
    .innerJoin(classSessions, eq(classSessions.id, registrations.classSessionId))
    .where(eq(registrations.id, id))
    .for('no key update')
  return locked
}

/**
 * Locks a registration and all class sessions in which its children have their seats, with its places. If a process of the
 * previous version has confirmed it, its places are written first.
 * @param others more sessions to lock.
 */
export async function lockWithPlaces(tx: Transaction, id: string, others: string[] = []) {
  const [registration] = await lockRegistrations(tx, [id])
  if (!registration) return undefined
  const found = (await readPlaces(tx, [registration])).get(id) ?? []
  if (found.length > 0) await tx.insert(places).values(found).onConflictDoNothing()
  const sessionIds = new Set([registration.classSessionId, ...found.map((one) => one.classSessionId), ...others])
  return { registration, places: found, classSessions: await lockClassSessions(tx, [...sessionIds]) }
}

/** Locks a registration and the one that it replaces. */
export async function lockWithReplaced(tx: Transaction, id: string) {
  const [found] = await tx
    .select({ replaces: registrations.replaces })
    .from(registrations)
    .where(eq(registrations.id, id))
  if (!found) return undefined
  const rows = await lockRegistrations(tx, found.replaces === null ? [id] : [id, found.replaces])
  const registration = rows.find((row) => row.id === id)
  return registration && { registration, replaced: replacedBy(registration, rows) }
}

/** The registration that this one replaces, if it still holds seats. */
export function replacedBy({ replaces }: RegistrationRow, rows: RegistrationRow[]): RegistrationRow | undefined {
  return rows.find((row) => row.id === replaces && row.status === 'held')
}

/** Locks registrations, always in the same order. */
export function lockRegistrations(tx: Transaction, ids: string[]): Promise<RegistrationRow[]> {
  return tx
    .select()
    .from(registrations)
    .where(inArray(registrations.id, ids))
    .orderBy(asc(registrations.id))
    .for('no key update')
}

/** Registrations with any of these emails or owners count as those of one family. */
export interface Family {
  /** In the form of `emailKey`. */
  emails: string[]
  /** Account ids. */
  owners: string[]
}

/**
 * Taken, before any row lock, by everything that gives a family a seat or changes the owner of a registration: without it, two
 * concurrent requests would not see each other's registration.
 */
export async function lockFamilies(tx: Transaction, families: Family[]): Promise<void> {
  const names = families.flatMap(({ emails, owners }) => [
    ...emails.map((key) => `email ${key}`),
    ...owners.map((id) => `owner ${id}`),
  ])
  await lockNames(tx, names)
}

/** Takes advisory locks by name until the transaction ends. */
export async function lockNames(tx: Transaction, names: string[]): Promise<void> {
  if (names.length === 0) return
  // Always in the same order, to avoid deadlocks.
  await tx.execute(sql`
    select pg_advisory_xact_lock(hashtextextended(name, 0)) from (
      select distinct name collate "C" as name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as name order by name
    ) as names`)
}

/** The SQL condition for the session of a class on a date. */
export function classSessionOf({ classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>) {
  return and(eq(classSessions.classType, classType), eq(classSessions.date, startDate))
}

/** Locks sessions, always in the same order. */
export function lockClassSessions(tx: Transaction, ids: string[]) {
  return tx
    .select()
    .from(classSessions)
    .where(inArray(classSessions.id, ids))
    .orderBy(asc(classSessions.id))
    .for('no key update')
}

/** Moves seats of several sessions, which are locked, always in the same order. */
export async function moveAllSeats(
  tx: Transaction,
  seats: Map<string, SeatChange>,
  now: Temporal.Instant,
): Promise<void> {
  for (const [classSessionId, change] of [...seats].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await moveSeats(tx, classSessionId, change, now)
}

/**
 * Changes the counts of a class session, whose row is locked from then on. Every change of them passes here, except for the
 * statement that only takes seats (`hold-statement.ts`) and what the waitlist itself does (`waitlist/line.ts`). Seats that
 * become free go to the waitlist in the same transaction.
 */
export async function moveSeats(
  tx: Transaction,
  classSessionId: string,
  change: SeatChange,
  now: Temporal.Instant,
): Promise<void> {
  await changeSeats(tx, classSessionId, change)
  if (change.held + change.sold < 0) await serveLineOf(tx, classSessionId, now)
}

/** As `moveSeats`, for seats that the same transaction takes again: it calls `serveLineOf` after that. */
export async function changeSeats(tx: Transaction, classSessionId: string, change: SeatChange): Promise<void> {
  if (change.held === 0 && change.sold === 0) return
  await tx
    .update(classSessions)
    .set({ held: sql`${classSessions.held} + ${change.held}`, sold: sql`${classSessions.sold} + ${change.sold}` })
    .where(eq(classSessions.id, classSessionId))
}

/** Offers the free seats of a class session to its waitlist. @param freed as in `decideOffers` */
export async function serveLineOf(
  tx: Transaction,
  classSessionId: string,
  now: Temporal.Instant,
  freed = true,
): Promise<void> {
  const [classSession] = await lockClassSessions(tx, [classSessionId])
  if (classSession) await serveLine(tx, classSession, now, freed)
}
