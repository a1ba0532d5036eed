import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { attemptsExceeded, IdentityError } from '../protocol/errors.ts'
import { limits } from '../schema.ts'
import type { Call } from '../protocol/protocol.ts'

interface Limit {
  key: string
  max: number
  within: Temporal.DurationLike
}

/** Increments a counter. @returns the count within the window, including this one */
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

/** Increments a limited counter. @throws IdentityError LimitExceededException */
export async function countWithin(db: Database | Transaction, context: Context<Config>, limit: Limit): Promise<void> {
  if ((await count(db, context, limit)) > limit.max) throw attemptsExceeded()
}

/**
 * Counts a request per network of the client.
 * @returns whether the network, or one that contains it, exceeds its limit
 */
export async function exceedsLimit(
  db: Database | Transaction,
  { context, networks }: Call,
  { key, max, within }: Limit,
): Promise<boolean> {
  let isExceeded = false
  for (const { name, limitFactor } of networks) {
    if ((await count(db, context, { key: `${key}:${name}`, within })) > max * limitFactor) isExceeded = true
  }
  return isExceeded
}

/** Counts a request that could be a guess. @throws IdentityError TooManyRequestsException */
export async function consumeAttempt(call: Call): Promise<void> {
  const { db, config } = call.context
  const limit = { key: 'guesses', max: config.ADDRESS_ATTEMPTS_A_MINUTE, within: { minutes: 1 } }
  if (await exceedsLimit(db, call, limit)) {
    throw new IdentityError('TooManyRequestsException', 'Too many requests, please try again in a minute.')
  }
}

/** Counts a request that sends or creates something. @throws IdentityError LimitExceededException */
export async function countRequest(call: Call): Promise<void> {
  const { db, config } = call.context
  const limit = { key: 'requests', max: config.ADDRESS_REQUESTS_AN_HOUR, within: { hours: 1 } }
  if (await exceedsLimit(db, call, limit)) throw attemptsExceeded()
}
