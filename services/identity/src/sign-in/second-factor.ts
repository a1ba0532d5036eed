import type { Transaction } from '@robokids/runtime/db'
import { z } from 'zod'
import { expiredSession, IdentityError } from '../protocol/errors.ts'
import type { MfaFactor } from '../pools/pool-settings.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import { issueCodeChallenge, type Addresses } from '../factors/sign-in-codes.ts'
import { issueChallenge, type AuthAnswer, type SignInProgress } from './sign-in-steps.ts'

/**
 * What a sign-in still needs after its first factor: nothing, one of these factors, the setup of one of them, or
 * another kind of proof, because all second factors use the channel of the first.
 */
export type SecondFactor =
  | { need: 'nothing' }
  | { need: 'other_proof' }
  | { need: 'one_of' | 'set_up'; factors: MfaFactor[] }

const nothing = { need: 'nothing' } as const

/**
 * Whether the first factor used the same channel, so that this one adds nothing. A password that was reset by a code
 * proves only that mailbox.
 */
function isSameChannel(factor: MfaFactor, { user, state }: SignInProgress & { user: User }): boolean {
  const first = state.firstFactor === 'PASSWORD' ? user.resetBy : state.firstFactor
  if (factor === 'EMAIL_OTP') return first === 'EMAIL' || first === 'EMAIL_OTP' || first === 'CUSTOM'
  return factor === 'SMS_MFA' && (first === 'SMS' || first === 'SMS_OTP')
}

/** Whether a factor can be used at all. If none of the enabled ones can, any ready one is accepted. */
function isReady(factor: MfaFactor, user: User, addresses: Addresses): boolean {
  if (factor === 'SOFTWARE_TOKEN_MFA') return user.sealedTotpSecret !== null
  return addresses[factor === 'SMS_MFA' ? 'SMS' : 'EMAIL'] !== undefined
}

export function secondFactorOf(progress: SignInProgress & { user: User }, addresses: Addresses): SecondFactor {
  const {
    client: { pool },
    user,
    state,
  } = progress
  const { mfa, mfaFactors } = pool.settings
  if (mfa === 'OFF' || state.personVerified) return nothing
  const chosen = mfaFactors.filter((factor) => user.mfa.includes(factor))
  if (chosen.length === 0 && mfa === 'OPTIONAL') return nothing
  const ready = mfaFactors.filter((factor) => isReady(factor, user, addresses))
  const chosenReady = chosen.filter((factor) => ready.includes(factor))
  // An account with enabled factors always needs one, even if those can no longer be used.
  const factors = chosenReady.length > 0 ? chosenReady : ready
  const isNew = (factor: MfaFactor) => !isSameChannel(factor, progress)
  if (state.mailProven && factors.includes('EMAIL_OTP') && isNew('EMAIL_OTP')) return nothing
  const left = factors.filter(isNew)
  if (left.length > 0) return { need: 'one_of', factors: left }
  const able = mfaFactors.filter((factor) => factor !== 'SMS_MFA' && isNew(factor))
  if (chosen.length === 0 && able.length > 0) return { need: 'set_up', factors: able }
  // Not enabled by the user, but better than being locked out.
  const others = user.resetBy === null ? [] : ready.filter(isNew)
  return others.length > 0 ? { need: 'one_of', factors: others } : { need: 'other_proof' }
}

/** For an account whose only second factor is the same as its first. */
export const otherProofNeeded = ({ user, state }: SignInProgress & { user: User }) =>
  new IdentityError(
    'MFAMethodNotFoundException',
    state.firstFactor === 'PASSWORD' && user.resetBy !== null
      ? 'You reset your password with a code sent the same way as your second step. Log in once with a passkey, or in a browser you’ve logged in with before.'
      : 'Please log in another way: your second step can’t be the same as your first.',
  )

/** Issues a second factor: the only one, the preferred one, or a choice. */
export async function issueSecondFactorChallenge(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  second: Extract<SecondFactor, { factors: MfaFactor[] }>,
  addresses: Addresses,
  call: Call,
): Promise<AuthAnswer> {
  const { factors } = second
  if (second.need === 'set_up') {
    return issueChallenge(tx, fresh(progress), 'MFA_SETUP', { MFAS_CAN_SETUP: JSON.stringify(factors) }, call)
  }
  const preferred = factors.find((factor) => factor === progress.user.preferredMfa)
  const one = preferred ?? (factors.length === 1 ? factors[0] : undefined)
  const choosing = { ...progress, state: { ...progress.state, step: { factors } } }
  if (one !== undefined) return issueFactorChallenge(tx, choosing, one, addresses, call)
  return issueChallenge(tx, choosing, 'SELECT_MFA_TYPE', { MFAS_CAN_CHOOSE: JSON.stringify(factors) }, call)
}

const fresh = (progress: SignInProgress) => ({ ...progress, state: { ...progress.state, step: {} } })

/** The second factors that a step offers. */
export const choicesOf = ({ state }: SignInProgress): string[] =>
  z.array(z.string()).catch([]).parse(state.step['factors'])

/**
 * Issues one second factor. Not in the public protocol: the step lists the account's other factors and accepts one of
 * them as `ANSWER`, for people who have lost the preferred one.
 */
export async function issueFactorChallenge(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  factor: MfaFactor,
  addresses: Addresses,
  call: Call,
): Promise<AuthAnswer> {
  const factors = choicesOf(progress)
  const parameters: Record<string, string> = factors.length > 1 ? { MFAS_CAN_CHOOSE: JSON.stringify(factors) } : {}
  if (factor === 'SOFTWARE_TOKEN_MFA') {
    return issueChallenge(
      tx,
      { ...progress, state: { ...progress.state, step: { factors } } },
      factor,
      parameters,
      call,
    )
  }
  const medium = factor === 'SMS_MFA' ? 'SMS' : 'EMAIL'
  const destination = addresses[medium]
  if (destination === undefined) throw expiredSession()
  return issueCodeChallenge(tx, progress, factor, { medium, destination }, call, parameters)
}
