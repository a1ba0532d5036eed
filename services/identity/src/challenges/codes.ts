import { readCode } from '@robokids/contracts/code'
import { attemptsExceeded, expiredCode, invalid, missing, wrongCode } from '../protocol/errors.ts'
import type { User } from '../schema.ts'
import { issueFactorChallenge, choicesOf } from '../sign-in/second-factor.ts'
import { complete, proceed } from '../sign-in/sign-in.ts'
import { addressesOf, checkSentCode } from '../factors/sign-in-codes.ts'
import { countTry, revertTry } from '../limits/code-limits.ts'
import { endStep, keepStep, type SignInProgress } from '../sign-in/sign-in-steps.ts'
import { openTotpSecret, totpStep } from '../factors/totp.ts'
import { chooseEmail } from './mfa-setup.ts'
import { requireAccount, onLockedStep, type Answering, type Challenge } from './answering.ts'
import { eq } from 'drizzle-orm'
import { users } from '../schema.ts'

function requiredResponse(responses: Record<string, string>, name: string): string {
  const code = responses[name]
  if (!code) throw missing(name)
  return code
}

/** Continues after a correct code: it was the first factor, or the second and with it the last step. */
async function continueSignIn(
  { tx, step, call, tokens }: Answering,
  first: NonNullable<SignInProgress['state']['firstFactor']>,
) {
  await endStep(tx, step)
  const progress = requireAccount(step)
  const { state } = progress
  if (state.firstFactor !== undefined) {
    const user: User = await chooseEmail(tx, progress, call)
    return complete(tx, { ...progress, user }, call, tokens, { secondFactor: true })
  }
  return proceed(tx, { ...progress, state: { ...state, firstFactor: first } }, call, tokens)
}

/** Switches to another second factor that the step offers. */
async function chooseFactor({ tx, step, call }: Answering, choice: string) {
  if (!choicesOf(step).includes(choice)) throw invalid(`${choice} is not one of the factors to choose from.`)
  const progress = requireAccount(step)
  await endStep(tx, step)
  const factor = choice as Parameters<typeof issueFactorChallenge>[2]
  return issueFactorChallenge(tx, progress, factor, await addressesOf(tx, progress.user), call)
}

/** Handles a second factor's code, or the choice of another factor. */
const onCodeOrChoice = (handle: Parameters<typeof onLockedStep>[0]): Challenge =>
  onLockedStep((answering) => {
    const { ANSWER: choice } = answering.responses
    return choice ? chooseFactor(answering, choice) : handle(answering)
  })

const sentCode = (name: string, first: 'EMAIL_OTP' | 'SMS_OTP'): Challenge =>
  onCodeOrChoice(async (answering) => {
    const { tx, step, responses, call } = answering
    const error = await checkSentCode(tx, step, requiredResponse(responses, name), call)
    if (error) return keepStep(tx, step, error)
    return continueSignIn(answering, first)
  })

export const emailCode = sentCode('EMAIL_OTP_CODE', 'EMAIL_OTP')
export const smsCode = sentCode('SMS_OTP_CODE', 'SMS_OTP')
export const smsMfa = sentCode('SMS_MFA_CODE', 'SMS_OTP')

/** The custom challenge's code: the first factor, or an additional proof after a password. */
export const customChallenge = onLockedStep(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const error = await checkSentCode(tx, step, requiredResponse(responses, 'ANSWER'), call)
  if (error) return keepStep(tx, step, error)
  await endStep(tx, step)
  const progress = requireAccount(step)
  const state =
    progress.state.firstFactor === undefined
      ? { ...progress.state, firstFactor: 'CUSTOM' as const }
      : { ...progress.state, mailProven: true }
  return proceed(tx, { ...progress, state }, call, tokens)
})

/** Authenticator codes that are valid at any one time (three), plus a margin. */
const validCodesAtOnce = 4

/**
 * A code of the account's authenticator. The locked account ensures that each time step is accepted once, even in
 * parallel sign-ins.
 */
export const softwareToken = onCodeOrChoice(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const code = readCode(requiredResponse(responses, 'SOFTWARE_TOKEN_MFA_CODE'))
  const progress = requireAccount(step)
  const { user } = progress
  const { config, clock } = call.context
  const secret = openTotpSecret(user, config)
  // The authenticator was turned off since the challenge was issued.
  if (secret === undefined) return expiredCode()
  const { deviceKey } = progress.state
  const guessed = { poolId: user.poolId, purpose: 'totp', subject: user.id, user, deviceKey }
  const max = Math.max(1, Math.floor(config.CODE_TRIES_A_DAY / validCodesAtOnce))
  if (!(await countTry(tx, guessed, max, call))) return attemptsExceeded()
  const taken = totpStep(secret, code, clock.now(), user.totpLastStep)
  if (taken === undefined) return keepStep(tx, step, wrongCode())
  await revertTry(tx, guessed, call)
  await tx.update(users).set({ totpLastStep: taken }).where(eq(users.id, user.id))
  await endStep(tx, step)
  return complete(tx, progress, call, tokens, { secondFactor: true })
})

export const selectMfaType = onLockedStep((answering) =>
  chooseFactor(answering, requiredResponse(answering.responses, 'ANSWER')),
)
