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

/** What a name that nobody has is answered with, always the same: so that answers do not tell who has an account. */
export interface SimulatedAccount {
  verifier: Verifier
  /** What it could begin a USER_AUTH sign-in with. */
  factors: FirstFactor[]
  /** Where codes would go, masked. */
  destinations: Record<'EMAIL' | 'SMS', string>
}

const drawFor =
  (pool: Pool, name: string, keys: Config['MAC_KEYS']) =>
  (what: string): Buffer =>
    keys.mac(`${pool.id}:${nameKey(pool, name)}`, `simulated-account:${what}`)

/** For how long it is known whose a name would be that is nobody's, after it was told the last time. */
const remembered = { hours: 24 * 30 }
const oneDayMs = 86_400_000

/**
 * The canonical name of an account, or of one that is not there: an address is no name itself. To be asked for where it
 * is told, since what was told is remembered.
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
  // Looked for in any case: how long it takes does not tell whether there is an account.
  const [told] = await find()
  if (user) return user.username
  const now = clock.now()
  const expiresAt = now.add(remembered)
  if (told) {
    // Once a day is often enough.
    if (expiresAt.since(told.expiresAt).total('milliseconds') > oneDayMs)
      await db.update(simulatedNames).set({ expiresAt }).where(eq(simulatedNames.username, told.username))
    return told.username
  }
  const username = drawUsername(pool, address, now, config)
  const row = { poolId: pool.id, address, username, expiresAt }
  await db.insert(simulatedNames).values(row).onConflictDoNothing()
  const [kept] = await find()
  return kept?.username ?? username
}

/**
 * A UUID of version 7 tells when it was made: this one is of a time since the pool's beginning, and the same for as long as
 * the pool has not got twice as old, also after it was forgotten.
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

/** Whether a name was told as that of an account that is not there: whoever signs up is refused it like a name that is taken. */
export async function isSimulatedName(db: Database | Transaction, pool: Pool, name: string): Promise<boolean> {
  return (await placeholderUsername(db, pool, name)) !== name
}

/**
 * What a name that nobody has is simulated and counted by: one that was told as an address's canonical name is that
 * address, as it is with an account. As `nameKey` writes it.
 */
export async function placeholderUsername(db: Database | Transaction, pool: Pool, name: string): Promise<string> {
  const [told] = await db
    .select()
    .from(simulatedNames)
    .where(and(eq(simulatedNames.poolId, pool.id), eq(simulatedNames.username, name)))
  return told?.address ?? nameKey(pool, name)
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
