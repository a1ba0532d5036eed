import type { MfaType, SignInStep } from '@robokids/contracts/auth'
import { firstFactors } from '@robokids/contracts/auth'
import { readCode } from '@robokids/contracts/code'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import { z } from 'zod'
import type { StepCookie } from './cookies.ts'
import type { AuthAnswer, Identity } from './identity.ts'

/** What a sign-in has come to: the step that the browser is shown, and what its answer will need. */
interface Asked {
  shown: SignInStep
  /** To be kept in the cookie; left out where nothing more is asked. */
  kept?: Omit<StepCookie, 'until'>
}

/** How a person's answer is told to the identity service. */
interface Answer {
  answer: string | Record<string, unknown>
  attributes: Record<string, string>
  /** It names another second factor than the one that is asked for. */
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

/** `otpauth:` address of an authenticator app's account. */
export function totpUri(secret: string, account: string): string {
  const issuer = encodeURIComponent('Robo Kids Learning')
  return `otpauth://totp/${issuer}:${encodeURIComponent(account)}?secret=${secret}&issuer=${issuer}`
}

/** Reads what the identity service asks for. `given` is the name that the person signs in by. */
export async function nextStep(
  answer: AuthAnswer,
  given: { username: string },
  identity: Identity,
  address: string,
): Promise<Asked> {
  const { ChallengeName: challenge, ChallengeParameters: parameters, Session: session } = answer
  if (challenge === undefined || session === undefined) throw unavailable(new Error('a sign-in asked for nothing'))
  const username = parameters['USER_ID_FOR_SRP'] ?? parameters['USERNAME'] ?? given.username
  const keep = (shown: SignInStep, kept: Partial<StepCookie> = {}): Asked => ({
    shown,
    kept: { username, challenge, session, step: shown.step, ...kept },
  })
  const delivery = {
    medium: parameters['CODE_DELIVERY_DELIVERY_MEDIUM'] === 'SMS' ? ('SMS' as const) : ('EMAIL' as const),
    destination: parameters['CODE_DELIVERY_DESTINATION'] ?? '',
  }
  const choices = mfaTypes(parameters['MFAS_CAN_CHOOSE'])
  const others = (asked: MfaType) => {
    const left = choices.filter((choice) => choice !== asked)
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
      return beginTotp({ username, session }, identity, address)
    }
    case 'SELECT_CHALLENGE': {
      const offered = answer.AvailableChallenges ?? jsonList.parse(parameters['AVAILABLE_CHALLENGES'] ?? '[]')
      // The BFF has the password itself: it needs no proof of it by SRP.
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

/** Begins the set-up of an authenticator app in the middle of a sign-in. */
async function beginTotp(
  { username, session }: { username: string; session: string },
  identity: Identity,
  address: string,
): Promise<Asked> {
  const { SecretCode, Session } = await identity.call('AssociateSoftwareToken', { Session: session }, address)
  return {
    shown: { step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP', secret: SecretCode, uri: totpUri(SecretCode, username) },
    kept: {
      username,
      challenge: 'MFA_SETUP',
      session: Session ?? session,
      step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP',
    },
  }
}

/** Answers the step that the cookie holds. @returns the service's answer, or what our own step leads to. */
export async function answerStep(
  kept: StepCookie,
  given: Answer,
  identity: Identity,
  address: string,
): Promise<{ answer: AuthAnswer } | { asked: Asked }> {
  const { challenge, session } = kept
  const respond = async (responses: Record<string, string>, changed: { session?: string } = {}) => ({
    answer: await identity.respond({ ...kept, ...changed }, responses, address),
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
          { Session: session, UserCode: readCode(text) },
          address,
        )
        return respond({}, { session: verified.Session ?? session })
      }
      if (mfaChallengeOf(choice) === 'EMAIL_OTP') {
        const step = 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP' as const
        return { asked: { shown: { step }, kept: { ...kept, step } } }
      }
      return { asked: await beginTotp(kept, identity, address) }
    }
    case 'SELECT_CHALLENGE': {
      // Choosing the password asks for it first; the service wants both in one answer.
      if (kept.step === 'CONFIRM_SIGN_IN_WITH_PASSWORD') return respond({ ANSWER: 'PASSWORD', PASSWORD: text })
      if (choice === 'PASSWORD' || choice === 'PASSWORD_SRP') {
        const step = 'CONFIRM_SIGN_IN_WITH_PASSWORD' as const
        return { asked: { shown: { step }, kept: { ...kept, step } } }
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
    { path: 'answer', message: 'Choose one of those that are offered.' },
  ])
}
