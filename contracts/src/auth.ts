import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { readCode } from './code.ts'
import * as field from './fields.ts'

/** What a person types as it is: passwords are never trimmed. */
const typed = (label: string, max: number) =>
  z
    .string({ error: `${label} is required.` })
    .min(1, { error: `${label} is required.` })
    .max(max, { error: `${label} is too long.` })

const username = (operation: string) =>
  z
    .string({ error: `username is required to ${operation}` })
    .trim()
    .min(1, { error: `username is required to ${operation}` })
    .max(254, { error: 'Email is too long.' })
    .regex(/^[^\s\p{C}\p{Z}]+$/u, { error: 'Enter an email address, like name@example.com.' })
const password = (operation: string) =>
  z
    .string({ error: `password is required to ${operation}` })
    .min(1, { error: `password is required to ${operation}` })
    .max(256, { error: 'Password is too long.' })
const confirmationCode = z
  .string({ error: 'code is required to confirmSignUp' })
  .max(64, { error: 'Code is too long.' })
  .transform(readCode)
  .refine((code) => code !== '', { error: 'code is required to confirmSignUp' })

export const membershipPlans = ['monthly', 'yearly'] as const
export type MembershipPlan = (typeof membershipPlans)[number]

/** Digits alone; ten of them get the prefix +1, others a plus. */
export function normalizePhoneNumber(typed: string): string {
  const digits = typed.replaceAll(/\D/g, '')
  return digits.length === 10 ? `+1${digits}` : `+${digits}`
}

/** `street, city, state zip` */
export function composeAddress(address: { street: string; city: string; state: string; zip: string }): string {
  return `${address.street}, ${address.city}, ${address.state} ${address.zip}`
}

const profileFields = {
  given_name: field.requiredLine('First name', 100),
  family_name: field.requiredLine('Last name', 100),
  birthdate: z.iso.date({ error: 'Enter your date of birth.' }),
  phone_number: z
    .string({ error: 'Phone number is required.' })
    .transform(normalizePhoneNumber)
    .pipe(z.string().regex(/^\+[1-9]\d{7,14}$/, { error: 'Enter a phone number with its area code.' })),
  street: field.requiredLine('Street', 200),
  city: field.city,
  state: field.state,
  zip: field.zipCode,
}

/**
 * `POST /api/auth/sign-up`: the membership's registration. `birthdate` must be that of an adult (`latestAdultBirthdate`).
 * `middle_name` is a decoy that no person sees: a filled one is answered as if it had worked, and nothing happens.
 */
export const signUpBodySchema = z.object({
  email: field.email,
  password: password('signUp'),
  ...profileFields,
  middle_name: z.string().max(200).optional(),
})
export type SignUpBody = z.input<typeof signUpBodySchema>

/** Where a code was sent, masked as the identity service masks it (`m***@e***`, `+*******1234`). */
const deliverySchema = z.object({ medium: z.enum(['EMAIL', 'SMS']), destination: z.string() })
export type CodeDelivery = z.infer<typeof deliverySchema>

/**
 * The answer to `POST /api/auth/sign-up`. The session cookie remembers for 3 minutes who signed up, and with what, sealed:
 * the confirmation (here or in another tab) then signs in by itself.
 */
export const signUpAnswerSchema = z.object({ delivery: deliverySchema.nullable(), confirmed: z.boolean() })

/**
 * `POST /api/auth/confirm-sign-up`. 400 `password_required` where the browser is not the one that signed up with the
 * address: the `password` says whose account the code confirms, since anybody can have a code sent to somebody's address.
 */
export const confirmSignUpBodySchema = z.object({
  email: username('confirmSignUp'),
  code: confirmationCode,
  password: password('confirmSignUp').optional(),
})
/** Whether the person is signed in now, having signed up in this browser a moment ago. */
export const confirmSignUpAnswerSchema = z.object({ signedIn: z.boolean() })

/** `POST /api/auth/resend-code` and `POST /api/auth/forgot-password`. */
export const nameBodySchema = z.object({ email: username('signIn') })
export const deliveryAnswerSchema = z.object({ delivery: deliverySchema })

/** `POST /api/auth/confirm-forgot-password`. */
export const resetPasswordBodySchema = z.object({
  email: username('signIn'),
  code: confirmationCode,
  password: password('signIn'),
})

/**
 * `POST /api/auth/auto-sign-in` (no body), asked every 5 s for up to 3 min after a sign-up: `waiting` while the account
 * is not confirmed (perhaps in another tab), then the step of the sign-in, `DONE` as a rule. 401 `sign_in_step_expired`
 * with 'The account was not confirmed on time.' after the 3 minutes.
 */

