import type { CodeMedium } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq, gt, sql } from 'drizzle-orm'
import { callerOf, tellLocked } from '../protocol/callers.ts'
import { count, countWithin } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { limits, type User } from '../schema.ts'
import type { Target } from './sign-in-limits.ts'
import { countText } from './text-limits.ts'

const oneHour = { hours: 1 }
const oneDay = { hours: 24 }

/**
 * Counts a code that an account is asked to be sent: so many an hour for each who asks.
 * @param target its `name` is what is counted by: `codesName` of an account.
 * @returns whether who asks is known to the account.
 * @throws IdentityError LimitExceededException
 */
export async function countCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<boolean> {
  if (medium === 'SMS') await countText(tx, call)
  const { poolId, name, user, deviceKey } = target
  const { own, isKnown } = await callerOf(tx, user, deviceKey, call)
  const most = call.context.config.CODES_AN_HOUR
  await countWithin(tx, call.context, { key: `codes:${poolId}:${name}:${own}`, most, within: oneHour })
  return isKnown
}

/**
 * As `countCode`, for a code that is good for one sign-in alone: all who are not known to the account get so many an hour
 * together. Where that is used up the way in is to reset the password, whose code is there for everybody who reads the mail.
 */
export async function countSignInCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<void> {
  if (await countCode(tx, target, medium, call)) return
  const key = `codes:${target.poolId}:${target.name}`
  await countWithin(tx, call.context, { key, most: call.context.config.ACCOUNT_CODES_AN_HOUR, within: oneHour })
}

/** What a try at a code is counted by. */
export interface Guessed {
  poolId: string
  /** What the code is for. */
  purpose: string
  /** Where it goes, whoever it is of, or the account where it goes nowhere. */
  subject: string
  /** The account, where being known to it counts: it has proven that address. Otherwise all are strangers. */
  user: User | undefined
  deviceKey?: string | undefined
}

async function triesKey(tx: Transaction, { poolId, purpose, subject, user, deviceKey }: Guessed, call: Call) {
  const { own, isKnown } = await callerOf(tx, user, deviceKey, call)
  return `tries:${poolId}:${purpose}:${subject}:${isKnown ? own : 'strangers'}`
}

/**
 * Counts a try at a code that is short enough to be guessed: all strangers together have a few a day, and so has each who
 * is known to the account.
 * @param most how many; as many as leave a guess no real chance.
 * @returns whether the code may be compared. Who guesses is not to be told that it was not.
 */
export async function countTry(tx: Transaction, guessed: Guessed, most: number, call: Call): Promise<boolean> {
  const key = await triesKey(tx, guessed, call)
  const tries = await count(tx, call.context, { key, within: oneDay })
  if (tries === most + 1 && guessed.user) await tellLocked(tx, guessed.user, null, call)
  return tries <= most
}

/** The try was right: it was no guess. */
export async function uncountTry(tx: Transaction, guessed: Guessed, call: Call): Promise<void> {
  const key = await triesKey(tx, guessed, call)
  await tx
    .update(limits)
    .set({ count: sql`${limits.count} - 1` })
    .where(eq(limits.key, key))
}

/** Whether the next try would be one of those that `countTry` lets through. */
export async function hasTries(tx: Transaction, guessed: Guessed, most: number, call: Call): Promise<boolean> {
  const key = await triesKey(tx, guessed, call)
  const since = call.context.clock.now().subtract(oneDay)
  const [row] = await tx
    .select()
    .from(limits)
    .where(and(eq(limits.key, key), gt(limits.since, since)))
  return (row?.count ?? 0) < most
}
