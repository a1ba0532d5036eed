import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { releaseSeats } from './end-hold.ts'
import { lockClassSessions, lockFamilies } from './lock-registration.ts'
import type { RegistrationRow } from './read-registrations.ts'
import { accountChanges, accounts, registrations, waitlistEntries, type memberSeats } from '../schema.ts'
import { endEntries, type EntryRow } from '../waitlist/line.ts'

/** The state of an account from a point in time on. */
interface AccountChange {
  userId: string
  at: Temporal.Instant
  /** The verified email; null if there is none. */
  email: string | null
  enabled: boolean
  deleted: boolean
}

interface OwnershipRequest {
  /** The signed-in account. */
  ownerId: string | null
  email: string
  at: Temporal.Instant
}

export interface Ownership {
  ownerId: string | null
  email: string
  /** When its owner was last deleted or disabled; null if never. */
  leftAt: Temporal.Instant | null
}

/**
 * Determines the owner and email of a registration. Its owner is the account that was signed in; otherwise the first account
 * that has its email, or verifies it later. Its email follows that of its account. If the account is deleted, the account with
 * its email owns it.
 * @param changes those of all accounts that may be involved, oldest first, so that the order of delivery does not matter.
 */
function ownershipOf(request: OwnershipRequest, changes: AccountChange[]): Ownership {
  const known = new Map<string, AccountChange & { lastEmail: string | null }>()
  const accountWith = (address: string) =>
    [...known.values()]
      .filter(({ deleted, email }) => !deleted && email !== null && emailKey(email) === emailKey(address))
      .map(({ userId }) => userId)
      .toSorted()[0] ?? null
  let owned: Ownership | undefined
  const begin = (): Ownership => {
    const exists = request.ownerId !== null && known.get(request.ownerId)?.deleted !== true
    return { ownerId: exists ? request.ownerId : accountWith(request.email), email: request.email, leftAt: null }
  }
  for (const change of changes) {
    if (Temporal.Instant.compare(change.at, request.at) > 0) owned ??= begin()
    const { userId, email, at } = change
    const before = known.get(userId)
    if (before?.deleted) continue
    known.set(userId, { ...change, lastEmail: email ?? before?.lastEmail ?? null })
    if (!owned) continue
    if (owned.ownerId === userId) {
      if (change.deleted || (!change.enabled && before?.enabled !== false)) owned.leftAt = at
      if (change.deleted) owned.ownerId = accountWith(owned.email)
      else if (email !== null && before?.lastEmail != null && emailKey(before.lastEmail) === emailKey(owned.email)) {
        if (emailKey(email) !== emailKey(owned.email)) owned.email = email
      }
    } else if (owned.ownerId === null && !change.deleted && email !== null) {
      if (emailKey(email) === emailKey(owned.email)) owned.ownerId = userId
    }
  }
  return owned ?? begin()
}

/** Determines the owner and email of a membership from its event and those of accounts. */
export async function ownershipOfSeat(
  db: Database | Transaction,
  { ownerId, email, eventTime }: Pick<typeof memberSeats.$inferSelect, 'ownerId' | 'email' | 'eventTime'>,
): Promise<Ownership> {
  const sharing = db
    .select({ userId: accountChanges.userId })
    .from(accountChanges)
    .where(eq(accountChanges.emailKey, emailKey(email)))
  const changes = await db
    .select()
    .from(accountChanges)
    .where(
      or(inArray(accountChanges.userId, sharing), ownerId === null ? undefined : eq(accountChanges.userId, ownerId)),
    )
    .orderBy(asc(accountChanges.at), asc(accountChanges.eventId))
  return ownershipOf({ ownerId, email, at: eventTime }, changes)
}

/** The account with a verified email; null if there is none. */
export async function holderOf(db: Database | Transaction, email: string): Promise<string | null> {
  const [holder] = await db
    .select({ userId: accounts.userId })
    .from(accounts)
    .where(eq(accounts.emailKey, emailKey(email)))
    .orderBy(asc(accounts.userId))
    .limit(1)
  return holder?.userId ?? null
}

/** The account that owns what is made now: the signed-in one, or else the one with the email. */
export async function accountOf(
  tx: Transaction,
  { ownerId, email }: { ownerId: string | null; email: string },
): Promise<string | null> {
  if (ownerId !== null) {
    const [account] = await tx.select().from(accounts).where(eq(accounts.userId, ownerId))
    if (account?.deleted !== true) return ownerId
  }
  return holderOf(tx, email)
}

function changeOf(event: EventOf<typeof userConfirmed | typeof userUpdated | typeof userDeleted>): AccountChange {
  const { data } = event
  // Absent from events of an older version.
  const before = 'previousEmail' in data ? data.previousEmail : null
  const verified = data.verifiedEmail === undefined ? (data.emailVerified ? data.email : before) : data.verifiedEmail
  const deleted = event.type === 'user.deleted'
  return {
    userId: data.userId,
    at: Temporal.Instant.from(event.time),
    email: deleted ? null : verified,
    enabled: data.enabled ?? true,
    deleted,
  }
}

