import { randomUUID } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import type { Pool } from './pools.ts'
import type { Call } from './protocol.ts'
import { devices, type User } from './schema.ts'

export interface DeviceMetadata {
  DeviceKey: string
  DeviceGroupKey: string
}

export type Device = typeof devices.$inferSelect

/** One of the account's devices. */
export async function findDevice(tx: Transaction, user: User, key: string): Promise<Device | undefined> {
  const [device] = await tx
    .select()
    .from(devices)
    .where(and(eq(devices.key, key), eq(devices.userId, user.id)))
  return device
}

/** Gives a client that is new to a pool that tells devices apart a key to confirm itself by. */
export async function newDevice(
  tx: Transaction,
  user: User,
  pool: Pool,
  knownKey: string | undefined,
  { context, address }: Call,
): Promise<DeviceMetadata | undefined> {
  const now = context.clock.now()
  if (knownKey !== undefined) {
    await tx
      .update(devices)
      .set({ lastSignInAt: now, lastAddress: address })
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
  return { DeviceKey: device.key, DeviceGroupKey: device.groupKey }
}
