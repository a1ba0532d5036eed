import type { CodeDelivery, Profile, SignInStep } from '@robokids/contracts/auth'
import { type Answer, answer } from '../api/answer.ts'
import confirmSignUpAnswerShape from '../api/answers/confirm-sign-up-answer.json'
import deliveryAnswerShape from '../api/answers/delivery-answer.json'
import passkeyOptionsShape from '../api/answers/passkey-options.json'
import profileShape from '../api/answers/profile.json'
import signInStepShape from '../api/answers/sign-in-step.json'
import signUpAnswerShape from '../api/answers/sign-up-answer.json'
import totpSetUpShape from '../api/answers/totp-set-up.json'

export const confirmSignUpAnswer = answer<{ signedIn: boolean }>(confirmSignUpAnswerShape)
export const deliveryAnswer = answer<{ delivery: CodeDelivery }>(deliveryAnswerShape)
export const passkeyOptions = answer<{ options: Record<string, unknown> }>(passkeyOptionsShape)
export const profile = answer<Profile>(profileShape)
export const signUpAnswer = answer<{ delivery: CodeDelivery | null; confirmed: boolean }>(signUpAnswerShape)
export const totpSetUp = answer<{ secret: string; uri: string }>(totpSetUpShape)
/** A step exactly as in the contract; `signInStep` also accepts unknown steps. */
export const knownSignInStep = answer<SignInStep>(signInStepShape)

/**
 * The next step of a sign-in. A step of another name, from a newer server, becomes `UNKNOWN`; the new-password step may
 * come by its short name.
 */
export const signInStep: Answer<SignInStep> = {
  safeParse(content) {
    const known = knownSignInStep.safeParse(content)
    if (known.success) return known
    const name = typeof content === 'object' && content && 'step' in content ? content.step : undefined
    if (typeof name !== 'string') return { success: false }
    if (name === 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD')
      return { success: true, data: { step: 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED', missingAttributes: [] } }
    return { success: true, data: { step: 'UNKNOWN', name } }
  },
}
