import { z } from 'zod'

export const authFlows = [
  'ALLOW_USER_SRP_AUTH',
  'ALLOW_USER_PASSWORD_AUTH',
  'ALLOW_USER_AUTH',
  'ALLOW_CUSTOM_AUTH',
  'ALLOW_REFRESH_TOKEN_AUTH',
] as const

export const mfaFactors = ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP'] as const
export type MfaFactor = (typeof mfaFactors)[number]

export const firstFactors = ['PASSWORD', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const
export type FirstFactor = (typeof firstFactors)[number]

/** Settings of an app client. */
export const clientSettingsSchema = z.object({
  name: z.string().default('client'),
  flows: z.array(z.enum(authFlows)).default([...authFlows]),
  accessTokenSeconds: z.number().int().min(60).max(86_400).default(3600),
  idTokenSeconds: z.number().int().min(60).max(86_400).default(3600),
  refreshTokenSeconds: z
    .number()
    .int()
    .min(60)
    .max(315_360_000)
    .default(30 * 86_400),
  /** Replaces a refresh token at each use; the old one still works for the grace period, for a second tab. */
  rotation: z
    .object({ enabled: z.boolean(), graceSeconds: z.number().int().min(0).max(60) })
    .default({ enabled: true, graceSeconds: 30 }),
  /** `ENABLED` hides whether an account exists; `LEGACY` answers UserNotFoundException. */
  preventUserExistenceErrors: z.enum(['ENABLED', 'LEGACY']).default('ENABLED'),
  /**
   * How long after a sign-in sensitive changes are allowed: changing addresses, adding a passkey, authenticator or
   * trusted browser, disabling a second factor. Null allows them at any time, as the public protocol does.
   */
  freshSignInSeconds: z.number().int().min(60).nullable().default(null),
  /** Whether RevokeToken works. */
  enableTokenRevocation: z.boolean().default(true),
})
export type ClientSettings = z.infer<typeof clientSettingsSchema>

/** Settings of a user pool. */
export const poolSettingsSchema = z.object({
  name: z.string().default('pool'),
  mfa: z.enum(['OFF', 'OPTIONAL', 'ON']).default('OPTIONAL'),
  mfaFactors: z.array(z.enum(mfaFactors)).default([...mfaFactors]),
  /** First factors of a USER_AUTH sign-in. */
  firstFactors: z.array(z.enum(firstFactors)).default([...firstFactors]),
  /** Whether devices are remembered: never, on the user's request, or always. */
  devices: z.enum(['OFF', 'OPT_IN', 'ALWAYS']).default('OFF'),
  webAuthn: z
    .object({
      relyingPartyId: z.string(),
      relyingPartyName: z.string().default('Robo Kids Learning'),
      /** Allowed web origins of passkeys. */
      origins: z.array(z.string()),
      userVerification: z.enum(['required', 'preferred']).default('preferred'),
    })
    .nullable()
    .default(null),
  /** Verified attributes that can be used to sign in, besides the username. */
  aliases: z.array(z.enum(['email', 'phone_number'])).default(['email']),
  /** Attributes verified by a code at sign-up. */
  autoVerified: z.array(z.enum(['email', 'phone_number'])).default(['email']),
  passwordPolicy: z
    .object({
      minimumLength: z.number().int().min(6).max(99).default(8),
      requireUppercase: z.boolean().default(true),
      requireLowercase: z.boolean().default(false),
      requireNumbers: z.boolean().default(true),
      requireSymbols: z.boolean().default(true),
      temporaryPasswordDays: z.number().int().min(0).max(365).default(7),
    })
    .prefault({}),
  /** Whether anybody may sign up; otherwise only administrators create accounts. */
  selfSignUp: z.boolean().default(true),
})
export type PoolSettings = z.infer<typeof poolSettingsSchema>

const poolId = z
  .string()
  .regex(/^[\w-]+_[0-9a-zA-Z]+$/)
  .max(55)

/** The pools file: pools with settings, app clients and groups. Client secrets are in CLIENT_SECRETS. */
export const poolsFileSchema = z.object({
  pools: z.array(
    z.object({
      id: poolId,
      settings: poolSettingsSchema.prefault({}),
      /** Allows passkeys at SITE_URL, whatever `settings.webAuthn` says. */
      passkeysAtSite: z.boolean().default(false),
      clients: z.array(
        z.object({
          id: z.string().regex(/^\w{1,128}$/),
          secret: z.boolean().default(false),
          settings: clientSettingsSchema.prefault({}),
        }),
      ),
      groups: z.array(z.string().regex(/^[\w.-]{1,128}$/)).default([]),
    }),
  ),
})
