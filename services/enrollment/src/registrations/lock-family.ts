import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, or, sql, type SQL } from 'drizzle-orm'
import { readPlaces } from '../places/read-places.ts'
import { childrenOfPlaces } from '../places/rules.ts'
import {
  classSessionOf,
  lockFamilies,
  lockRegistrations,
  lockClassSessions,
  replacedBy,
  type Family,
} from './lock-registration.ts'
import { holderOf } from './owners.ts'
import { factsOf, type RegistrationRow } from './read-registrations.ts'
import { isVisibleTo, hasSeats, type Requester, type FamilyRegistration } from '../rules.ts'
import { changes, classSessions, registrations } from '../schema.ts'

type FamilyKey = Pick<RegistrationRow, 'email' | 'ownerId'>

/**
 * The tables `owners` and `emails` of a family, found by an email and the signed-in account. The account with that email belongs
 * to it or, if there is none, the last one that had it: a user who types a former email is still the same family. So do the
 * former emails of its accounts, until another account takes them.
 */
function familyTables({ email, ownerId }: FamilyKey): SQL {
  const key = emailKey(email)
  return sql`owners as (
    select distinct user_id from (values (${ownerId}::uuid), (coalesce(
      (select user_id from accounts where email_key = ${key} order by user_id limit 1),
      (select user_id from account_changes where email_key = ${key} order by at desc, event_id desc limit 1)
    ))) as known (user_id)
    where user_id is not null
  ), emails as (
    select ${key}::text as email_key
    union
    select email_key from account_changes as change
    where user_id in (select user_id from owners) and email_key is not null and not exists (
      select from accounts where email_key = change.email_key and user_id not in (select user_id from owners)
    )
  )`
}

export async function familyOf(tx: Transaction, key: FamilyKey): Promise<Family> {
  const { rows } = await tx.execute<Family & Record<string, unknown>>(sql`with ${familyTables(key)}
    select array(select email_key from emails) as emails, array(select user_id::text from owners) as owners`)
  return rows[0] ?? { emails: [], owners: [] }
}

/**
 * The statement that takes the locks of `lockUnpaid` and then those of `lockFamilies`, in the same order as these.
 * @param unpaid the result of `unpaidLockNames`.
 */
export function lockStatement(unpaid: string[], key: FamilyKey): SQL {
  return sql`with ${familyTables(key)}
    select pg_advisory_xact_lock(hashtextextended(name, 0)) from (
      select * from (
        select 1 as turn, name from jsonb_array_elements_text(${JSON.stringify(unpaid)}::jsonb) as name
        union all select 2, 'email ' || email_key from emails
        union all select 2, 'owner ' || user_id from owners
      ) as names
      order by turn, name collate "C"
    ) as names`
}

