import type { EventDefinition } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { Account } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, desc, eq, notExists, sql, type SQL } from 'drizzle-orm'
import { z } from 'zod'
import { unknownUser } from '../protocol/errors.ts'
import type { Pool } from '../pools/pools.ts'
import { aliases, users, type User } from '../schema.ts'

export type Verifiable = 'email' | 'phone_number'

/** Returns an address in its form for comparison. */
export function aliasValue(attribute: Verifiable, value: string): string {
  return attribute === 'email' ? emailKey(value) : value
}

export function isSameAddress(attribute: Verifiable, one: string, other: string): boolean {
  return aliasValue(attribute, one) === aliasValue(attribute, other)
}

/** Finds an account by its username, else by a verified address that is one of the pool's aliases. */
export async function findByName(db: Database | Transaction, pool: Pool, name: string): Promise<User | undefined> {
  const [byName] = await db
    .select()
    .from(users)
    .where(and(eq(users.poolId, pool.id), eq(users.username, name)))
  if (byName) return byName
  for (const attribute of pool.settings.aliases) {
    const [byAlias] = await db
      .select({ user: users })
      .from(aliases)
      .innerJoin(users, eq(users.id, aliases.userId))
      .where(
        and(
          eq(aliases.poolId, pool.id),
          eq(aliases.attribute, attribute),
          eq(aliases.value, aliasValue(attribute, name)),
        ),
      )
    if (byAlias) return byAlias.user
  }
  return undefined
}

/**
 * Matches accounts that gave this e-mail address and never verified one. An account that keeps a verified one until its
 * successor is verified does not match.
 */
export function hasUnverified(db: Database | Transaction, pool: Pool, email: string): SQL | undefined {
  if (!pool.settings.aliases.includes('email')) return sql`false`
  const own = db
    .select()
    .from(aliases)
    .where(and(eq(aliases.userId, users.id), eq(aliases.attribute, 'email')))
  return and(eq(users.poolId, pool.id), eq(users.emailKey, emailKey(email)), notExists(own))
}

export const isUnconfirmed = eq(users.status, 'UNCONFIRMED')

/** Returns the newest matching account. */
async function findNewest(db: Database | Transaction, condition: SQL | undefined): Promise<User | undefined> {
  const [newest] = await db
    .select()
    .from(users)
    .where(condition)
    .orderBy(desc(users.createdAt), desc(users.id))
    .limit(1)
  return newest
}

/** Finds an account by username, else by alias, else the newest unconfirmed one with this unverified e-mail address. */
export async function findUser(db: Database | Transaction, pool: Pool, name: string): Promise<User | undefined> {
  return (await findByName(db, pool, name)) ?? findNewest(db, and(hasUnverified(db, pool, name), isUnconfirmed))
}

/** Like `findUser`, and also confirmed accounts by an unverified address: a code sent to that address proves it. */
export async function findUserToReset(db: Database | Transaction, pool: Pool, name: string): Promise<User | undefined> {
  return (await findUser(db, pool, name)) ?? findNewest(db, hasUnverified(db, pool, name))
}

/**
 * Finds an account for an administrator, with its row locked: by `sub`, username or verified address. The `sub` comes
 * first, so that no other account can use it as its username.
 * @throws IdentityError UserNotFoundException
 */
export async function lockTargetUser(tx: Transaction, pool: Pool, name: string): Promise<User> {
  const found = (await findBySub(tx, pool, name)) ?? (await findByName(tx, pool, name))
  const user = found && (await lockUser(tx, found.id))
  if (!user) throw unknownUser()
  return user
}

async function findBySub(db: Database | Transaction, pool: Pool, sub: string): Promise<User | undefined> {
  if (!z.uuid().safeParse(sub).success) return undefined
  const [user] = await db
    .select()
    .from(users)
    .where(and(eq(users.poolId, pool.id), eq(users.id, sub)))
  return user
}

/** Returns the verified address of a kind: the current one, or the one kept until its successor is verified. */
export async function verifiedAddress(
  db: Database | Transaction,
  user: User,
  attribute: Verifiable,
): Promise<string | undefined> {
  const current = user.attributes[attribute]
  if (current !== undefined && isVerified(user, attribute)) return current
  const unaliased = user.keptAddresses[attribute]
  if (unaliased !== undefined) return unaliased
  const [kept] = await db
    .select()
    .from(aliases)
    .where(and(eq(aliases.userId, user.id), eq(aliases.attribute, attribute)))
  return kept?.value
}

/** Locks an account's row for the rest of the transaction. @returns undefined if it was deleted */
export async function lockUser(tx: Transaction, id: string): Promise<User | undefined> {
  const [user] = await tx.select().from(users).where(eq(users.id, id)).for('update')
  return user
}

export function isVerified(user: User, attribute: Verifiable): boolean {
  return user.attributes[`${attribute}_verified`] === 'true'
}

/**
 * Returns what an account's codes are counted by. It is the address, so that more accounts with that address do not get
 * separate counts.
 */
export function codesName(user: User): string {
  return user.emailKey ?? user.username
}

/** Returns the account as events describe it. */
export async function accountOf(tx: Database | Transaction, user: User): Promise<Account> {
  return {
    poolId: user.poolId,
    userId: user.id,
    username: user.username,
    email: user.attributes['email'] ?? null,
    emailVerified: isVerified(user, 'email'),
    verifiedEmail: (await verifiedAddress(tx, user, 'email')) ?? null,
    enabled: user.enabled,
    givenName: user.attributes['given_name'] ?? null,
  }
}

/**
 * Publishes an event about an account whose row is locked, with the account's current data. Event times per account
 * strictly increase, even within one millisecond or across processes whose clocks differ, because consumers order by
 * them.
 */
export async function publishAccount<Data extends Account>(
  tx: Transaction,
  definition: EventDefinition<string, Data>,
  user: User,
  more: Omit<NoInfer<Data>, keyof Account>,
): Promise<void> {
  const next = sql`greatest(date_trunc('milliseconds', clock_timestamp()), ${users.lastEventAt} + interval '1 millisecond')`
  const [row] = await tx
    .update(users)
    .set({ lastEventAt: next })
    .where(eq(users.id, user.id))
    .returning({ at: users.lastEventAt })
  if (!row?.at) throw new Error('The account was not written.')
  await publish(tx, definition, user.id, { ...(await accountOf(tx, user)), ...more } as Data, row.at)
}
