import type { ChallengeName } from '../sign-in/sign-in-steps.ts'
import type { Challenge } from './answering.ts'
import { customChallenge, emailCode, selectMfaType, smsCode, smsMfa, softwareToken } from './codes.ts'
import { devicePasswordVerifier, deviceSrpAuth } from './devices.ts'
import { mfaSetup } from './mfa-setup.ts'
import { newPasswordRequired } from './new-password.ts'
import { passwordVerifier } from './password-verifier.ts'
import { selectChallenge } from './select-challenge.ts'
import { webAuthn } from './web-authn.ts'

/** Challenge handlers by challenge name. */
export const challenges: Record<ChallengeName, Challenge> = {
  PASSWORD_VERIFIER: passwordVerifier,
  NEW_PASSWORD_REQUIRED: newPasswordRequired,
  SMS_MFA: smsMfa,
  EMAIL_OTP: emailCode,
  SMS_OTP: smsCode,
  SOFTWARE_TOKEN_MFA: softwareToken,
  SELECT_MFA_TYPE: selectMfaType,
  MFA_SETUP: mfaSetup,
  SELECT_CHALLENGE: selectChallenge,
  WEB_AUTHN: webAuthn,
  CUSTOM_CHALLENGE: customChallenge,
  DEVICE_SRP_AUTH: deviceSrpAuth,
  DEVICE_PASSWORD_VERIFIER: devicePasswordVerifier,
}
