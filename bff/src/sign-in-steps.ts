import type { MfaType, SignInStep } from '@robokids/contracts/auth'
import { firstFactors } from '@robokids/contracts/auth'
import { readCode } from '@robokids/contracts/code'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import { z } from 'zod'
import type { StepCookie } from './cookies.ts'
import type { AuthAnswer, Identity } from './identity.ts'

/** The next step of a sign-in: what the browser shows, and what the response to it needs. */
interface NextStep {
  shown: SignInStep
  /** The content of the cookie; absent if there is no further step. */
  kept?: Omit<StepCookie, 'until'>
}

/** The user's response to a step. */
interface Answer {
  answer: string | Record<string, unknown>
  attributes: Record<string, string>
  /** Whether it chooses another second factor instead. */
  instead: boolean
}

const mfaNames = { SOFTWARE_TOKEN_MFA: 'TOTP', SMS_MFA: 'SMS', EMAIL_OTP: 'EMAIL' } as const satisfies Record<
  string,
  MfaType
>
const mfaChallenges = { TOTP: 'SOFTWARE_TOKEN_MFA', SMS: 'SMS_MFA', EMAIL: 'EMAIL_OTP' } as const

const jsonList = z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text)))

function mfaTypes(list: string | undefined): MfaType[] {
  const names = jsonList.parse(list ?? '[]')
  return names.flatMap((name) => (Object.hasOwn(mfaNames, name) ? [mfaNames[name as keyof typeof mfaNames]] : []))
}

const isFirstFactor = (name: string): name is (typeof firstFactors)[number] =>
  (firstFactors as readonly string[]).includes(name)

/** The `otpauth:` URI for an authenticator app. */
export function totpUri(secret: string, account: string): string {
  const issuer = encodeURIComponent('Robo Kids Learning')
  return `otpauth://totp/${issuer}:${encodeURIComponent(account)}?secret=${secret}&issuer=${issuer}`
}

