import { hkdfSync } from 'node:crypto'
import { mask } from './attributes.ts'
import type { Config } from './config.ts'
import type { FirstFactor } from './pool-settings.ts'
import type { Pool } from './pools.ts'
import { prime, type Verifier } from '@robokids/runtime/srp'

/** What a name that nobody has is answered with, always the same: so that answers do not tell who has an account. */
export interface SimulatedAccount {
  /** A canonical name: an address is nobody's. */
  username: string
  verifier: Verifier
  /** What it could begin a USER_AUTH sign-in with. */
  factors: FirstFactor[]
  /** Where codes would go, masked. */
  destinations: Record<'EMAIL' | 'SMS', string>
  /** Ids of passkeys, base64url. */
  passkeys: string[]
}

/** A UUID of version 7, as new accounts' names have it, of some time in the year before these accounts began. */
function canonicalName(seed: Buffer): string {
  const bytes = Buffer.from(seed.subarray(0, 16))
  const year = 365 * 86_400_000
  bytes.writeUIntBE(1_759_276_800_000 + (bytes.readUIntBE(0, 6) % year), 0, 6)
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
  const account = `${pool.id}:${name.toLowerCase()}`
  const draw = (what: string) => SEALING_KEYS.mac(account, `simulated-account:${what}`)
  const [chance = 0, second = 0, third = 0] = draw('factors')
  const isAddress = name.includes('@') && pool.settings.aliases.includes('email')
  const isNumber = /^\+\d+$/.test(name) && pool.settings.aliases.includes('phone_number')
  const some: Record<FirstFactor, boolean> = {
    PASSWORD: true,
    EMAIL_OTP: isAddress || chance < 240,
    SMS_OTP: isNumber || second < 64,
    WEB_AUTHN: pool.settings.webAuthn !== null && third < 64,
  }
  const letters = [...draw('destination')].map((byte) => String.fromCodePoint(97 + (byte % 26)))
  const digits = String(draw('phone').readUInt32BE()).slice(-4).padStart(4, '0')
  return {
    username: isAddress || isNumber ? canonicalName(draw('username')) : name,
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
