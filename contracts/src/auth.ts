import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { readCode } from './code.ts'
import * as field from './fields.ts'

/** A required field that is kept exactly as typed: passwords are never trimmed. */
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

/** Returns a phone number with a plus and digits only; ten digits get the prefix `+1`. */
export function normalizePhoneNumber(typed: string): string {
  const digits = typed.replaceAll(/\D/g, '')
  return digits.length === 10 ? `+1${digits}` : `+${digits}`
}

/** Returns an address as one line: `street, city, state zip`. */
export function composeAddress(address: { street: string; city: string; state: string; zip: string }): string {
  return `${address.street}, ${address.city}, ${address.state} ${address.zip}`
}

const profileFields = {
  given_name: field.requiredLine('First name', 100),
  family_name: field.requiredLine('Last name', 100),
  birthdate: z.iso.date({ error: 'Enter your birthdate.' }),
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
 * `POST /api/auth/sign-up`: creates an account for a membership. `birthdate` must be that of an adult
 * (`latestAdultBirthdate`). `middle_name` is a honeypot field that no person sees: if it is filled in, the response is that
 * of a success, and nothing happens.
 */
export const signUpBodySchema = z.object({
  email: field.email,
  password: password('signUp'),
  ...profileFields,
  middle_name: z.string().max(200).optional(),
})
export type SignUpBody = z.input<typeof signUpBodySchema>

/** Where a code was sent, masked by the identity service (`m***@e***`, `+*******1234`). */
const deliverySchema = z.object({ medium: z.enum(['EMAIL', 'SMS']), destination: z.string() })
export type CodeDelivery = z.infer<typeof deliverySchema>

/**
 * The response to `POST /api/auth/sign-up`. The session cookie keeps the username and password, sealed, for 3 minutes, so
 * that confirming the account (in this tab or another one) also signs the person in.
 */
export const signUpResponseSchema = z.object({ delivery: deliverySchema.nullable(), confirmed: z.boolean() })

/**
 * `POST /api/auth/confirm-sign-up`. Responds 400 `password_required` if another browser signed up with the address: the
 * `password` then proves whose account the code confirms, because anyone can have a code sent to somebody else's address.
 */
export const confirmSignUpBodySchema = z.object({
  email: username('confirmSignUp'),
  code: confirmationCode,
  password: password('confirmSignUp').optional(),
})
/** `signedIn`: the same browser signed up within the last 3 minutes, so the person is signed in now. */
export const confirmSignUpResponseSchema = z.object({ signedIn: z.boolean() })

/** `POST /api/auth/resend-code` and `POST /api/auth/forgot-password`. */
export const nameBodySchema = z.object({ email: username('signIn') })
export const deliveryResponseSchema = z.object({ delivery: deliverySchema })

/** `POST /api/auth/confirm-forgot-password`. */
export const resetPasswordBodySchema = z.object({
  email: username('signIn'),
  code: confirmationCode,
  password: password('signIn'),
})

/**
 * `POST /api/auth/auto-sign-in` (no body), polled every 5 s for up to 3 min after a sign-up. Responds `waiting` until the
 * account is confirmed (perhaps in another tab), then with the next sign-in step, usually `DONE`. Responds 401
 * `sign_in_step_expired` with 'The account was not confirmed on time.' after the 3 minutes.
 */

/** The names of the second factors in responses and on the screen. */
export const mfaTypes = ['TOTP', 'SMS', 'EMAIL'] as const
export type MfaType = (typeof mfaTypes)[number]
export const firstFactors = ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const

/** JSON of the WebAuthn standard (`PublicKeyCredential…OptionsJSON`, `RegistrationResponseJSON`), passed through unchanged. */
const webAuthnJson = z.record(z.string(), z.unknown())

/** The account's other second factors, which the person can use instead of the one that the step asks for. */
const others = z.array(z.enum(mfaTypes)).optional()

/** The next step of a sign-in. The names are those of the public identity client; `waiting` is our own. */
export const signInStepSchema = z.discriminatedUnion('step', [
  z.object({ step: z.literal('DONE') }),
  z.object({ step: z.literal('waiting') }),
  z.object({ step: z.literal('CONFIRM_SIGN_UP') }),
  z.object({ step: z.literal('RESET_PASSWORD') }),
  z.object({
    step: z.literal('CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED'),
    /** Attributes that are required together with the new password. */
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
    /** `secret` in Base32, `uri` the `otpauth:` address for the QR code. */
    secret: z.string(),
    uri: z.string(),
  }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_EMAIL_SETUP') }),
  z.object({ step: z.literal('CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION'), choices: z.array(z.enum(firstFactors)) }),
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_PASSWORD') }),
  /** Options for the browser's authenticator. */
  z.object({ step: z.literal('CONFIRM_SIGN_IN_WITH_PASSKEY'), options: webAuthnJson }),
  /** A challenge that the BFF does not know: its name, for 'Next step: …'. */
  z.object({ step: z.literal('UNKNOWN'), name: z.string() }),
])
export type SignInStep = z.infer<typeof signInStepSchema>

/**
 * `POST /api/auth/sign-in`: responds with a `SignInStep`. Without `password`, that step is the choice of a first factor.
 * Responds 409 `already_signed_in` 'There is already a signed in user.'
 */
export const signInBodySchema = z.object({
  email: username('signIn'),
  password: password('signIn').optional(),
  preferred: z.enum(firstFactors).optional(),
})

/**
 * `POST /api/auth/sign-in-again`: reauthentication, a sign-in of the account that is signed in already, with the same steps.
 * Changes that could hand an account over (another address, a passkey, an authenticator, a trusted browser, turning a second
 * factor off) are rejected with 403 `FreshSignInRequiredException` if the last sign-in was more than 5 minutes ago.
 */
export const signInAgainBodySchema = signInBodySchema.omit({ email: true })

/**
 * `POST /api/auth/sign-in/answer`: answers the current step, which the cookie holds for 180000 ms (then 401
 * `sign_in_step_expired`), with a code, a choice, a new password or a passkey's response. Responds with the next
 * `SignInStep`. After a wrong code the step stays the same.
 */
export const signInAnswerBodySchema = z.object({
  answer: z.union([typed('challengeResponse', 4096), webAuthnJson], {
    error: 'challengeResponse is required to confirmSignIn',
  }),
  /** With a new password: the missing attributes. */
  attributes: z.record(z.string(), z.string().max(2048)).optional(),
  /** With a second-factor code that completes the sign-in: this browser is not asked for a second factor again. */
  trust: z.boolean().default(false),
  /** `answer` is not a code but one of the step's `others`, to be used instead. */
  instead: z.boolean().default(false),
})

/**
 * `GET /api/auth/session`: the user who is signed in in this browser, or null. Never an error. `email` is the account's
 * current address, or its username while the identity service is unavailable.
 */
export const sessionSchema = z.object({
  user: z.object({ userId: z.string(), username: z.string(), email: z.string() }).nullable(),
})
export type Session = z.infer<typeof sessionSchema>

/**
 * `POST /api/auth/sign-out`: signs this browser out, even while the identity service is unavailable. With `everywhere`, all
 * browsers including trusted ones: then no session has ended unless the response is 200.
 */
export const signOutBodySchema = z.object({ everywhere: z.boolean().default(false) })

export const signedOutSchema = z.object({
  /** The logout page of a hosted identity service, for the browser to open next; it redirects back to the site. */
  logoutUrl: z.url().optional(),
})
export type SignedOut = z.infer<typeof signedOutSchema>

/** An empty response: `{}`. */
export const emptyResponseSchema = z.object({})

/** The response to `GET /api/profile`, to `PATCH /api/profile` and to the routes that change a part of it. 401 `sign_in_required`. */
export const profileSchema = z.object({
  userId: z.string(),
  username: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  /** The address that stays in use until the new `email` is verified. */
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
      /** This is the browser that sent the request. */
      current: z.boolean(),
      /** The device signs in without a second factor. */
      remembered: z.boolean(),
    }),
  ),
})
export type Profile = z.infer<typeof profileSchema>

