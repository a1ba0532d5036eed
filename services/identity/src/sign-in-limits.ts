import { signInLocked, type CodeMedium } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { findDevice } from './devices.ts'
import { IdentityError } from './errors.ts'
import { count, countWithin } from './limits.ts'
import type { Call } from './protocol.ts'
import { waitAfter } from './rules.ts'
import { knownAddresses, limits, type User } from './schema.ts'
import type { SignInProgress } from './sign-in-steps.ts'
import { accountOf } from './users.ts'

/** Who is signed in to. `user` is undefined for a name that nobody has: it is counted the same way. */
export interface Target {
  poolId: string
  /** As `nobodysName` writes it. */
  name: string
  user: User | undefined
  /** The device that the client says it is. */
  deviceKey?: string | undefined
}

/** Whom a sign-in's failures count against. */
export const targetOf = ({ client, state, user }: SignInProgress): Target => ({
  poolId: client.pool.id,
  name: state.given,
  user,
  deviceKey: state.deviceKey,
})

/** By what somebody is counted who may be guessing. */
interface Caller {
  /** The device, where it is one of the account's, else the network address. */
  own: string
  /** Whether the account was signed in to from there. All who are not known are counted together as well. */
  isKnown: boolean
}

const oneHour = { hours: 1 }
const oneDay = { hours: 24 }

const accountName = ({ poolId, name, user }: Target) => user?.id ?? `${poolId}:${name}`
const ownKey = (account: string, own: string) => `sign-in:${account}:${own}`
const strangersKey = (account: string) => `sign-in:${account}`

const tooMany = () => new IdentityError('NotAuthorizedException', 'Password attempts exceeded')

async function isKnownAddress(tx: Transaction | Database, user: User, address: string): Promise<boolean> {
  const mine = and(eq(knownAddresses.userId, user.id), eq(knownAddresses.address, address))
  return (await tx.$count(knownAddresses, mine)) > 0
}

/** By what a caller is counted, so that nobody is shut out by what strangers do where they signed in before. */
export async function callerOf(
  tx: Transaction | Database,
  user: User | undefined,
  deviceKey: string | undefined,
  { address, context }: Call,
): Promise<Caller> {
  if (!user) return { own: address, isKnown: false }
  const device = deviceKey === undefined ? undefined : await findDevice(tx, user, deviceKey, context.config)
  if (device && device.sealedSrpVerifier !== null) return { own: device.key, isKnown: true }
  return { own: address, isKnown: await isKnownAddress(tx, user, address) }
}

/**
 * Refuses to look at a password that has to wait after wrong ones: of this caller, or, of one who is not known to the
 * account, of all of those together.
 * @throws IdentityError NotAuthorizedException
 */
export async function checkSignInWait(tx: Transaction | Database, target: Target, call: Call): Promise<void> {
  const account = accountName(target)
  const { own, isKnown } = await callerOf(tx, target.user, target.deviceKey, call)
  const keys = [ownKey(account, own), ...(isKnown ? [] : [strangersKey(account)])]
  const waiting = and(inArray(limits.key, keys), gt(limits.waitUntil, call.context.clock.now()))
  if ((await tx.$count(limits, waiting)) > 0) throw tooMany()
}

/**
 * As `checkSignInWait`, and lets one password of an account be judged at a time for the rest of the transaction: of many
 * that come at once no more are looked at than of as many that come one after the other.
 */
export async function beginAttempt(tx: Transaction, target: Target, call: Call): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${strangersKey(accountName(target))}, 0))`)
  await checkSignInWait(tx, target, call)
}

/** Notes a wrong password. */
export async function noteFailure(tx: Transaction, target: Target, call: Call): Promise<void> {
  const { config, clock } = call.context
  const account = accountName(target)
  const note = async (key: string, within: Temporal.DurationLike, free: number) => {
    const wait = waitAfter(await count(tx, call.context, { key, within }), free, config.MAX_SIGN_IN_WAIT_SECONDS)
    const waitUntil = wait === 0 ? null : clock.now().add({ seconds: wait })
    await tx.update(limits).set({ waitUntil }).where(eq(limits.key, key))
    return waitUntil
  }
  const { own, isKnown } = await callerOf(tx, target.user, target.deviceKey, call)
  const waits = [await note(ownKey(account, own), oneDay, config.FREE_SIGN_IN_FAILURES)]
  if (!isKnown) waits.push(await note(strangersKey(account), oneHour, config.ACCOUNT_FAILURES_AN_HOUR))
  const until = waits.findLast((wait) => wait !== null)
  if (target.user && until) await tellLocked(tx, target.user, until, call)
}

/** Tells a person that somebody tries to get into their account, once a day. */
async function tellLocked(
  tx: Transaction,
  user: User,
  until: Temporal.Instant | null,
  { context }: Call,
): Promise<void> {
  if ((await count(tx, context, { key: `told-locked:${user.id}`, within: oneDay })) > 1) return
  await publish(tx, signInLocked, user.id, {
    ...(await accountOf(tx, user)),
    reason: 'too_many_attempts',
    until: until?.toString({ fractionalSecondDigits: 3 }) ?? null,
  })
}

/** Counts a text message that an address has sent. @throws IdentityError LimitExceededException */
export async function countText(tx: Transaction, medium: CodeMedium, { context, address }: Call): Promise<void> {
  if (medium !== 'SMS') return
  const most = context.config.ADDRESS_TEXTS_AN_HOUR
  await countWithin(tx, context, { key: `texts:${address}`, most, within: oneHour })
}

/**
 * Counts a code that an account is asked to be sent: so many an hour for each who asks.
 * @param target its `name` is what is counted by: `codesName` of an account.
 * @returns whether who asks is known to the account.
 * @throws IdentityError LimitExceededException
 */
export async function countCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<boolean> {
  await countText(tx, medium, call)
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

/** A sign-in succeeded: its address is known from now on, and its failures are forgotten. */
export async function rememberAddress(tx: Transaction, user: User, call: Call, deviceKey?: string): Promise<void> {
  const { address, context } = call
  const lastSeenAt = context.clock.now()
  await tx
    .insert(knownAddresses)
    .values({ userId: user.id, address, lastSeenAt })
    .onConflictDoUpdate({ target: [knownAddresses.userId, knownAddresses.address], set: { lastSeenAt } })
  const own = [address, ...(deviceKey === undefined ? [] : [deviceKey])].map((one) => ownKey(user.id, one))
  await tx.delete(limits).where(inArray(limits.key, own))
}
