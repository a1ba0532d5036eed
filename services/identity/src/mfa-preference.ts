import type { Transaction } from '@robokids/runtime/db'
import { z } from 'zod'
import { changeAccount } from './accounts.ts'
import { invalid } from './errors.ts'
import { mfaFactors, type MfaFactor, type PoolSettings } from './pool-settings.ts'
import type { Pool } from './pools.ts'
import type { Call } from './protocol.ts'
import type { User } from './schema.ts'
import { isVerified } from './users.ts'

const setting = z.object({ Enabled: z.boolean().optional(), PreferredMfa: z.boolean().optional() }).optional()

/** Which second factors are to be on, and which comes first; what is left out stays. */
export const preferenceSchema = z.object({
  SoftwareTokenMfaSettings: setting,
  SMSMfaSettings: setting,
  EmailMfaSettings: setting,
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
 * Turns second factors of an account on and off, whose row is locked.
 * @param forgets whether an authenticator that is turned off is forgotten as well: it is lost.
 */
export async function preferFactors(
  tx: Transaction,
  user: User,
  pool: Pool,
  given: z.infer<typeof preferenceSchema>,
  call: Call,
  { forgets = false } = {},
): Promise<void> {
  const settings = {
    SOFTWARE_TOKEN_MFA: given.SoftwareTokenMfaSettings,
    SMS_MFA: given.SMSMfaSettings,
    EMAIL_OTP: given.EmailMfaSettings,
  }
  const enabled = new Set(user.mfa)
  let preferred = user.preferredMfa
  const wished = mfaFactors.filter((factor) => settings[factor]?.PreferredMfa === true)
  if (wished.length > 1) throw invalid('Only one MFA method can be preferred.')
  for (const factor of mfaFactors) {
    const wish = settings[factor]
    if (wish === undefined) continue
    if (wish.Enabled === true) {
      checkFactor(factor, user, pool.settings)
      enabled.add(factor)
    } else {
      enabled.delete(factor)
    }
    if (wish.PreferredMfa === true && !enabled.has(factor)) throw invalid('A preferred MFA method is enabled too.')
    if (wish.PreferredMfa === false && preferred === factor) preferred = null
  }
  preferred = wished[0] ?? preferred
  if (preferred !== null && !enabled.has(preferred)) preferred = null
  const mfa = mfaFactors.filter((factor) => enabled.has(factor))
  const isLost = forgets && user.sealedTotpSecret !== null && given.SoftwareTokenMfaSettings?.Enabled === false
  const isSame = !isLost && preferred === user.preferredMfa && mfa.join() === user.mfa.toSorted(byTable).join()
  if (isSame) return
  const authenticator = isLost ? { sealedTotpSecret: null, totpLastStep: null } : {}
  await changeAccount(tx, user, { mfa, preferredMfa: preferred, ...authenticator }, ['mfa'], call)
}

const byTable = (one: MfaFactor, other: MfaFactor) => mfaFactors.indexOf(one) - mfaFactors.indexOf(other)