/** `PATCH /api/profile`: omitted fields stay unchanged. A new email address takes effect when it is verified. */
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

/** Attributes that are verified by a code: `POST /api/profile/verification` sends the code, `…/verification/confirm` checks it. */
export const verificationBodySchema = z.object({ attribute: z.enum(['email', 'phone_number']) })
export const verificationConfirmBodySchema = verificationBodySchema.extend({ code: confirmationCode })

/** `POST /api/auth/change-password`. */
export const changePasswordBodySchema = z.object({
  previousPassword: typed('Old password', 256),
  proposedPassword: typed('New password', 256),
})

/** `POST /api/profile/mfa`: turns a second factor on or off, and makes it the preferred one. */
export const mfaPreferenceBodySchema = z.object({
  type: z.enum(mfaTypes),
  enabled: z.boolean(),
  preferred: z.boolean().default(false),
})
/** `POST /api/profile/totp` (no body) starts the setup of an authenticator app; `…/totp/verify` completes it and turns it on. */
export const totpSetUpSchema = z.object({ secret: z.string(), uri: z.string() })
export const totpVerifyBodySchema = z.object({ code: confirmationCode, deviceName: z.string().max(100).optional() })

/** `POST /api/profile/passkeys/options` (no body) and `POST /api/profile/passkeys`; `DELETE /api/profile/passkeys/:id`. */
export const passkeyOptionsSchema = z.object({ options: webAuthnJson })
export const passkeyBodySchema = z.object({ credential: webAuthnJson })

/** `POST /api/profile/devices/:key`: sets whether the device signs in without a second factor. */
export const deviceBodySchema = z.object({ remembered: z.boolean() })

/** `DELETE /api/profile` deletes the account and requires the password again. (`DELETE /api/profile/devices/:key` has no body.) */
export const deleteAccountBodySchema = z.object({ password: typed('Password', 256) })

/**
 * `POST /api/createStripeSession`, as specified: creates a membership checkout. `consent` is our own field: the terms that the
 * buyer accepted. If a signed-in member sends it, `url` is the page with the card and the invoices, and `message` says so.
 */
export const membershipCheckoutBodySchema = z.object({
  email: field.email,
  plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }),
  classDate: field.plainDate,
  consent: z.object({ version: z.string().max(50), text: z.string().max(2000) }).optional(),
  /** The time zone for the member's mails, as in `POST /api/registrations`. */
  familyTimeZone: field.timeZone.optional(),
  /** The terms that the page showed: 409 `terms_changed` with the current offer if it differs. */
  agreed: agreementTermsSchema.optional(),
})
/** The header of a write request with the `userId` that the page was rendered for: 409 `other_account` if another user is signed in. */
export const accountHeader = 'x-account'
export const membershipCheckoutResponseSchema = z.object({ url: z.url(), message: z.string().optional() })
