import type { Transaction } from '@robokids/runtime/db'
import { IdentityError, invalid } from '../errors.ts'
import type { Call } from '../protocol.ts'
import type { AuthAnswer, ChallengeName, OpenStep } from '../sign-in.ts'
import type { Tokens } from '../tokens.ts'

/** A client's answer to a step, with the step's and the account's rows locked. */
export interface Answering {
  tx: Transaction
  step: OpenStep
  responses: Record<string, string>
  call: Call
  tokens: Tokens
}

/**
 * Judges an answer and goes on. It ends the step (`endStep`) where it is over; a wrong answer is returned as a refusal
 * (`keepStep`), so that it counts.
 */
export type Challenge = (answering: Answering) => Promise<AuthAnswer | IdentityError>

const notYet: Challenge = async () => invalid('Not there yet')

export const challenges: Record<ChallengeName, Challenge> = {
  PASSWORD_VERIFIER: notYet,
  NEW_PASSWORD_REQUIRED: notYet,
  SMS_MFA: notYet,
  EMAIL_OTP: notYet,
  SMS_OTP: notYet,
  SOFTWARE_TOKEN_MFA: notYet,
  SELECT_MFA_TYPE: notYet,
  MFA_SETUP: notYet,
  SELECT_CHALLENGE: notYet,
  PASSWORD: notYet,
  PASSWORD_SRP: notYet,
  WEB_AUTHN: notYet,
  CUSTOM_CHALLENGE: notYet,
  DEVICE_SRP_AUTH: notYet,
  DEVICE_PASSWORD_VERIFIER: notYet,
}
