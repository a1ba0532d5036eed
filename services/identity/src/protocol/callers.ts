import { signInLocked } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq } from 'drizzle-orm'
import { findDevice } from '../factors/devices.ts'
import { count } from '../limits/limits.ts'
import type { Call } from './protocol.ts'
import { knownAddresses, type User } from '../schema.ts'
import { accountOf } from '../users/users.ts'

/** How a caller is identified in limits. */
interface Caller {
  /** The device, if it is one of the account's, else the network address. */
  own: string
  /** Whether the account was signed in to from there before. Unknown callers are also counted together. */
  isKnown: boolean
}

async function isKnownAddress(tx: Transaction | Database, user: User, address: string): Promise<boolean> {
  const known = and(eq(knownAddresses.userId, user.id), eq(knownAddresses.address, address))
  return (await tx.$count(knownAddresses, known)) > 0
}

/** Identifies a caller, so that attempts of unknown callers do not lock out the owner at a known device or address. */
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

/** Gives callers known to the account priority in the password hash queue. */
export async function prioritizeKnownCaller(
  tx: Transaction | Database,
  user: User | undefined,
  deviceKey: string | undefined,
  call: Call,
): Promise<void> {
  const { isKnown } = await callerOf(tx, user, deviceKey, call)
  if (user && isKnown) call.hashing.account = user.id
}

/** Publishes at most once per day that somebody tries to get into the account. */
export async function publishSignInLocked(
  tx: Transaction,
  user: User,
  until: Temporal.Instant | null,
  { context }: Call,
): Promise<void> {
  if ((await count(tx, context, { key: `told-locked:${user.id}`, within: { hours: 24 } })) > 1) return
  await publish(tx, signInLocked, user.id, {
    ...(await accountOf(tx, user)),
    reason: 'too_many_attempts',
    until: until?.toString({ fractionalSecondDigits: 3 }) ?? null,
  })
}
