import { z } from 'zod'
import { defineEvent, defineSecretEvent } from './event.ts'

/** Whose account an event is about. Names and addresses are as the person gave them. */
const accountSchema = z.object({
  poolId: z.string(),
  /** The `sub` of tokens. */
  userId: z.uuid(),
  username: z.string(),
  /** Null where the account has none. */
  email: z.string().nullable(),
  emailVerified: z.boolean(),
  /**
   * The address that the person has proven to have, whatever `email` is about to become; null where there is none. Absent,
   * as the next line, from events of the time before.
   */
  verifiedEmail: z.string().nullish(),
  /** False where an administrator has disabled the account. */
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
    /** The address that was verified before, where the e-mail changed or its new address is not verified yet. */
    previousEmail: z.string().nullable().default(null),
    /** With `mfa` among the changes: what a sign-in asks for besides its first proof from now on. */
    secondFactors: z.array(z.enum(secondFactors)).optional(),
    /** With `passkeys` among the changes: how many there are now. */
    passkeys: z.int().min(0).optional(),
  }),
)
export const userDeleted = defineEvent('identity', 'user.deleted', accountSchema)

export const lockReasons = ['too_many_attempts', 'token_reused'] as const
/** Sign-ins are refused for a while, or a sign-in was ended because its refresh token came a second time: the person is told. */
export const signInLocked = defineEvent(
  'identity',
  'sign_in.locked',
  accountSchema.extend({
    reason: z.enum(lockReasons),
    /** Until when, where it is for a while. */
    until: z.iso.datetime().nullable(),
  }),
)

/** What a code is for. `invitation` carries a temporary password instead. */
export const codePurposes = ['sign_up', 'attribute', 'password_reset', 'sign_in', 'invitation'] as const
export type CodePurpose = (typeof codePurposes)[number]
export const codeMedia = ['EMAIL', 'SMS'] as const
export type CodeMedium = (typeof codeMedia)[number]

/**
 * A one-time code for a person. It travels sealed (runtime/seal.ts, under `CODE_SEALING_KEYS`, bound to its `codeId`), on
 * a stream of its own in the broker's memory, and is never logged.
 */
export const codeIssued = defineSecretEvent(
  'identity',
  'code.issued',
  z.object({
    codeId: z.uuid(),
    purpose: z.enum(codePurposes),
    userId: z.uuid(),
    username: z.string(),
    /** Null also where the destination is one that nobody has proven. */
    givenName: z.string().nullable(),
    medium: z.enum(codeMedia),
    /** The e-mail address, or the phone number in E.164. */
    destination: z.string(),
    sealedCode: z.string(),
    expiresAt: z.iso.datetime(),
  }),
)
