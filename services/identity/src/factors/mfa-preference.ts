import type { Transaction } from '@robokids/runtime/db'
import { and, eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { changeAccount } from '../users/accounts.ts'
import { invalid } from '../protocol/errors.ts'
import { mfaFactors, type MfaFactor, type PoolSettings } from '../pools/pool-settings.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { devices, signInSteps, type User } from '../schema.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'
import type { SignIn } from '../sign-in/tokens.ts'
import { isVerified } from '../users/users.ts'

const setting = z.object({ Enabled: z.boolean().optional(), PreferredMfa: z.boolean().optional() }).optional()

/** Which second factors to enable, and which to prefer; omitted ones stay as they are. */
export const preferenceSchema = z.object({
  SoftwareTokenMfaSettings: setting,
  SMSMfaSettings: setting,
  EmailMfaSettings: setting,
})

const settingsOf = (given: z.infer<typeof preferenceSchema>) => ({
  SOFTWARE_TOKEN_MFA: given.SoftwareTokenMfaSettings,
  SMS_MFA: given.SMSMfaSettings,
  EMAIL_OTP: given.EmailMfaSettings,
})

/** @throws IdentityError InvalidParameterException where a factor cannot be turned on. */
function checkFactor(factor: MfaFactor, user: User, { mfa, mfaFactors: allowed }: PoolSettings): void {
  if (mfa === 'OFF' || !allowed.includes(factor)) throw invalid(`${factor} is not enabled for this user pool.`)
  if (factor === 'SOFTWARE_TOKEN_MFA' && user.sealedTotpSecret === null) {
    throw invalid('User has not verified software token mfa')
  }
  if (factor === 'SMS_MFA' && !isVerified(user, 'phone_number')) throw invalid('User has no verified phone_number.')
  if (factor === 'EMAIL_OTP' && !isVerified(user, 'email')) throw invalid('User has no verified email.')
}

/**
 * Called when an account, whose row is locked, gets its first second factor: ends all sign-ins that were made without
 * one and forgets their devices. They may belong to the person that the factor is meant to keep out.
 * @param keep the sign-in that continues, if any; its device is trusted again once it gives a second factor
 */
export async function signOutOthers(tx: Transaction, user: User, { context }: Call, keep?: SignIn): Promise<void> {
  await endSignIns(tx, user.id, 'mfa_turned_on', context.clock.now(), keep ? { keep: keep.id } : {})
  await tx.delete(signInSteps).where(eq(signInSteps.userId, user.id))
  const others = keep?.deviceKey ? ne(devices.key, keep.deviceKey) : undefined
  await tx.delete(devices).where(and(eq(devices.userId, user.id), others))
  await tx.update(devices).set({ remembered: false }).where(eq(devices.userId, user.id))
}

/**
 * Enables and disables second factors of an account whose row is locked.
 * @param keep the caller's sign-in, if any
 * @param forgetsAuthenticator whether a disabled authenticator is also deleted, because it is lost
 */
export async function preferFactors(
  tx: Transaction,
  user: User,
  pool: Pool,
  given: z.infer<typeof preferenceSchema>,
  call: Call,
  { keep, forgetsAuthenticator = false }: { keep?: SignIn; forgetsAuthenticator?: boolean } = {},
): Promise<void> {
  const settings = settingsOf(given)
  const enabled = new Set(user.mfa)
  let preferred = user.preferredMfa
  const requestedPreferred = mfaFactors.filter((factor) => settings[factor]?.PreferredMfa === true)
  if (requestedPreferred.length > 1) throw invalid('Only one MFA method can be preferred.')
  for (const factor of mfaFactors) {
    const requested = settings[factor]
    if (requested === undefined) continue
    if (requested.Enabled === true) {
      checkFactor(factor, user, pool.settings)
      enabled.add(factor)
    } else {
      enabled.delete(factor)
    }
    if (requested.PreferredMfa === true && !enabled.has(factor)) throw invalid('A preferred MFA method is enabled too.')
    if (requested.PreferredMfa === false && preferred === factor) preferred = null
  }
  preferred = requestedPreferred[0] ?? preferred
  if (preferred !== null && !enabled.has(preferred)) preferred = null
  const mfa = mfaFactors.filter((factor) => enabled.has(factor))
  const isLost =
    forgetsAuthenticator && user.sealedTotpSecret !== null && given.SoftwareTokenMfaSettings?.Enabled === false
  const isSame = !isLost && preferred === user.preferredMfa && mfa.join() === user.mfa.toSorted(byFactorOrder).join()
  if (isSame) return
  if (user.mfa.length === 0 && mfa.length > 0) await signOutOthers(tx, user, call, keep)
  const authenticator = isLost ? { sealedTotpSecret: null, totpLastStep: null } : {}
  await changeAccount(tx, user, { mfa, preferredMfa: preferred, ...authenticator }, ['mfa'], call)
}

/** Whether the change would disable an enabled factor. */
export function turnsOff(user: User, given: z.infer<typeof preferenceSchema>): boolean {
  const settings = settingsOf(given)
  return user.mfa.some((factor) => settings[factor] !== undefined && settings[factor].Enabled !== true)
}

const byFactorOrder = (one: MfaFactor, other: MfaFactor) => mfaFactors.indexOf(one) - mfaFactors.indexOf(other)
