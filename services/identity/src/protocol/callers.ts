import { signInLocked } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq } from 'drizzle-orm'
import { findDevice } from '../factors/devices.ts'
import { count } from '../limits/limits.ts'
import type { Call } from './protocol.ts'
import { knownAddresses, type User } from '../schema.ts'
import { accountOf } from '../users/users.ts'

/** By what somebody is counted who may be guessing. */
interface Caller {
  /** The device, where it is one of the account's, else the network address. */
  own: string
  /** Whether the account was signed in to from there. All who are not known are counted together as well. */
  isKnown: boolean
}

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

/** Has whoever is known to an account not wait behind strangers for its passwords to be hashed. */
export async function goBeforeStrangers(
  tx: Transaction | Database,
  user: User | undefined,
  deviceKey: string | undefined,
  call: Call,
): Promise<void> {
  const { isKnown } = await callerOf(tx, user, deviceKey, call)
  if (user && isKnown) call.hashing.account = user.id
}

/** Tells a person that somebody tries to get into their account, once a day. */
export async function tellLocked(
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
