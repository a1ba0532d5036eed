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

/** Of an app client: what it may do and how long its tokens live. */
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
  /** A refresh token is replaced whenever it is used; the old one still works for the grace, for a second tab. */
  rotation: z
    .object({ enabled: z.boolean(), graceSeconds: z.number().int().min(0).max(60) })
    .default({ enabled: true, graceSeconds: 30 }),
  /** `ENABLED` tells nobody whether an account exists; `LEGACY` answers UserNotFoundException. */
  preventUserExistenceErrors: z.enum(['ENABLED', 'LEGACY']).default('ENABLED'),
  /**
   * How long after a sign-in it may do what gives the account away: change its addresses, add a passkey, an authenticator
   * or a trusted browser, turn a second factor off. Null lets it at any time, as clients of the public protocol expect.
   */
  freshSignInSeconds: z.number().int().min(60).nullable().default(null),
  /** Whether RevokeToken works. */
  enableTokenRevocation: z.boolean().default(true),
})
export type ClientSettings = z.infer<typeof clientSettingsSchema>

/** Of a user pool. */
export const poolSettingsSchema = z.object({
  name: z.string().default('pool'),
  mfa: z.enum(['OFF', 'OPTIONAL', 'ON']).default('OPTIONAL'),
  mfaFactors: z.array(z.enum(mfaFactors)).default([...mfaFactors]),
  /** What a USER_AUTH sign-in may begin with. */
  firstFactors: z.array(z.enum(firstFactors)).default([...firstFactors]),
  /** Whether devices are told apart: never, when their user asks for it, or always. */
  devices: z.enum(['OFF', 'OPT_IN', 'ALWAYS']).default('OFF'),
  webAuthn: z
    .object({
      relyingPartyId: z.string(),
      relyingPartyName: z.string().default('Robo Kids Learning'),
      /** Web origins that passkeys may be used at. */
      origins: z.array(z.string()),
      userVerification: z.enum(['required', 'preferred']).default('preferred'),
    })
    .nullable()
    .default(null),
  /** What may be signed in with besides the username, once it is verified. */
  aliases: z.array(z.enum(['email', 'phone_number'])).default(['email']),
  /** What is verified by a code at sign-up. */
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
  /** Whether anybody may sign up, or administrators alone make accounts. */
  selfSignUp: z.boolean().default(true),
})
export type PoolSettings = z.infer<typeof poolSettingsSchema>

const poolId = z
  .string()
  .regex(/^[\w-]+_[0-9a-zA-Z]+$/)
  .max(55)

/** A file of pools: each with its id and settings, its app clients and its groups. A client's secret itself is in CLIENT_SECRETS. */
export const poolsFileSchema = z.object({
  pools: z.array(
    z.object({
      id: poolId,
      settings: poolSettingsSchema.prefault({}),
      /** Lets passkeys be used at SITE_URL, whatever `settings.webAuthn` says. */
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
