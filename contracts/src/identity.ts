import { z } from 'zod'
import { defineEvent, defineSecretEvent } from './event.ts'

/** The account that an event is about. Names and addresses are as the person entered them. */
const accountSchema = z.object({
  poolId: z.string(),
  /** The `sub` of tokens. */
  userId: z.uuid(),
  username: z.string(),
  /** Null if the account has none. */
  email: z.string().nullable(),
  emailVerified: z.boolean(),
  /**
   * The verified address, also while a new `email` waits to be verified; null if there is none. This field and the next are
   * absent from older events.
   */
  verifiedEmail: z.string().nullish(),
  /** False if an administrator disabled the account. */
  enabled: z.boolean().optional(),
  givenName: z.string().nullable(),
})
export type Account = z.infer<typeof accountSchema>

export const userSignedUp = defineEvent('identity', 'user.signed_up', accountSchema)
export const userConfirmed = defineEvent('identity', 'user.confirmed', accountSchema)
export const secondFactors = ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP'] as const
export type SecondFactor = (typeof secondFactors)[number]

/** `changed` names attributes (`email`, `phone_number`, …), and `password`, `mfa`, `passkeys`, `enabled`, `groups`. */
export const userUpdated = defineEvent(
  'identity',
  'user.updated',
  accountSchema.extend({
    changed: z.array(z.string()).min(1),
    /** The previous verified address, if the email changed or the new one is not verified yet. */
    previousEmail: z.string().nullable().default(null),
    /** With `mfa` among the changes: the second factors that a sign-in now asks for. */
    secondFactors: z.array(z.enum(secondFactors)).optional(),
    /** With `passkeys` among the changes: the number of passkeys now. */
    passkeys: z.int().min(0).optional(),
  }),
)
export const userDeleted = defineEvent('identity', 'user.deleted', accountSchema)

export const lockReasons = ['too_many_attempts', 'token_reused'] as const
/** Sign-ins are locked for a while, or a session was ended because its refresh token was reused. The person is notified. */
export const signInLocked = defineEvent(
  'identity',
  'sign_in.locked',
  accountSchema.extend({
    reason: z.enum(lockReasons),
    /** The end of the lock; null if a session was ended. */
    until: z.iso.datetime().nullable(),
  }),
)

/** The purposes of codes. `invitation` carries a temporary password instead. */
export const codePurposes = ['sign_up', 'attribute', 'password_reset', 'sign_in', 'invitation'] as const
export type CodePurpose = (typeof codePurposes)[number]
export const codeMedia = ['EMAIL', 'SMS'] as const
export type CodeMedium = (typeof codeMedia)[number]

/**
 * A one-time code for a person. It is sealed (runtime/seal.ts, with `CODE_SEALING_KEYS`, bound to its `codeId`), goes through
 * a separate stream in the broker's memory, and is never logged.
 */
export const codeIssued = defineSecretEvent(
  'identity',
  'code.issued',
  z.object({
    codeId: z.uuid(),
    purpose: z.enum(codePurposes),
    userId: z.uuid(),
    username: z.string(),
    /** Also null if the destination is not verified. */
    givenName: z.string().nullable(),
    medium: z.enum(codeMedia),
    /** The email address, or the phone number in E.164. */
    destination: z.string(),
    sealedCode: z.string(),
    expiresAt: z.iso.datetime(),
  }),
)

/** `GET /admin/signing-keys` (administrators), and the response of what changes them: all keys of tokens, newest first. */
export const signingKeysSchema = z.object({
  signingKeys: z.array(
    z.object({
      kid: z.string(),
      poolId: z.string(),
      createdAt: z.iso.datetime(),
      /** Whether it signs new tokens now. */
      signs: z.boolean(),
    }),
  ),
})
