import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { callerOf, tellLocked } from '../protocol/callers.ts'
import { IdentityError } from '../protocol/errors.ts'
import { count } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { waitAfter } from './rules.ts'
import { knownAddresses, limits, type User } from '../schema.ts'
import type { SignInProgress } from '../sign-in/sign-in-steps.ts'

/** Who is signed in to. `user` is undefined for a name that nobody has: it is counted the same way. */
export interface Target {
  poolId: string
  /** As `placeholderUsername` writes it. */
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

const oneHour = { hours: 1 }
const oneDay = { hours: 24 }

const accountName = ({ poolId, name, user }: Target) => user?.id ?? `${poolId}:${name}`
const ownKey = (account: string, own: string) => `sign-in:${account}:${own}`
const strangersKey = (account: string) => `sign-in:${account}`

const tooMany = () => new IdentityError('NotAuthorizedException', 'Password attempts exceeded')

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
export async function recordFailure(tx: Transaction, target: Target, call: Call): Promise<void> {
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