/** All accounts and registrations that can have to do with one account, by the addresses and owners that they have in common. */
async function findRelated(tx: Transaction, userId: string) {
  const [users, keys] = [new Set([userId]), new Set<string>()]
  for (let size = 0; size !== users.size + keys.size;) {
    size = users.size + keys.size
    const changes = await tx
      .select()
      .from(accountChanges)
      .where(or(inArray(accountChanges.userId, [...users]), inArray(accountChanges.emailKey, [...keys])))
    for (const change of changes) {
      users.add(change.userId)
      if (change.emailKey !== null) keys.add(change.emailKey)
    }
    const [isOwned, isWaiting] = [isOf(registrations, users, keys), isOf(waitlistEntries, users, keys)]
    const owned = await tx.select(ownershipColumns(registrations)).from(registrations).where(isOwned)
    const waiting = await tx.select(ownershipColumns(waitlistEntries)).from(waitlistEntries).where(isWaiting)
    for (const row of [...owned, ...waiting]) {
      for (const id of [row.ownerId, row.askedOwnerId]) if (id !== null) users.add(id)
      for (const key of [row.emailKey, row.askedEmail && emailKey(row.askedEmail)]) if (key !== null) keys.add(key)
    }
  }
  return { users, keys }
}

/** The tables whose rows belong to accounts. */
type Owned = typeof registrations | typeof waitlistEntries

const ownershipColumns = ({ ownerId, askedOwnerId, emailKey: key, askedEmail }: Owned) => ({
  ownerId,
  askedOwnerId,
  emailKey: key,
  askedEmail,
})

function isOf(table: Owned, users: Set<string>, keys: Set<string>) {
  return or(
    inArray(table.ownerId, [...users]),
    inArray(table.askedOwnerId, [...users]),
    inArray(table.emailKey, [...keys]),
    inArray(sql`lower(${table.askedEmail})`, [...keys]),
  )
}

/**
 * Updates the owners and emails of all registrations that an account's change affects, and ends the unpaid holds of an account
 * that was deleted or disabled. Events may arrive in any order and repeatedly.
 */
export async function syncOwnership(
  tx: Transaction,
  event: EventOf<typeof userConfirmed | typeof userUpdated | typeof userDeleted>,
  context: Context<Config>,
): Promise<void> {
  const change = changeOf(event)
  const { userId } = change
  const key = change.email === null ? null : emailKey(change.email)
  await tx
    .insert(accountChanges)
    .values({ eventId: event.id, ...change, emailKey: key })
    .onConflictDoNothing()

  // Otherwise two concurrent changes with an account or email in common would not see each other.
  let related = await findRelated(tx, userId)
  for (;;) {
    await lockFamilies(tx, [{ emails: [...related.keys], owners: [...related.users] }])
    // Includes what arrived while this waited for the lock.
    const now = await findRelated(tx, userId)
    const isLocked = now.users.isSubsetOf(related.users) && now.keys.isSubsetOf(related.keys)
    related = now
    if (isLocked) break
  }
  const { users, keys } = related
  const changes = await tx
    .select()
    .from(accountChanges)
    .where(inArray(accountChanges.userId, [...users]))
    .orderBy(asc(accountChanges.at), asc(accountChanges.eventId))

  const own = changes.filter((one) => one.userId === userId)
  const deleted = own.some((one) => one.deleted)
  const account = { emailKey: deleted ? null : (own.at(-1)?.emailKey ?? null), deleted }
  await tx
    .insert(accounts)
    .values({ userId, ...account })
    .onConflictDoUpdate({ target: accounts.userId, set: account })

  const rows = await tx
    .select()
    .from(registrations)
    .where(isOf(registrations, users, keys))
    .orderBy(asc(registrations.id))
    .for('no key update')
  // Keeps no email of a deleted account that was not involved in any registration.
  const entries = await tx
    .select()
    .from(waitlistEntries)
    .where(isOf(waitlistEntries, users, keys))
  if (deleted && rows.length === 0 && entries.length === 0) {
    await tx.delete(accountChanges).where(and(eq(accountChanges.userId, userId), eq(accountChanges.deleted, false)))
  }
  const left: RegistrationRow[] = []
  for (const row of rows) {
    const request = { ownerId: row.askedOwnerId, email: row.askedEmail ?? row.email, at: row.askedAt }
    const { ownerId, email, leftAt } = ownershipOf(request, changes)
    const next = { ...row, ownerId, email, emailKey: emailKey(email) }
    if (ownerId !== row.ownerId || email !== row.email) {
      await tx
        .update(registrations)
        .set({ ownerId, email, emailKey: next.emailKey, askedEmail: request.email, updatedAt: context.clock.now() })
        .where(eq(registrations.id, row.id))
    }
    // A hold that was taken or renewed after that is somebody else's.
    if (leftAt && Temporal.Instant.compare(row.heldSince, leftAt) <= 0) left.push(next)
  }
  // Entries are changed under the locks of their class sessions, which are taken together, in order.
  await lockClassSessions(
    tx,
    [...left, ...entries].map(({ classSessionId }) => classSessionId),
  )
  const leaving = new Map<string, EntryRow[]>()
  for (const { id } of entries.toSorted((a, b) => a.place - b.place)) {
    const [entry] = await tx.select().from(waitlistEntries).where(eq(waitlistEntries.id, id))
    if (!entry) continue
    const request = { ownerId: entry.askedOwnerId, email: entry.askedEmail ?? entry.email, at: entry.askedAt }
    const { ownerId, email, leftAt } = ownershipOf(request, changes)
    const next = { ...entry, ownerId, email, emailKey: emailKey(email) }
    if (ownerId !== entry.ownerId || email !== entry.email) {
      await tx
        .update(waitlistEntries)
        .set({ ownerId, email, emailKey: next.emailKey, askedEmail: request.email })
        .where(eq(waitlistEntries.id, id))
    }
    const { classSessionId } = entry
    if (leftAt) leaving.set(classSessionId, [...(leaving.get(classSessionId) ?? []), next])
  }
  const now = context.clock.now()
  await releaseSeats(tx, left, now)
  for (const classSessionId of [...leaving.keys()].toSorted()) {
    await endEntries(tx, classSessionId, leaving.get(classSessionId) ?? [], 'left', now)
  }
}
