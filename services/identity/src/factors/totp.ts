import { Secret, TOTP } from 'otpauth'
import type { Config } from '../config.ts'
import type { User } from '../schema.ts'

const periodSeconds = 30
/** Accepted clock difference, in time steps. */
const drift = 1

export const totpPurpose = (userId: string) => `totp-secret:${userId}`

/** Returns a new authenticator secret in base32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

export function sealTotpSecret(secret: string, userId: string, config: Pick<Config, 'SEALING_KEYS'>): string {
  return config.SEALING_KEYS.seal(secret, totpPurpose(userId))
}

/** @returns undefined for an account without an authenticator. */
export function openTotpSecret(
  user: Pick<User, 'id' | 'sealedTotpSecret'>,
  config: Pick<Config, 'SEALING_KEYS'>,
): string | undefined {
  if (user.sealedTotpSecret === null) return undefined
  const secret = config.SEALING_KEYS.open(user.sealedTotpSecret, totpPurpose(user.id))?.toString()
  if (secret === undefined) throw new Error('An authenticator secret is sealed under an unknown key.')
  return secret
}

/**
 * Returns the time step of a code that is valid now.
 * @param after the time step of the last accepted code: neither it nor earlier ones are accepted again. Must be stored
 * under the account's lock, in `users.totp_last_step`.
 */
export function totpStep(
  secret: string,
  code: string,
  now: Temporal.Instant,
  after: number | null = null,
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now.epochMilliseconds
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period: periodSeconds, digits: 6, algorithm: 'SHA1' })
  const delta = totp.validate({ token: code, timestamp, window: drift })
  if (delta === null) return undefined
  const step = Math.floor(timestamp / 1000 / periodSeconds) + delta
  return after !== null && step <= after ? undefined : step
}
