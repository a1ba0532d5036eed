import type { Transaction } from '@robokids/runtime/db'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { RegistrationRow } from './read-registrations.ts'
import type { SeatChange } from './rules.ts'
import { classSessions, registrations } from './schema.ts'

/** Everything that decides about a registration first locks it and then its session, always in this order. */
export async function lockRegistration(tx: Transaction, id: string) {
  const [locked] = await tx
    .select({ registration: registrations, classSession: classSessions })
    .from(registrations)
    .innerJoin(classSessions, eq(classSessions.id, registrations.classSessionId))
    .where(eq(registrations.id, id))
    .for('no key update')
  return locked
}

/** Locks a registration and the one that it was sent instead of. */
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

/** The one that a registration was sent instead of, where that still holds seats. */
export function replacedBy({ replaces }: RegistrationRow, rows: RegistrationRow[]): RegistrationRow | undefined {
  return rows.find((row) => row.id === replaces && row.status === 'held')
}

/** Locks registrations in the one order in which everybody does. */
export function lockRegistrations(tx: Transaction, ids: string[]): Promise<RegistrationRow[]> {
  return tx
    .select()
    .from(registrations)
    .where(inArray(registrations.id, ids))
    .orderBy(asc(registrations.id))
    .for('no key update')
}

/** Whose registrations are judged together: those of an address, and those of an account. */
export interface Family {
  /** As `emailKey` makes them. */
  emails: string[]
  /** Accounts. */
  owners: string[]
}

/**
 * Whoever gives a family a seat, or changes whose a registration is, holds this lock: two that decide at once would both
 * find nothing. It is taken before any row.
 */
export async function lockFamilies(tx: Transaction, families: Family[]): Promise<void> {
  const names = families.flatMap(({ emails, owners }) => [
    ...emails.map((key) => `email ${key}`),
    ...owners.map((id) => `owner ${id}`),
  ])
  await lockNames(tx, names)
}

/** Keeps others who want one of these names waiting until the transaction ends. */
export async function lockNames(tx: Transaction, names: string[]): Promise<void> {
  if (names.length === 0) return
  // In one order everywhere, so that no two wait for each other.
  await tx.execute(sql`
    select pg_advisory_xact_lock(hashtextextended(name, 0)) from (
      select distinct name collate "C" as name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as name order by name
    ) as names`)
}

/** Locks sessions in the one order in which everybody does. */
export function lockClassSessions(tx: Transaction, ids: string[]) {
  return tx
    .select()
    .from(classSessions)
    .where(inArray(classSessions.id, ids))
    .orderBy(asc(classSessions.id))
    .for('no key update')
}

export async function moveSeats(tx: Transaction, classSessionId: string, change: SeatChange): Promise<void> {
  if (change.held === 0 && change.sold === 0) return
  await tx
    .update(classSessions)
    .set({ held: sql`${classSessions.held} + ${change.held}`, sold: sql`${classSessions.sold} + ${change.sold}` })
    .where(eq(classSessions.id, classSessionId))
}
