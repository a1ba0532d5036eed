import * as input from '../protocol/inputs.ts'
import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, desc, eq, gt, inArray, isNotNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { IdentityError } from '../protocol/errors.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { devices, signIns, type User } from '../schema.ts'
import type { SignInProgress } from '../sign-in/sign-in-steps.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'
import { parseHex, type Verifier } from '@robokids/runtime/srp'
import type { DeviceMetadata } from '../sign-in/sign-in-steps.ts'

export type Device = typeof devices.$inferSelect

/** Clients recognize this message: they forget their device key and send the same response again. */
export const deviceNotFound = () => new IdentityError('ResourceNotFoundException', 'Device does not exist.')

/**
 * Rejects a device of another account before a one-time proof is requested, which could not be sent again. An unknown
 * username has no devices either.
 */
export async function checkDevice(
  db: Database | Transaction,
  { user, state: { deviceKey } }: Pick<SignInProgress, 'user' | 'state'>,
  config: Config,
): Promise<void> {
  if (deviceKey === undefined) return
  if (!user || !(await findDevice(db, user, deviceKey, config))) throw deviceNotFound()
}

export const deviceVerifierPurpose = (key: string) => `device-verifier:${key}`

/**
 * Finds one of the account's devices. A device whose verifier cannot be unsealed counts as missing; its client gets a
 * new one.
 */
export async function findDevice(
  tx: Transaction | Database,
  user: User,
  key: string,
  config: Config,
): Promise<Device | undefined> {
  const [device] = await tx
    .select()
    .from(devices)
    .where(and(eq(devices.key, key), eq(devices.userId, user.id)))
  const isUnreadable = device?.sealedSrpVerifier && !openDeviceVerifier(device, config)
  return isUnreadable ? undefined : device
}

export function sealDeviceVerifier(key: string, value: bigint, { SEALING_KEYS }: Config): string {
  return SEALING_KEYS.seal(value.toString(16), deviceVerifierPurpose(key))
}

/** @returns undefined for an unconfirmed device, or one whose verifier cannot be unsealed */
export function openDeviceVerifier(device: Device, { SEALING_KEYS }: Config): Verifier | undefined {
  if (device.srpSalt === null || device.sealedSrpVerifier === null) return undefined
  const opened = SEALING_KEYS.open(device.sealedSrpVerifier, deviceVerifierPurpose(device.key))?.toString()
  const value = opened === undefined ? undefined : parseHex(opened)
  return value === undefined ? undefined : { salt: device.srpSalt, value }
}

/** More devices than a person has: the rest are private windows and browsers that clear their storage. */
const maxDevices = 50

/**
 * Creates a device key for a new client if the pool tracks devices.
 * @param secondFactor whether this sign-in used one: in a pool that always remembers devices, the device is trusted
 * again
 */
export async function newDevice(
  tx: Transaction,
  user: User,
  pool: Pool,
  { deviceKey: knownKey, secondFactor }: { deviceKey: string | undefined; secondFactor: boolean },
  { context, address }: Call,
): Promise<DeviceMetadata | undefined> {
  const now = context.clock.now()
  if (knownKey !== undefined) {
    const trusted = pool.settings.devices === 'ALWAYS' && secondFactor ? { remembered: true } : {}
    await tx
      .update(devices)
      .set({ lastSignInAt: now, lastAddress: address, ...trusted })
      .where(and(eq(devices.key, knownKey), eq(devices.userId, user.id)))
    return undefined
  }
  if (pool.settings.devices === 'OFF') return undefined
  const region = pool.id.slice(0, pool.id.indexOf('_'))
  const device = { key: `${region}_${randomUUID()}`, groupKey: `-${randomUUID().replaceAll('-', '').slice(0, 10)}` }
  await tx.insert(devices).values({
    ...device,
    userId: user.id,
    lastAddress: address,
    createdAt: now,
    updatedAt: now,
    lastSignInAt: now,
  })
  await forgetOldest(tx, user)
  return { DeviceKey: device.key, DeviceGroupKey: device.groupKey }
}

/** Deletes the devices unused for longest, untrusted ones first. Their sign-ins continue. */
async function forgetOldest(tx: Transaction, user: User): Promise<void> {
  const beyond = tx
    .select({ key: devices.key })
    .from(devices)
    .where(eq(devices.userId, user.id))
    .orderBy(desc(devices.remembered), desc(devices.lastSignInAt))
    .offset(maxDevices)
  await tx.delete(devices).where(inArray(devices.key, beyond))
}

const seconds = (instant: Temporal.Instant) => instant.epochMilliseconds / 1000

/** The protocol's representation of a device. */
export function describeDevice(device: Device): object {
  const attributes = {
    device_status: 'valid',
    device_name: device.name,
    last_ip_used: device.lastAddress,
    'dev:device_remembered_status': device.remembered ? 'remembered' : 'not_remembered',
  }
  return {
    DeviceKey: device.key,
    DeviceAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
    DeviceCreateDate: seconds(device.createdAt),
    DeviceLastModifiedDate: seconds(device.updatedAt),
    DeviceLastAuthenticatedDate: seconds(device.lastSignInAt),
  }
}

export const devicePage = z.object({
  Limit: z.number().int().min(0).max(60).default(60),
  PaginationToken: input.deviceKey.optional(),
})

/**
 * Returns a page of the account's confirmed devices, ordered by key; the token is the last key of the previous page.
 */
export async function pageOfDevices(
  db: Database | Transaction,
  user: User,
  { Limit, PaginationToken: after }: z.infer<typeof devicePage>,
): Promise<object> {
  const limit = Limit === 0 ? 60 : Limit
  const rows = await db
    .select()
    .from(devices)
    .where(
      and(
        eq(devices.userId, user.id),
        isNotNull(devices.sealedSrpVerifier),
        after === undefined ? undefined : gt(devices.key, after),
      ),
    )
    .orderBy(asc(devices.key))
    .limit(limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    Devices: page.map(describeDevice),
    ...(rows.length > limit && last ? { PaginationToken: last.key } : {}),
  }
}

/**
 * Forgets a device and ends its sign-ins, so that a lost one cannot be used any more.
 * @param keep the caller's own sign-in, which continues
 */
export async function forgetDeviceOf(
  tx: Transaction,
  user: User,
  key: string,
  { context }: Call,
  keep?: string,
): Promise<void> {
  const [device] = await tx
    .select()
    .from(devices)
    .where(and(eq(devices.key, key), eq(devices.userId, user.id)))
  if (!device) throw deviceNotFound()
  const ended = keep === undefined ? { deviceKey: key } : { keep, deviceKey: key }
  await endSignIns(tx, user.id, 'signed_out', context.clock.now(), ended)
  await tx.update(signIns).set({ deviceKey: null }).where(eq(signIns.deviceKey, key))
  await tx.delete(devices).where(eq(devices.key, key))
}
