import { hkdfSync } from 'node:crypto'
import type { Context } from '@robokids/runtime/service'
import { prime, type Verifier } from '@robokids/runtime/srp'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { mask } from './attributes.ts'
import type { Config } from '../config.ts'
import type { FirstFactor } from '../pools/pool-settings.ts'
import type { Pool } from '../pools/pools.ts'
import { simulatedNames, type User } from '../schema.ts'
import { addressKind, nameKey } from './usernames.ts'

/**
 * The simulated account of an unknown username: always the same, so that responses do not reveal which accounts exist.
 */
export interface SimulatedAccount {
  verifier: Verifier
  /** First factors offered to a USER_AUTH sign-in. */
  factors: FirstFactor[]
  /** Where codes would go, masked. */
  destinations: Record<'EMAIL' | 'SMS', string>
}

const drawFor =
  (pool: Pool, name: string, keys: Config['MAC_KEYS']) =>
  (what: string): Buffer =>
    keys.mac(`${pool.id}:${nameKey(pool, name)}`, `simulated-account:${what}`)

/** Retention of a simulated username after it was last returned. */
const simulatedNameRetention = { hours: 24 * 30 }
const oneDayMs = 86_400_000

/**
 * Returns the canonical username of an account, or a simulated one: an address is no username itself. Called only where
 * the result is returned to the client, since a simulated username is stored.
 */
export async function canonicalName(
  pool: Pool,
  name: string,
  user: User | undefined,
  { db, clock, config }: Context<Config>,
): Promise<string> {
  if (addressKind(pool, name) === undefined) return user?.username ?? name
  const address = nameKey(pool, name)
  const find = () =>
    db
      .select()
      .from(simulatedNames)
      .where(and(eq(simulatedNames.poolId, pool.id), eq(simulatedNames.address, address)))
  // Queried in any case, so that timing does not reveal whether an account exists.
  const [stored] = await find()
  if (user) return user.username
  const now = clock.now()
  const expiresAt = now.add(simulatedNameRetention)
  if (stored) {
    // At most once per day.
    if (expiresAt.since(stored.expiresAt).total('milliseconds') > oneDayMs)
      await db.update(simulatedNames).set({ expiresAt }).where(eq(simulatedNames.username, stored.username))
    return stored.username
  }
  const username = drawUsername(pool, address, now, config)
  const row = { poolId: pool.id, address, username, expiresAt }
  await db.insert(simulatedNames).values(row).onConflictDoNothing()
  const [kept] = await find()
  return kept?.username ?? username
}

/**
 * A version 7 UUID contains its creation time. This one has a time since the pool's creation, and stays the same until
 * the pool's age has doubled, even after the stored row expired.
 */
function drawUsername(pool: Pool, address: string, now: Temporal.Instant, { MAC_KEYS }: Config): string {
  const begin = pool.createdAt.epochMilliseconds
  const age = 2 ** Math.floor(Math.log2(Math.max(1, now.epochMilliseconds - begin)))
  const bytes = Buffer.from(drawFor(pool, address, MAC_KEYS)('username').subarray(0, 16))
  bytes.writeUIntBE(begin + (bytes.readUIntBE(0, 6) % age), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `user_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Whether a username was returned as a simulated one: it cannot be signed up with, like one that is taken. */
export async function isSimulatedName(db: Database | Transaction, pool: Pool, name: string): Promise<boolean> {
  return (await placeholderUsername(db, pool, name)) !== name
}

/**
 * Returns what an unknown username is simulated and counted by: a simulated canonical username stands for its address,
 * as with a real account. As `nameKey` returns it.
 */
export async function placeholderUsername(db: Database | Transaction, pool: Pool, name: string): Promise<string> {
  const [stored] = await db
    .select()
    .from(simulatedNames)
    .where(and(eq(simulatedNames.poolId, pool.id), eq(simulatedNames.username, name)))
  return stored?.address ?? nameKey(pool, name)
}

export function simulateAccount(pool: Pool, name: string, { MAC_KEYS }: Pick<Config, 'MAC_KEYS'>): SimulatedAccount {
  const draw = drawFor(pool, name, MAC_KEYS)
  const [chance = 0, second = 0, third = 0] = draw('factors')
  const kind = addressKind(pool, name)
  const some: Record<FirstFactor, boolean> = {
    PASSWORD: true,
    EMAIL_OTP: kind === 'email' || chance < 240,
    SMS_OTP: kind === 'phone_number' || second < 64,
    WEB_AUTHN: pool.settings.webAuthn !== null && third < 64,
  }
  const letters = [...draw('destination')].map((byte) => String.fromCodePoint(97 + (byte % 26)))
  const digits = String(draw('phone').readUInt32BE()).slice(-4).padStart(4, '0')
  return {
    verifier: {
      salt: BigInt(`0x${draw('salt').subarray(0, 16).toString('hex')}`).toString(16),
      value:
        (BigInt(`0x${Buffer.from(hkdfSync('sha256', draw('verifier'), '', '', 384)).toString('hex')}`) % (prime - 2n)) +
        2n,
    },
    factors: pool.settings.firstFactors.filter((factor) => some[factor]),
    destinations: {
      EMAIL: mask('EMAIL', kind === 'email' ? name : `${letters[0]}@${letters[1]}`),
      SMS: mask('SMS', kind === 'phone_number' ? name : digits),
    },
  }
}