/** Finds a family's active (held or paid) registrations for a class and date. */
export async function findActive(
  tx: Transaction,
  { emails, owners }: Family,
  { classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>,
): Promise<RegistrationRow[]> {
  const rows = await tx
    .select()
    .from(registrations)
    .where(
      and(
        or(inArray(registrations.emailKey, emails), inArray(registrations.ownerId, owners)),
        isInClass({ classType, startDate }),
        inArray(registrations.status, ['held', 'confirmed', 'waiver_signed']),
      ),
    )
    .orderBy(asc(registrations.createdAt), asc(registrations.id))
  return inClass(tx, rows, { classType, startDate })
}

/**
 * The SQL condition for a registration of a class and date, also if only some of its children were moved there, or are to be moved
 * there once that is paid.
 */
function isInClass({ classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>): SQL {
  return sql`((registrations.class_type = ${classType} and registrations.start_date = ${startDate}) or exists (
    select from places join class_sessions on class_sessions.id = places.class_session_id
    where places.registration_id = registrations.id and places.status = 'seated'
      and class_sessions.class_type = ${classType} and class_sessions.date = ${startDate})
    or exists (
    select from changes join class_sessions on class_sessions.id = changes.to_class_session_id
    where changes.registration_id = registrations.id and changes.status = 'held'
      and class_sessions.class_type = ${classType} and class_sessions.date = ${startDate}))`
}

/** As `withSeatsIn`, by class and date. */
async function inClass(
  tx: Transaction,
  rows: RegistrationRow[],
  theClass: Pick<RegistrationRow, 'classType' | 'startDate'>,
): Promise<RegistrationRow[]> {
  if (rows.every(({ paymentId }) => paymentId === null)) return rows
  const [classSession] = await tx.select({ id: classSessions.id }).from(classSessions).where(classSessionOf(theClass))
  return withSeatsIn(tx, rows, classSession?.id)
}

/**
 * Reduces paid registrations to the children that have their seats in a session, or move there once that is paid, and leaves out
 * those without any.
 */
async function withSeatsIn(
  tx: Transaction,
  rows: RegistrationRow[],
  classSessionId: string | undefined,
): Promise<RegistrationRow[]> {
  const paid = rows.filter(({ paymentId }) => paymentId !== null)
  const found = await readPlaces(tx, paid)
  const moving = await findMovingTo(tx, paid, classSessionId)
  return rows.flatMap((row) => {
    const places = found.get(row.id)
    if (!places) return [row]
    const children = childrenOfPlaces(
      places.filter((place) => place.classSessionId === classSessionId || moving.has(place.id)),
    )
    return children.length === 0 ? [] : [{ ...row, children, seats: children.length }]
  })
}

/** The places that move into a session once that is paid. */
async function findMovingTo(
  tx: Transaction,
  rows: RegistrationRow[],
  classSessionId: string | undefined,
): Promise<Set<string>> {
  if (classSessionId === undefined || rows.length === 0) return new Set()
  const held = await tx
    .select({ quote: changes.quote })
    .from(changes)
    .where(
      and(
        inArray(
          changes.registrationId,
          rows.map(({ id }) => id),
        ),
        eq(changes.status, 'held'),
        eq(changes.toClassSessionId, classSessionId),
      ),
    )
  return new Set(held.flatMap(({ quote }) => quote.lines.map(({ placeId }) => placeId)))
}

/** The SQL condition for `findActive` finding any. */
export function hasActive(
  key: FamilyKey,
  { classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>,
): SQL {
  return sql`exists (
    with ${familyTables(key)}
    select from registrations
    where (email_key = any(array(select email_key from emails)) or owner_id = any(array(select user_id from owners)))
      and ${isInClass({ classType, startDate })} and status in ('held', 'confirmed', 'waiver_signed')
  )`
}

export function toFamilyRegistration(row: RegistrationRow): FamilyRegistration {
  const { status, heldUntil, seats, separate } = row
  return { ...factsOf(row), status, heldUntil, seats, separate }
}

/** Splits a family's registrations into those that the requester may learn about, and the others. */
export function splitByVisibility(requester: Requester, rows: RegistrationRow[]) {
  const { visible = [], hidden = [] } = Object.groupBy(rows, (row) =>
    isVisibleTo(requester, row) ? 'visible' : 'hidden',
  )
  return { visible: visible.map(toFamilyRegistration), hidden }
}

/** Locks the family of a registration, before any row. */
export async function lockFamilyOf(tx: Transaction, id: string) {
  let locked: Family | undefined
  for (;;) {
    const [found] = await tx.select().from(registrations).where(eq(registrations.id, id))
    if (!found) return undefined
    const family = await familyOf(tx, found)
    const { emails, owners } = family
    const { classType, startDate, replaces } = found
    if (locked && isWithin(emails, locked.emails) && isWithin(owners, locked.owners))
      return { family, classType, startDate, replaces }
    // Its email or owner may change while this waits for the lock.
    await lockFamilies(tx, [family])
    locked = family
  }
}

function isWithin(some: string[], all: string[]): boolean {
  return new Set(some).isSubsetOf(new Set(all))
}

/**
 * As `lockRegistration`, for callers that may give it a seat: also locks its family, the family's other active registrations
 * for the same class and date, and the registration that it replaces.
 */
export async function lockWithFamily(tx: Transaction, id: string) {
  const found = await lockFamilyOf(tx, id)
  if (!found) return undefined
  const { family, replaces } = found
  const active = await findActive(tx, family, found)
  const isActive = new Set(active.map((one) => one.id))
  const rows = await lockRegistrations(tx, [id, ...active.map((one) => one.id), ...(replaces ? [replaces] : [])])
  const registration = rows.find((row) => row.id === id)
  if (!registration) return undefined
  const replaced = replacedBy(registration, rows)
  const sessions = await lockClassSessions(tx, [
    registration.classSessionId,
    ...(replaced ? [replaced.classSessionId] : []),
  ])
  const classSession = sessions.find((one) => one.id === registration.classSessionId)
  if (!classSession) throw new Error(`The class session of registration ${id} does not exist.`)
  return {
    registration: { ...registration, ownerId: registration.ownerId ?? (await holderOf(tx, registration.email)) },
    classSession,
    replaced,
    others: await inClass(
      tx,
      rows.filter((row) => row.id !== id && isActive.has(row.id) && hasSeats(row.status)),
      registration,
    ),
  }
}
