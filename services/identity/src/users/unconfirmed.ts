import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isPassword, mayBePassword } from '../factors/passwords.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { users, type User } from '../schema.ts'
import { addressKind } from './usernames.ts'
import { findByName, hasUnverified, isUnconfirmed } from './users.ts'

/** Anybody can sign up with any address, as often as they like; beyond this number, the oldest are not found by it. */
const maxOfOneAddress = 1000

/**
 * Finds the account that a sign-up code confirms: by username, else the newest that gave this address and never
 * verified it (whether or not another account has verified it), else by alias.
 * @returns the newest of them, and whether there are several
 */
export async function findUnconfirmed(
  db: Database | Transaction,
  pool: Pool,
  name: string,
): Promise<{ user: User | undefined; several: boolean }> {
  const found = await findByName(db, pool, name)
  if (found?.username === name) return { user: found, several: false }
  const [newest, other] = await db
    .select()
    .from(users)
    .where(and(hasUnverified(db, pool, name), isUnconfirmed))
    .orderBy(desc(users.createdAt), desc(users.id))
    .limit(2)
  return { user: newest ?? found, several: other !== undefined }
}

/** Finds the unconfirmed account with this address and password. Equal work, however many there are. */
export async function findByPassword(
  pool: Pool,
  name: string,
  password: string,
  call: Call,
): Promise<User | undefined> {
  if (addressKind(pool, name) !== 'email') return undefined
  const user = await findByPasswordTag(call.context.db, pool, name, password, call.context)
  return (await isPassword(password, user, call)) ? user : undefined
}

/** Like `findByPassword`, by the password's tag only, without hashing: occasionally the password is another one. */
export async function findByPasswordTag(
  db: Database | Transaction,
  pool: Pool,
  email: string,
  password: string,
  context: Context<Config>,
): Promise<User | undefined> {
  const tagged = await db
    .select({ id: users.id, passwordTag: users.passwordTag })
    .from(users)
    .where(and(hasUnverified(db, pool, email), isUnconfirmed))
    .orderBy(desc(users.createdAt), desc(users.id))
    .limit(maxOfOneAddress)
  const likely = tagged.find((one) => mayBePassword(password, one, context))
  const [user] = likely ? await db.select().from(users).where(eq(users.id, likely.id)) : []
  return user
}
