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

/** An address may be signed up with by anybody, as often as they like; beyond so many, the oldest are not found by it. */
const maxOfOneAddress = 1000

/**
 * Whom a sign-up may be confirmed as: the account of that name, else whoever signed up with that address and never proved
 * it, whether or not somebody else has proven it. Else whoever the name is of.
 * @returns the newest of them, and whether there are several.
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

/**
 * Who signed up with an address and is to confirm it, by the password that they chose. As much work whether somebody did
 * or not, and however many did.
 */
export async function findByPassword(
  pool: Pool,
  name: string,
  password: string,
  call: Call,
): Promise<User | undefined> {
  if (addressKind(pool, name) !== 'email') return undefined
  const user = await findLikely(call.context.db, pool, name, password, call.context)
  return (await isPassword(password, user, call)) ? user : undefined
}

/** As `findByPassword`, without the work of finding out: now and then one whose password is another. */
export async function findLikely(
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
