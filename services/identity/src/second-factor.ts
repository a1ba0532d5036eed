import type { Transaction } from '@robokids/runtime/db'
import { expiredSession, IdentityError } from './errors.ts'
import type { MfaFactor } from './pool-settings.ts'
import type { Call } from './protocol.ts'
import type { User } from './schema.ts'
import { askForCode, type Addresses } from './sign-in-codes.ts'
import { ask, type AuthAnswer, type SignInProgress } from './sign-in-steps.ts'

/** What a sign-in still needs after its first factor: nothing, one of these factors, or one of these set up first. */
export type SecondFactor = { need: 'nothing' } | { need: 'one_of' | 'set_up'; factors: MfaFactor[] }

const nothing = { need: 'nothing' } as const

/** Proven by the first factor already: it is no second one. */
function isSameChannel(factor: MfaFactor, first: SignInProgress['state']['firstFactor']): boolean {
  if (factor === 'EMAIL_OTP') return first === 'EMAIL_OTP' || first === 'CUSTOM'
  return factor === 'SMS_MFA' && first === 'SMS_OTP'
}

/** Where a second factor is required and none that was chosen can be used, any that is ready is. */
function isReady(factor: MfaFactor, user: User, addresses: Addresses): boolean {
  if (factor === 'SOFTWARE_TOKEN_MFA') return user.sealedTotpSecret !== null
  return addresses[factor === 'SMS_MFA' ? 'SMS' : 'EMAIL'] !== undefined
}

/** @throws IdentityError MFAMethodNotFoundException where one is needed and no other can be had than the one that was the first. */
export function secondFactorOf(
  { client: { pool }, user, state }: SignInProgress & { user: User },
  addresses: Addresses,
): SecondFactor {
  const { mfa, mfaFactors } = pool.settings
  if (mfa === 'OFF' || state.personVerified) return nothing
  const chosen = mfaFactors.filter((factor) => user.mfa.includes(factor))
  if (chosen.length === 0 && mfa === 'OPTIONAL') return nothing
  const ready = mfaFactors.filter((factor) => isReady(factor, user, addresses))
  const chosenReady = chosen.filter((factor) => ready.includes(factor))
  // Whoever chose one is asked for one, even where it cannot be used any more.
  const factors = chosenReady.length > 0 ? chosenReady : ready
  if (state.mailProven && factors.includes('EMAIL_OTP')) return nothing
  const left = factors.filter((factor) => !isSameChannel(factor, state.firstFactor))
  if (left.length > 0) return { need: 'one_of', factors: left }
  const able = mfaFactors.filter((factor) => factor !== 'SMS_MFA' && !isSameChannel(factor, state.firstFactor))
  if (chosen.length === 0 && able.length > 0) return { need: 'set_up', factors: able }
  throw new IdentityError(
    'MFAMethodNotFoundException',
    'Sign in another way: your second factor is the same as your first.',
  )
}

/** Asks for a second factor: the only one, the preferred one, or a choice. */
export async function askSecondFactor(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  second: Exclude<SecondFactor, { need: 'nothing' }>,
  addresses: Addresses,
  call: Call,
): Promise<AuthAnswer> {
  const { factors } = second
  if (second.need === 'set_up') {
    return ask(tx, fresh(progress), 'MFA_SETUP', { MFAS_CAN_SETUP: JSON.stringify(factors) }, call)
  }
  const preferred = factors.find((factor) => factor === progress.user.preferredMfa)
  const one = preferred ?? (factors.length === 1 ? factors[0] : undefined)
  if (one !== undefined) return askForFactor(tx, progress, one, addresses, call)
  const choosing = { ...progress, state: { ...progress.state, step: { factors } } }
  return ask(tx, choosing, 'SELECT_MFA_TYPE', { MFAS_CAN_CHOOSE: JSON.stringify(factors) }, call)
}

const fresh = (progress: SignInProgress) => ({ ...progress, state: { ...progress.state, step: {} } })

export async function askForFactor(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  factor: MfaFactor,
  addresses: Addresses,
  call: Call,
): Promise<AuthAnswer> {
  if (factor === 'SOFTWARE_TOKEN_MFA') return ask(tx, fresh(progress), factor, {}, call)
  const medium = factor === 'SMS_MFA' ? 'SMS' : 'EMAIL'
  const destination = addresses[medium]
  if (destination === undefined) throw expiredSession()
  return askForCode(tx, progress, factor, { medium, destination }, call)
}
