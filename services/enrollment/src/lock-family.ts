import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, or, sql, type SQL } from 'drizzle-orm'
import { lockFamilies, lockRegistrations, lockClassSessions, replacedBy, type Family } from './lock-registration.ts'
import { holderOf } from './owners.ts'
import { factsOf, type RegistrationRow } from './read-registrations.ts'
import { isKnownTo, stands, type Asker, type FamilyRegistration } from './rules.ts'
import { registrations } from './schema.ts'

type FamilyKey = Pick<RegistrationRow, 'email' | 'ownerId'>

/**
 * The tables `owners` and `emails` of a family: that of an address, and of whoever was signed in. The account that has the
 * address belongs to it, or, where none has, the one that had it last: whoever types an address that they have left is still
 * the same family. So do the addresses that its accounts have left, until another account takes them.
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
 * What `lockUnpaid` and then `lockFamilies` do, in one statement. The order of its locks is the one in which everybody takes them.
 * @param unpaid what `unpaidNames` answers.
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

/** What a family has of a class and date that stands, paid or held. */
export async function findStanding(
  tx: Transaction,
  { emails, owners }: Family,
  { classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>,
): Promise<RegistrationRow[]> {
  return tx
    .select()
    .from(registrations)
    .where(
      and(
        or(inArray(registrations.emailKey, emails), inArray(registrations.ownerId, owners)),
        eq(registrations.classType, classType),
        eq(registrations.startDate, startDate),
        inArray(registrations.status, ['held', 'confirmed', 'waiver_signed']),
      ),
    )
    .orderBy(asc(registrations.createdAt), asc(registrations.id))
}

/** Whether a family has any of that, as a condition within a statement. */
export function standsFor(
  key: FamilyKey,
  { classType, startDate }: Pick<RegistrationRow, 'classType' | 'startDate'>,
): SQL {
  return sql`exists (
    with ${familyTables(key)}
    select from registrations
    where (email_key = any(array(select email_key from emails)) or owner_id = any(array(select user_id from owners)))
      and class_type = ${classType} and start_date = ${startDate} and status in ('held', 'confirmed', 'waiver_signed')
  )`
}

export function toFamilyRegistration(row: RegistrationRow): FamilyRegistration {
  const { status, heldUntil, seats, separate } = row
  return { ...factsOf(row), status, heldUntil, seats, separate }
}

/** What of a family's registrations whoever asks may know, and the rest. */
export function known(asker: Asker, rows: RegistrationRow[]) {
  const { standing = [], hidden = [] } = Object.groupBy(rows, (row) => (isKnownTo(asker, row) ? 'standing' : 'hidden'))
  return { standing: standing.map(toFamilyRegistration), hidden }
}

async function lockFamilyOf(tx: Transaction, id: string) {
  let locked: Family | undefined
  for (;;) {
    const [found] = await tx.select().from(registrations).where(eq(registrations.id, id))
    if (!found) return undefined
    const family = await familyOf(tx, found)
    const { emails, owners } = family
    const { classType, startDate, replaces } = found
    if (locked && isWithin(emails, locked.emails) && isWithin(owners, locked.owners))
      return { family, classType, startDate, replaces }
    // Its address or owner may change while the lock is waited for.
    await lockFamilies(tx, [family])
    locked = family
  }
}

function isWithin(some: string[], all: string[]): boolean {
  return new Set(some).isSubsetOf(new Set(all))
}

/**
 * As `lockRegistration`, for whoever may give it a seat: with the lock of its family, what else stands of that for the same
 * class and date, and the one that it was sent instead of.
 */
export async function lockWithFamily(tx: Transaction, id: string) {
  const found = await lockFamilyOf(tx, id)
  if (!found) return undefined
  const { family, replaces } = found
  const standing = await findStanding(tx, family, found)
  const rows = await lockRegistrations(tx, [id, ...standing.map((one) => one.id), ...(replaces ? [replaces] : [])])
  const registration = rows.find((row) => row.id === id)
  if (!registration) return undefined
  const replaced = replacedBy(registration, rows)
  const sessions = await lockClassSessions(tx, [
    registration.classSessionId,
    ...(replaced ? [replaced.classSessionId] : []),
  ])
  const classSession = sessions.find((one) => one.id === registration.classSessionId)
  if (!classSession) throw new Error(`The class of the registration ${id} is not there.`)
  return {
    registration: { ...registration, ownerId: registration.ownerId ?? (await holderOf(tx, registration.email)) },
    classSession,
    replaced,
    others: rows.filter((row) => row.id !== id && row.classSessionId === classSession.id && stands(row.status)),
  }
}