/** What a second factor is called on the screen and in answers. */
export const mfaTypes = ['TOTP', 'SMS', 'EMAIL'] as const
export type MfaType = (typeof mfaTypes)[number]
export const firstFactors = ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const

/** JSON of the WebAuthn standard (`PublicKeyCredential…OptionsJSON`, `RegistrationResponseJSON`), handed on as it is. */
const webAuthnJson = z.record(z.string(), z.unknown())

/** The account's second factors besides the one that a step asks for: whoever cannot give that one may choose of these. */
const others = z.array(z.enum(mfaTypes)).optional()

/** What comes next in a sign-in. Names are those of the identity client; `waiting` is ours. */
export const signInStepSchema = z.discriminatedUnion('step', [
  z.object({ step: z.literal('DONE') }),
  z.object({ step: z.literal('waiting') }),
  z.object({ step: z.literal('CONFIRM_SIGN_UP') }),
  z.object({ step: z.literal('RESET_PASSWORD') }),
  z.object({
    step: z.literal('CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED'),
    /** Attributes that are asked for together with the new password. */
    missingAttributes: z.array(z.string()),
  }),
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_TOTP_CODE'), others }),
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_SMS_CODE'), delivery: deliverySchema, others }),
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_EMAIL_CODE'), delivery: deliverySchema, others }),
  z.object({
    step: z.literal('CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE'),
    parameters: z.record(z.string(), z.string()),
  }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_MFA_SELECTION'), choices: z.array(z.enum(mfaTypes)) }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION'), choices: z.array(z.enum(mfaTypes)) }),
  z.object({
    step: z.literal('CONTINUE_SIGN_IN_WITH_TOTP_SETUP'),
    /** Base32, and the `otpauth:` address that a QR code shows. */
    secret: z.string(),
    uri: z.string(),
  }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_EMAIL_SETUP') }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION'), choices: z.array(z.enum(firstFactors)) }),
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_PASSWORD') }),
  /** The browser answers it with its authenticator. */
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_PASSKEY'), options: webAuthnJson }),
  /** A challenge that the BFF does not know: its own name, for 'Next step: …'. */
  z.object({ step: z.literal('UNKNOWN'), name: z.string() }),
])
export type SignInStep = z.infer<typeof signInStepSchema>

/**
 * `POST /api/auth/sign-in`: answers a `SignInStep`. Without `password` it asks for the choice of a first factor. 409
 * `already_signed_in` 'There is already a signed in user.'
 */
export const signInBodySchema = z.object({
  email: username('signIn'),
  password: password('signIn').optional(),
  preferred: z.enum(firstFactors).optional(),
})

/**
 * `POST /api/auth/sign-in-again`: whoever is signed in shows that it is they who sit there, by a sign-in of the same account,
 * with the steps that any has. What gives an account away (another address, a passkey, an authenticator, a trusted browser, a
 * second factor turned off) is refused 5 minutes after a sign-in, 403 `FreshSignInRequiredException`, until then.
 */
export const signInAgainBodySchema = signInBodySchema.omit({ email: true })

/**
 * `POST /api/auth/sign-in/answer`: answers the step that the cookie holds (for 180000 ms, then 401
 * `sign_in_step_expired`) with a code, a choice, a new password, or a passkey's response, and gets the next `SignInStep`.
 * A wrong code keeps the step.
 */
export const signInAnswerBodySchema = z.object({
  answer: z.union([typed('challengeResponse', 4096), webAuthnJson], {
    error: 'challengeResponse is required to confirmSignIn',
  }),
  /** With a new password: the attributes that were missing. */
  attributes: z.record(z.string(), z.string().max(2048)).optional(),
  /** With a code that is the second factor and ends the sign-in: this browser is not asked for one any more. */
  trust: z.boolean().default(false),
  /** `answer` is no code but one of the step's `others`, to be asked for in its place. */
  instead: z.boolean().default(false),
})

/**
 * `GET /api/auth/session`: who is signed in in this browser; null for nobody. Never an error. `email` is the address that the
 * account has now; while that cannot be found out, its username.
 */
export const sessionSchema = z.object({
  user: z.object({ userId: z.string(), username: z.string(), email: z.string() }).nullable(),
})
export type Session = z.infer<typeof sessionSchema>

/**
 * `POST /api/auth/sign-out`: this browser, which ends the session here even where the service cannot be asked; or all of them,
 * trusted ones included: then nothing is ended where the answer is not 200.
 */
export const signOutBodySchema = z.object({ everywhere: z.boolean().default(false) })

