import type { CodeMedium } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq, gt, sql } from 'drizzle-orm'
import { callerOf, publishSignInLocked } from '../protocol/callers.ts'
import { count, countWithin } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { limits, type User } from '../schema.ts'
import type { Target } from './sign-in-limits.ts'
import { countText } from './text-limits.ts'

const oneHour = { hours: 1 }
const oneDay = { hours: 24 }

/**
 * Counts a requested code, per account and caller and hour.
 * @param target its `name` is the key to count by: `codesName` of an account
 * @returns whether the caller is known to the account
 * @throws IdentityError LimitExceededException
 */
export async function countCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<boolean> {
  if (medium === 'SMS') await countText(tx, call)
  const { poolId, name, user, deviceKey } = target
  const { own, isKnown } = await callerOf(tx, user, deviceKey, call)
  const max = call.context.config.CODES_AN_HOUR
  await countWithin(tx, call.context, { key: `codes:${poolId}:${name}:${own}`, max, within: oneHour })
  return isKnown
}

/**
 * Like `countCode`, for a code of one sign-in, with an additional limit per hour for all unknown callers together. When
 * that is used up, a password reset still works, since its code is the same for everybody who reads the mail.
 */
export async function countSignInCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<void> {
  if (await countCode(tx, target, medium, call)) return
  const key = `codes:${target.poolId}:${target.name}`
  await countWithin(tx, call.context, { key, max: call.context.config.ACCOUNT_CODES_AN_HOUR, within: oneHour })
}

/** What attempts at a code are counted by. */
export interface Guessed {
  poolId: string
  /** What the code is for. */
  purpose: string
  /** The destination address, or the account if nothing is sent. */
  subject: string
  /**
   * The account, if it has verified that address: then callers known to it are counted apart. Undefined: all callers
   * count as unknown.
   */
  user: User | undefined
  deviceKey?: string | undefined
}

async function triesKey(tx: Transaction, { poolId, purpose, subject, user, deviceKey }: Guessed, call: Call) {
  const { own, isKnown } = await callerOf(tx, user, deviceKey, call)
  return `tries:${poolId}:${purpose}:${subject}:${isKnown ? own : 'strangers'}`
}

/**
 * Counts an attempt at a short code: per day, all unknown callers together and each known caller have a few.
 * @param max as many as leave a guess no real chance
 * @returns whether the code may be compared. The response must not reveal that it was not.
 */
export async function countTry(tx: Transaction, guessed: Guessed, max: number, call: Call): Promise<boolean> {
  const key = await triesKey(tx, guessed, call)
  const tries = await count(tx, call.context, { key, within: oneDay })
  if (tries === max + 1 && guessed.user) await publishSignInLocked(tx, guessed.user, null, call)
  return tries <= max
}

/** Takes back a counted attempt that turned out correct. */
export async function revertTry(tx: Transaction, guessed: Guessed, call: Call): Promise<void> {
  const key = await triesKey(tx, guessed, call)
  await tx
    .update(limits)
    .set({ count: sql`${limits.count} - 1` })
    .where(eq(limits.key, key))
}

/** Whether `countTry` would allow another attempt. */
export async function hasTries(tx: Transaction, guessed: Guessed, max: number, call: Call): Promise<boolean> {
  const key = await triesKey(tx, guessed, call)
  const since = call.context.clock.now().subtract(oneDay)
  const [row] = await tx
    .select()
    .from(limits)
    .where(and(eq(limits.key, key), gt(limits.since, since)))
  return (row?.count ?? 0) < max
}
