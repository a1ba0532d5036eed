import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import { lockFamilies } from './lock-registration.ts'
import type { RegistrationRow } from './read-registrations.ts'
import { accountChanges, accounts, registrations, type memberSeats } from './schema.ts'

/** How an account is from a moment on. */
interface AccountChange {
  userId: string
  at: Temporal.Instant
  /** The address that is verified; null where none is. */
  email: string | null
  enabled: boolean
  deleted: boolean
}

interface AskedFor {
  /** Who was signed in. */
  ownerId: string | null
  email: string
  at: Temporal.Instant
}

export interface Ownership {
  ownerId: string | null
  email: string
  /** When its owner was last deleted or disabled. */
  leftAt: Temporal.Instant | null
}

/**
 * Whose a registration is. It belongs to who was signed in; else to the account that has its address, or verifies it later,
 * the first one. Its address goes with that of its account. A deleted account leaves it to its address.
 * @param changes of all accounts that can have to do with it, oldest first: whatever order they were told in, the answer is
 * the same.
 */
function ownershipOf(asked: AskedFor, changes: AccountChange[]): Ownership {
  const known = new Map<string, AccountChange & { lastEmail: string | null }>()
  const holder = (address: string) =>
    [...known.values()]
      .filter(({ deleted, email }) => !deleted && email !== null && emailKey(email) === emailKey(address))
      .map(({ userId }) => userId)
      .toSorted()[0] ?? null
  let owned: Ownership | undefined
  const begin = (): Ownership => {
    const isThere = asked.ownerId !== null && known.get(asked.ownerId)?.deleted !== true
    return { ownerId: isThere ? asked.ownerId : holder(asked.email), email: asked.email, leftAt: null }
  }
  for (const change of changes) {
    if (Temporal.Instant.compare(change.at, asked.at) > 0) owned ??= begin()
    const { userId, email, at } = change
    const before = known.get(userId)
    if (before?.deleted) continue
    known.set(userId, { ...change, lastEmail: email ?? before?.lastEmail ?? null })
    if (!owned) continue
    if (owned.ownerId === userId) {
      if (change.deleted || (!change.enabled && before?.enabled !== false)) owned.leftAt = at
      if (change.deleted) owned.ownerId = holder(owned.email)
      else if (email !== null && before?.lastEmail != null && emailKey(before.lastEmail) === emailKey(owned.email)) {
        if (emailKey(email) !== emailKey(owned.email)) owned.email = email
      }
    } else if (owned.ownerId === null && !change.deleted && email !== null) {
      if (emailKey(email) === emailKey(owned.email)) owned.ownerId = userId
    }
  }
  return owned ?? begin()
}

/** Whose a membership is, and at which address it is known, by what was told of it and of accounts. */
export async function ownershipOfSeat(
  db: Database | Transaction,
  { ownerId, email, toldAt }: Pick<typeof memberSeats.$inferSelect, 'ownerId' | 'email' | 'toldAt'>,
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
  return ownershipOf({ ownerId, email, at: toldAt }, changes)
}

/** The account that has verified an address; null where none has. */
export async function holderOf(db: Database | Transaction, email: string): Promise<string | null> {
  const [holder] = await db
    .select({ userId: accounts.userId })
    .from(accounts)
    .where(eq(accounts.emailKey, emailKey(email)))
    .orderBy(asc(accounts.userId))
    .limit(1)
  return holder?.userId ?? null
}

function changeOf(event: EventOf<typeof userConfirmed | typeof userUpdated | typeof userDeleted>): AccountChange {
  const { data } = event
  // Events of the time before do not name it.
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
    const rows = await tx
      .select({
        ownerId: registrations.ownerId,
        askedOwnerId: registrations.askedOwnerId,
        emailKey: registrations.emailKey,
        askedEmail: registrations.askedEmail,
      })
      .from(registrations)
      .where(isOf(users, keys))
    for (const row of rows) {
      for (const id of [row.ownerId, row.askedOwnerId]) if (id !== null) users.add(id)
      for (const key of [row.emailKey, row.askedEmail && emailKey(row.askedEmail)]) if (key !== null) keys.add(key)
    }
  }
  return { users, keys }
}

function isOf(users: Set<string>, keys: Set<string>) {
  return or(
    inArray(registrations.ownerId, [...users]),
    inArray(registrations.askedOwnerId, [...users]),
    inArray(registrations.emailKey, [...keys]),
    inArray(sql`lower(${registrations.askedEmail})`, [...keys]),
  )
}

/**
 * An account changed: what it owns, or owned, goes where it belongs by all that is known now, and the unpaid holds of one
 * that was deleted or disabled end. Events can come in any order, and again.
 */
export async function followAccount(
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

  // Two changes that have an account or an address in common would else be decided each without the other.
  let related = await findRelated(tx, userId)
  for (;;) {
    await lockFamilies(tx, [{ emails: [...related.keys], owners: [...related.users] }])
    // What was told, and asked for, while the lock was waited for.
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
    .where(isOf(users, keys))
    .orderBy(asc(registrations.id))
    .for('no key update')
  // Of who is gone, and had nothing to do with any registration, no address is kept.
  if (deleted && rows.length === 0) {
    await tx.delete(accountChanges).where(and(eq(accountChanges.userId, userId), eq(accountChanges.deleted, false)))
  }
  const left: RegistrationRow[] = []
  for (const row of rows) {
    const asked = { ownerId: row.askedOwnerId, email: row.askedEmail ?? row.email, at: row.askedAt }
    const { ownerId, email, leftAt } = ownershipOf(asked, changes)
    const next = { ...row, ownerId, email, emailKey: emailKey(email) }
    if (ownerId !== row.ownerId || email !== row.email) {
      await tx
        .update(registrations)
        .set({ ownerId, email, emailKey: next.emailKey, askedEmail: asked.email, updatedAt: context.clock.now() })
        .where(eq(registrations.id, row.id))
    }
    // One that was taken, or taken again, since then is somebody else's.
    if (leftAt && Temporal.Instant.compare(row.heldSince, leftAt) <= 0) left.push(next)
  }
  await letGo(tx, left, context.clock.now())
}
