import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { attemptsExceeded, IdentityError } from '../protocol/errors.ts'
import { limits } from '../schema.ts'
import type { Call } from '../protocol/protocol.ts'

interface Limit {
  key: string
  most: number
  within: Temporal.DurationLike
}

/** Counts one more. @returns how many there were within the time, this one included. */
export async function count(
  db: Database | Transaction,
  { clock }: Context<Config>,
  { key, within }: Pick<Limit, 'key' | 'within'>,
): Promise<number> {
  const now = clock.now()
  const at = now.toString()
  const windowStart = now.subtract(within).toString()
  const expiresAt = now.add(within)
  const [row] = await db
    .insert(limits)
    .values({ key, count: 1, since: now, expiresAt })
    .onConflictDoUpdate({
      target: limits.key,
      set: {
        count: sql`case when ${limits.since} <= ${windowStart}::timestamptz then 1 else ${limits.count} + 1 end`,
        since: sql`case when ${limits.since} <= ${windowStart}::timestamptz then ${at}::timestamptz else ${limits.since} end`,
        expiresAt,
      },
    })
    .returning({ count: limits.count })
  return row?.count ?? 0
}

/** Counts one more of something that may happen so many times within a while. @throws IdentityError LimitExceededException */
export async function countWithin(db: Database | Transaction, context: Context<Config>, limit: Limit): Promise<void> {
  if ((await count(db, context, limit)) > limit.most) throw attemptsExceeded()
}

/** Counts something that the client's network does. @returns whether it, or what is around it, does more of that than `most` allows. */
export async function isTooMuch(
  db: Database | Transaction,
  { context, networks }: Call,
  { key, most, within }: Limit,
): Promise<boolean> {
  let isMore = false
  for (const { name, limitFactor } of networks) {
    if ((await count(db, context, { key: `${key}:${name}`, within })) > most * limitFactor) isMore = true
  }
  return isMore
}

/** Counts a request that may guess something. @throws IdentityError TooManyRequestsException for an address that does so all the time. */
export async function consumeAttempt(call: Call): Promise<void> {
  const { db, config } = call.context
  const limit = { key: 'guesses', most: config.ADDRESS_ATTEMPTS_A_MINUTE, within: { minutes: 1 } }
  if (await isTooMuch(db, call, limit)) {
    throw new IdentityError('TooManyRequestsException', 'Too many requests, please try again in a minute.')
  }
}

/** Counts a request that has something sent or made. @throws IdentityError LimitExceededException */
export async function countRequest(call: Call): Promise<void> {
  const { db, config } = call.context
  const limit = { key: 'requests', most: config.ADDRESS_REQUESTS_AN_HOUR, within: { hours: 1 } }
  if (await isTooMuch(db, call, limit)) throw attemptsExceeded()
}