export const signedOutSchema = z.object({
  /** The log-out of the sign-in pages that a hosted service has, to be gone to: it leads back to the site. */
  logoutUrl: z.url().optional(),
})
export type SignedOut = z.infer<typeof signedOutSchema>

/** What says nothing more than that it is done: `{}`. */
export const doneSchema = z.object({})

/** `GET /api/profile`, and the answer to `PATCH /api/profile` and to what changes a part of it. 401 `sign_in_required`. */
export const profileSchema = z.object({
  userId: z.string(),
  username: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  /** The address that the account goes by for as long as `email` waits for its code. */
  formerEmail: z.string().optional(),
  givenName: z.string(),
  familyName: z.string(),
  /** `YYYY-MM-DD`, or empty. */
  birthdate: z.string(),
  /** E.164, or empty. */
  phoneNumber: z.string(),
  phoneNumberVerified: z.boolean(),
  /** One line, or empty. */
  address: z.string(),
  mfa: z.object({ enabled: z.array(z.enum(mfaTypes)), preferred: z.enum(mfaTypes).nullable() }),
  passkeys: z.array(z.object({ id: z.string(), name: z.string(), createdAt: z.string() })),
  devices: z.array(
    z.object({
      key: z.string(),
      name: z.string(),
      lastUsedAt: z.string(),
      /** The browser that asks. */
      current: z.boolean(),
      /** It signs in without a second factor. */
      remembered: z.boolean(),
    }),
  ),
})
export type Profile = z.infer<typeof profileSchema>

/** `PATCH /api/profile`: what is left out stays. A new e-mail address counts once its code was given. */
export const profileChangeSchema = z
  .object({
    email: field.email,
    givenName: profileFields.given_name,
    familyName: profileFields.family_name,
    birthdate: profileFields.birthdate,
    phoneNumber: profileFields.phone_number,
    address: field.requiredLine('Address', 500),
  })
  .partial()
export type ProfileChange = z.input<typeof profileChangeSchema>

/** Attributes that are verified by a code: `POST /api/profile/verification` sends one, `…/verification/confirm` takes it. */
export const verificationBodySchema = z.object({ attribute: z.enum(['email', 'phone_number']) })
export const verificationConfirmBodySchema = verificationBodySchema.extend({ code: confirmationCode })

/** `POST /api/auth/change-password`. */
export const changePasswordBodySchema = z.object({
  previousPassword: typed('Old password', 256),
  proposedPassword: typed('New password', 256),
})

/** `POST /api/profile/mfa`: which second factors are on, and which comes first. */
export const mfaPreferenceBodySchema = z.object({
  type: z.enum(mfaTypes),
  enabled: z.boolean(),
  preferred: z.boolean().default(false),
})
/** `POST /api/profile/totp` (no body) begins the set-up of an authenticator app; `…/totp/verify` ends it and turns it on. */
export const totpSetUpSchema = z.object({ secret: z.string(), uri: z.string() })
export const totpVerifyBodySchema = z.object({ code: confirmationCode, deviceName: z.string().max(100).optional() })

/** `POST /api/profile/passkeys/options` (no body) and `POST /api/profile/passkeys`; `DELETE /api/profile/passkeys/:id`. */
export const passkeyOptionsSchema = z.object({ options: webAuthnJson })
export const passkeyBodySchema = z.object({ credential: webAuthnJson })

/** `POST /api/profile/devices/:key`: whether that device signs in without a second factor. */
export const deviceBodySchema = z.object({ remembered: z.boolean() })

/** `DELETE /api/profile/devices/:key`; `DELETE /api/profile` deletes the account, with the password once more. */
export const deleteAccountBodySchema = z.object({ password: typed('Password', 256) })

/**
 * `POST /api/createStripeSession`, as specified: a membership's checkout. `consent` is ours: the terms that were agreed to.
 * For somebody who is signed in and a member already, `url` is where the card and the invoices are, and `message` says so.
 */
export const membershipCheckoutBodySchema = z.object({
  email: field.email,
  plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }),
  classDate: field.plainDate,
  consent: z.object({ version: z.string().max(50), text: z.string().max(2000) }).optional(),
  /** The time zone in which the member reads mails, as `POST /api/registrations` has it. */
  familyTimeZone: field.timeZone.optional(),
  /** What the page showed: 409 `terms_changed` with what is offered now where that is something else. */
  agreed: agreementTermsSchema.optional(),
})
/** The header of a changing request that names the account (`userId`) for which the page composed it: 409 `other_account` where another is signed in. */
export const accountHeader = 'x-account'
export const membershipCheckoutAnswerSchema = z.object({ url: z.url(), message: z.string().optional() })
