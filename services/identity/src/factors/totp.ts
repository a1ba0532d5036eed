import { Secret, TOTP } from 'otpauth'
import type { Config } from '../config.ts'
import type { User } from '../schema.ts'

const periodSeconds = 30
/** A phone's clock may be this many steps off. */
const drift = 1

export const totpPurpose = (userId: string) => `totp-secret:${userId}`

/** A new authenticator's secret, in base32. */
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
  if (secret === undefined) throw new Error('An authenticator secret is sealed under a key that is not here.')
  return secret
}

/**
 * The step that a code is of, if it is one of now.
 * @param after the step of the last code that was taken: it and those before it are not taken again. To be kept under the
 * account's lock, as `users.totp_last_step`.
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