/** Translates the identity service's challenge into a step. `given` is the name that the user signs in with. */
export async function nextStep(
  answer: AuthAnswer,
  given: { username: string },
  identity: Identity,
  address: string,
): Promise<NextStep> {
  const { ChallengeName: challenge, ChallengeParameters: parameters, Session: challengeSession } = answer
  if (challenge === undefined || challengeSession === undefined)
    throw unavailable(new Error('a sign-in without a challenge'))
  const username = parameters['USER_ID_FOR_SRP'] ?? parameters['USERNAME'] ?? given.username
  const keep = (shown: SignInStep, kept: Partial<StepCookie> = {}): NextStep => ({
    shown,
    kept: { username, challenge, session: challengeSession, step: shown.step, ...kept },
  })
  const delivery = {
    medium: parameters['CODE_DELIVERY_DELIVERY_MEDIUM'] === 'SMS' ? ('SMS' as const) : ('EMAIL' as const),
    destination: parameters['CODE_DELIVERY_DESTINATION'] ?? '',
  }
  const choices = mfaTypes(parameters['MFAS_CAN_CHOOSE'])
  const others = (current: MfaType) => {
    const left = choices.filter((choice) => choice !== current)
    return left.length > 0 ? { others: left } : {}
  }
  switch (challenge) {
    case 'NEW_PASSWORD_REQUIRED': {
      const required = jsonList.parse(parameters['requiredAttributes'] ?? '[]')
      const missingAttributes = required.map((name) => name.replace(/^userAttributes\./, ''))
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED', missingAttributes })
    }
    case 'SMS_MFA':
    case 'SMS_OTP':
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_SMS_CODE', delivery, ...others('SMS') })
    case 'EMAIL_OTP':
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE', delivery, ...others('EMAIL') })
    case 'SOFTWARE_TOKEN_MFA':
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE', ...others('TOTP') })
    case 'SELECT_MFA_TYPE':
      return keep({ step: 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION', choices })
    case 'MFA_SETUP': {
      const choices = mfaTypes(parameters['MFAS_CAN_SETUP'])
      if (choices.length > 1) return keep({ step: 'CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION', choices })
      if (choices[0] === 'EMAIL') return keep({ step: 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP' })
      return beginTotp({ username, challengeSession }, identity, address)
    }
    case 'SELECT_CHALLENGE': {
      const offered = answer.AvailableChallenges ?? jsonList.parse(parameters['AVAILABLE_CHALLENGES'] ?? '[]')
      // The BFF has the password itself, so it does not need SRP.
      const choices = offered.filter(isFirstFactor).filter((factor) => factor !== 'PASSWORD_SRP')
      return keep({ step: 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION', choices })
    }
    case 'WEB_AUTHN': {
      const options = z
        .record(z.string(), z.unknown())
        .parse(JSON.parse(parameters['CREDENTIAL_REQUEST_OPTIONS'] ?? '{}'))
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_PASSKEY', options })
    }
    case 'CUSTOM_CHALLENGE':
      return keep({ step: 'CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE', parameters })
    default:
      return keep({ step: 'UNKNOWN', name: challenge })
  }
}

/** Starts the setup of an authenticator app during a sign-in. */
async function beginTotp(
  { username, challengeSession }: { username: string; challengeSession: string },
  identity: Identity,
  address: string,
): Promise<NextStep> {
  const { SecretCode, Session } = await identity.call('AssociateSoftwareToken', { Session: challengeSession }, address)
  return {
    shown: { step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP', secret: SecretCode, uri: totpUri(SecretCode, username) },
    kept: {
      username,
      challenge: 'MFA_SETUP',
      session: Session ?? challengeSession,
      step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP',
    },
  }
}

/** Responds to the step in the cookie. @returns the service's response, or the BFF's own next step. */
export async function answerStep(
  kept: StepCookie,
  given: Answer,
  identity: Identity,
  address: string,
): Promise<{ answer: AuthAnswer } | { next: NextStep }> {
  const { challenge, username, session: challengeSession } = kept
  const respond = async (responses: Record<string, string>, newSession = challengeSession) => ({
    answer: await identity.respond({ challenge, username, challengeSession: newSession }, responses, address),
  })
  const text = typeof given.answer === 'string' ? given.answer : JSON.stringify(given.answer)
  const choice = text.trim()
  if (given.instead && Object.hasOwn(mfaNames, challenge)) return respond({ ANSWER: mfaChallengeOf(choice) })
  switch (challenge) {
    case 'NEW_PASSWORD_REQUIRED':
      return respond({
        NEW_PASSWORD: text,
        ...Object.fromEntries(
          Object.entries(given.attributes).map(([name, value]) => [`userAttributes.${name}`, value]),
        ),
      })
    case 'SMS_MFA':
      return respond({ SMS_MFA_CODE: readCode(text) })
    case 'SMS_OTP':
      return respond({ SMS_OTP_CODE: readCode(text) })
    case 'EMAIL_OTP':
      return respond({ EMAIL_OTP_CODE: readCode(text) })
    case 'SOFTWARE_TOKEN_MFA':
      return respond({ SOFTWARE_TOKEN_MFA_CODE: readCode(text) })
    case 'SELECT_MFA_TYPE':
      return respond({ ANSWER: mfaChallengeOf(choice) })
    case 'MFA_SETUP': {
      if (kept.step === 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP') return respond({ EMAIL: choice })
      if (kept.step === 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP') {
        const verified = await identity.call(
          'VerifySoftwareToken',
          { Session: challengeSession, UserCode: readCode(text) },
          address,
        )
        return respond({}, verified.Session)
      }
      if (mfaChallengeOf(choice) === 'EMAIL_OTP') {
        const step = 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP' as const
        return { next: { shown: { step }, kept: { ...kept, step } } }
      }
      return { next: await beginTotp({ username, challengeSession }, identity, address) }
    }
    case 'SELECT_CHALLENGE': {
      // The service expects the choice and the password in one response, so the BFF asks for the password first.
      if (kept.step === 'CONFIRM_SIGN_IN_WITH_PASSWORD') return respond({ ANSWER: 'PASSWORD', PASSWORD: text })
      if (choice === 'PASSWORD' || choice === 'PASSWORD_SRP') {
        const step = 'CONFIRM_SIGN_IN_WITH_PASSWORD' as const
        return { next: { shown: { step }, kept: { ...kept, step } } }
      }
      return respond({ ANSWER: choice })
    }
    case 'WEB_AUTHN':
      return respond({ CREDENTIAL: text })
    default:
      return respond({ ANSWER: text })
  }
}

function mfaChallengeOf(choice: string): string {
  if (Object.hasOwn(mfaChallenges, choice)) return mfaChallenges[choice as MfaType]
  throw new DomainError('validation_failed', 'multi-factor choice must be TOTP, SMS or EMAIL', [
    { path: 'answer', message: 'Choose one of the options shown.' },
  ])
}
