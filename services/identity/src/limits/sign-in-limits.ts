import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { callerOf, publishSignInLocked } from '../protocol/callers.ts'
import { IdentityError } from '../protocol/errors.ts'
import { count } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { waitAfter } from './rules.ts'
import { knownAddresses, limits, type User } from '../schema.ts'
import type { SignInProgress } from '../sign-in/sign-in-steps.ts'

/** The account that a sign-in is for. `user` is undefined for an unknown username, which is counted the same way. */
export interface Target {
  poolId: string
  /** As `placeholderUsername` returns it. */
  name: string
  user: User | undefined
  /** The device that the client claims to be. */
  deviceKey?: string | undefined
}

/** The target that a sign-in's failures are counted against. */
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

const passwordAttemptsExceeded = () =>
  new IdentityError('NotAuthorizedException', 'Password attempts exceeded', 'too_many_attempts')

/**
 * Rejects a password attempt that has to wait after failures: those of this caller and, for a caller unknown to the
 * account, those of all unknown callers.
 * @throws IdentityError NotAuthorizedException
 */
export async function checkSignInWait(tx: Transaction | Database, target: Target, call: Call): Promise<void> {
  const account = accountName(target)
  const { own, isKnown } = await callerOf(tx, target.user, target.deviceKey, call)
  const keys = [ownKey(account, own), ...(isKnown ? [] : [strangersKey(account)])]
  const waiting = and(inArray(limits.key, keys), gt(limits.waitUntil, call.context.clock.now()))
  if ((await tx.$count(limits, waiting)) > 0) throw passwordAttemptsExceeded()
}

/**
 * Like `checkSignInWait`, and serializes the password attempts of an account for the rest of the transaction: parallel
 * attempts are limited like sequential ones.
 */
export async function beginAttempt(tx: Transaction, target: Target, call: Call): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${strangersKey(accountName(target))}, 0))`)
  await checkSignInWait(tx, target, call)
}

/** Records a wrong password. */
export async function recordFailure(tx: Transaction, target: Target, call: Call): Promise<void> {
  const { config, clock } = call.context
  const account = accountName(target)
  const recordFor = async (key: string, within: Temporal.DurationLike, free: number) => {
    const wait = waitAfter(await count(tx, call.context, { key, within }), free, config.MAX_SIGN_IN_WAIT_SECONDS)
    const waitUntil = wait === 0 ? null : clock.now().add({ seconds: wait })
    await tx.update(limits).set({ waitUntil }).where(eq(limits.key, key))
    return waitUntil
  }
  const { own, isKnown } = await callerOf(tx, target.user, target.deviceKey, call)
  const waits = [await recordFor(ownKey(account, own), oneDay, config.FREE_SIGN_IN_FAILURES)]
  if (!isKnown) waits.push(await recordFor(strangersKey(account), oneHour, config.ACCOUNT_FAILURES_AN_HOUR))
  const until = waits.findLast((wait) => wait !== null)
  if (target.user && until) await publishSignInLocked(tx, target.user, until, call)
}

/** After a successful sign-in: remembers the address and clears its failures. */
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
