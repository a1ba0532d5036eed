import { hkdfSync } from 'node:crypto'
import type { Context } from '@robokids/runtime/service'
import { prime, type Verifier } from '@robokids/runtime/srp'
import { eq } from 'drizzle-orm'
import { mask } from './attributes.ts'
import type { Config } from './config.ts'
import type { FirstFactor } from './pool-settings.ts'
import type { Pool } from './pools.ts'
import { limits } from './schema.ts'

/** What a name that nobody has is answered with, always the same: so that answers do not tell who has an account. */
export interface SimulatedAccount {
  verifier: Verifier
  /** What it could begin a USER_AUTH sign-in with. */
  factors: FirstFactor[]
  /** Where codes would go, masked. */
  destinations: Record<'EMAIL' | 'SMS', string>
  /** Ids of passkeys, base64url. */
  passkeys: string[]
}

const accountOf = (pool: Pool, name: string) => `${pool.id}:${name.toLowerCase()}`

const drawFor =
  (pool: Pool, name: string, keys: Config['SEALING_KEYS']) =>
  (what: string): Buffer =>
    keys.mac(accountOf(pool, name), `simulated-account:${what}`)

function kindOf({ settings: { aliases } }: Pool, name: string): { isAddress: boolean; isNumber: boolean } {
  return {
    isAddress: name.includes('@') && aliases.includes('email'),
    isNumber: /^\+\d+$/.test(name) && aliases.includes('phone_number'),
  }
}

/** An account's canonical name stays for its life; that of one that is nobody's for so long. */
const stays = { hours: 24 * 400 }

/**
 * The canonical name of an account that is not there: an address is no name itself. A UUID of version 7 tells when it was
 * made, so this one is of some time between the pool's beginning and the moment when it was first asked for.
 */
export async function simulateName(pool: Pool, name: string, { db, clock, config }: Context<Config>): Promise<string> {
  const { isAddress, isNumber } = kindOf(pool, name)
  if (!isAddress && !isNumber) return name
  const key = `simulated:${accountOf(pool, name)}`
  const find = () => db.select({ since: limits.since }).from(limits).where(eq(limits.key, key))
  let [asked] = await find()
  if (!asked) {
    const now = clock.now()
    const values = { key, count: 0, since: now, expiresAt: now.add(stays) }
    await db.insert(limits).values(values).onConflictDoNothing()
    ;[asked] = await find()
  }
  const begin = pool.createdAt.epochMilliseconds
  const age = Math.max(1, (asked?.since ?? clock.now()).epochMilliseconds - begin)
  const bytes = Buffer.from(drawFor(pool, name, config.SEALING_KEYS)('username').subarray(0, 16))
  bytes.writeUIntBE(begin + (bytes.readUIntBE(0, 6) % age), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `user_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function simulateAccount(
  pool: Pool,
  name: string,
  { SEALING_KEYS }: Pick<Config, 'SEALING_KEYS'>,
): SimulatedAccount {
  const draw = drawFor(pool, name, SEALING_KEYS)
  const [chance = 0, second = 0, third = 0] = draw('factors')
  const { isAddress, isNumber } = kindOf(pool, name)
  const some: Record<FirstFactor, boolean> = {
    PASSWORD: true,
    EMAIL_OTP: isAddress || chance < 240,
    SMS_OTP: isNumber || second < 64,
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
      EMAIL: mask('EMAIL', isAddress ? name : `${letters[0]}@${letters[1]}`),
      SMS: mask('SMS', isNumber ? name : digits),
    },
    passkeys: [draw('passkey').toString('base64url')].slice(0, some.WEB_AUTHN ? 1 : 0),
  }
}
