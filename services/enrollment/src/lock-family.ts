import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, or } from 'drizzle-orm'
import { lockFamilies, lockRegistrations, lockSessions, replacedBy, type Family } from './lock-registration.ts'
import { holderOf, lastHolderOf, leftAddressesOf } from './owners.ts'
import { factsOf, type RegistrationRow } from './read-registrations.ts'
import { isKnownTo, stands, type Asker, type FamilyRegistration } from './rules.ts'
import { registrations } from './schema.ts'

/**
 * The family of an address, and of whoever was signed in. The account that has the address belongs to it, or, where none has,
 * the one that had it last: whoever types an address that they have left is still the same family.
 */
export async function familyOf(
  tx: Transaction,
  { email, ownerId }: Pick<RegistrationRow, 'email' | 'ownerId'>,
): Promise<Family> {
  const holder = await lastHolderOf(tx, email)
  const owners = [ownerId, holder].filter((one) => one !== null)
  return { emails: [...new Set([emailKey(email), ...(await leftAddressesOf(tx, owners))])], owners }
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
  const sessions = await lockSessions(tx, [registration.classSessionId, ...(replaced ? [replaced.classSessionId] : [])])
  const session = sessions.find((one) => one.id === registration.classSessionId)
  if (!session) throw new Error(`The class of the registration ${id} is not there.`)
  return {
    registration: { ...registration, ownerId: registration.ownerId ?? (await holderOf(tx, registration.email)) },
    session,
    replaced,
    others: rows.filter((row) => row.id !== id && row.classSessionId === session.id && stands(row.status)),
  }
}
