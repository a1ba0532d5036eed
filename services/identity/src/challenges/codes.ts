import { readCode } from '@robokids/contracts/code'
import { attemptsExceeded, expiredCode, invalid, missing, wrongCode } from '../protocol/errors.ts'
import type { User } from '../schema.ts'
import { askForFactor, choicesOf } from '../sign-in/second-factor.ts'
import { complete, proceed } from '../sign-in/sign-in.ts'
import { addressesOf, judgeSentCode } from '../factors/sign-in-codes.ts'
import { countTry, uncountTry } from '../limits/code-limits.ts'
import { endStep, keepStep, type SignInProgress } from '../sign-in/sign-in-steps.ts'
import { openTotpSecret, totpStep } from '../factors/totp.ts'
import { chooseEmail } from './mfa-setup.ts'
import { accountOf, settled, type Answering, type Challenge } from './answering.ts'
import { eq } from 'drizzle-orm'
import { users } from '../schema.ts'

function given(responses: Record<string, string>, name: string): string {
  const code = responses[name]
  if (!code) throw missing(name)
  return code
}

/** Goes on after a code: it was the first factor, or the second and with it the last thing that was asked for. */
async function goOn({ tx, step, call, tokens }: Answering, first: NonNullable<SignInProgress['state']['firstFactor']>) {
  await endStep(tx, step)
  const progress = accountOf(step)
  const { state } = progress
  if (state.firstFactor !== undefined) {
    const user: User = await chooseEmail(tx, progress, call)
    return complete(tx, { ...progress, user }, call, tokens, { secondFactor: true })
  }
  return proceed(tx, { ...progress, state: { ...state, firstFactor: first } }, call, tokens)
}

/** Another second factor than the one that was asked for, of those that the step offers. */
async function chooseFactor({ tx, step, call }: Answering, choice: string) {
  if (!choicesOf(step).includes(choice)) throw invalid(`${choice} is not one of the factors to choose from.`)
  const progress = accountOf(step)
  await endStep(tx, step)
  const factor = choice as Parameters<typeof askForFactor>[2]
  return askForFactor(tx, progress, factor, await addressesOf(tx, progress.user), call)
}

/** A second factor that is asked for: its code, or the choice of another. */
const codeOrChoice = (judge: Parameters<typeof settled>[0]): Challenge =>
  settled((answering) => {
    const { ANSWER: choice } = answering.responses
    return choice ? chooseFactor(answering, choice) : judge(answering)
  })

const sentCode = (name: string, first: 'EMAIL_OTP' | 'SMS_OTP'): Challenge =>
  codeOrChoice(async (answering) => {
    const { tx, step, responses, call } = answering
    const refusal = await judgeSentCode(tx, step, given(responses, name), call)
    if (refusal) return keepStep(tx, step, refusal)
    return goOn(answering, first)
  })

export const emailCode = sentCode('EMAIL_OTP_CODE', 'EMAIL_OTP')
export const smsCode = sentCode('SMS_OTP_CODE', 'SMS_OTP')
export const smsMfa = sentCode('SMS_MFA_CODE', 'SMS_OTP')

/** The custom challenge's code: the first factor, or one more proof after a password. */
export const customChallenge = settled(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const refusal = await judgeSentCode(tx, step, given(responses, 'ANSWER'), call)
  if (refusal) return keepStep(tx, step, refusal)
  await endStep(tx, step)
  const progress = accountOf(step)
  const state =
    progress.state.firstFactor === undefined
      ? { ...progress.state, firstFactor: 'CUSTOM' as const }
      : { ...progress.state, mailProven: true }
  return proceed(tx, { ...progress, state }, call, tokens)
})

/** Codes of an authenticator that are right at any time, and some to spare. */
const rightAtOnce = 4

/** A code of the account's authenticator: a step is taken once, also by two sign-ins at once, since the account is locked. */
export const softwareToken = codeOrChoice(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const code = readCode(given(responses, 'SOFTWARE_TOKEN_MFA_CODE'))
  const progress = accountOf(step)
  const { user } = progress
  const { config, clock } = call.context
  const secret = openTotpSecret(user, config)
  // It was turned off in the meantime.
  if (secret === undefined) return expiredCode()
  const { deviceKey } = progress.state
  const guessed = { poolId: user.poolId, purpose: 'totp', subject: user.id, user, deviceKey }
  const most = Math.max(1, Math.floor(config.CODE_TRIES_A_DAY / rightAtOnce))
  if (!(await countTry(tx, guessed, most, call))) return attemptsExceeded()
  const taken = totpStep(secret, code, clock.now(), user.totpLastStep)
  if (taken === undefined) return keepStep(tx, step, wrongCode())
  await uncountTry(tx, guessed, call)
  await tx.update(users).set({ totpLastStep: taken }).where(eq(users.id, user.id))
  await endStep(tx, step)
  return complete(tx, progress, call, tokens, { secondFactor: true })
})

/** The choice of a second factor. */
export const selectMfaType = settled((answering) => chooseFactor(answering, given(answering.responses, 'ANSWER')))
