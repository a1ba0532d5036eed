import { z } from 'zod'
import { epochSeconds } from '../protocol/answers.ts'
import { invalid } from '../protocol/errors.ts'
import type { Client, Pool } from './pools.ts'
import {
  authFlows,
  clientSettingsSchema,
  firstFactors,
  poolSettingsSchema,
  type ClientSettings,
  type MfaFactor,
  type PoolSettings,
} from './pool-settings.ts'
import type { clients, pools } from '../schema.ts'

/** Settings in the protocol's format; fields not named here are ignored. */
const verifiable = z.array(z.enum(['email', 'phone_number'])).max(2)
const mfaConfiguration = z.enum(['OFF', 'ON', 'OPTIONAL'])

export const poolInput = z.object({
  PoolName: z.string().min(1).max(128),
  Policies: z
    .object({
      PasswordPolicy: z
        .object({
          MinimumLength: z.number().int().min(6).max(99),
          RequireUppercase: z.boolean(),
          RequireLowercase: z.boolean(),
          RequireNumbers: z.boolean(),
          RequireSymbols: z.boolean(),
          TemporaryPasswordValidityDays: z.number().int().min(0).max(365),
        })
        .partial()
        .default({}),
      SignInPolicy: z
        .object({
          AllowedFirstAuthFactors: z.array(z.enum(firstFactors)).min(1).max(firstFactors.length).default(['PASSWORD']),
        })
        .prefault({}),
    })
    .prefault({}),
  AliasAttributes: verifiable.default([]),
  AutoVerifiedAttributes: verifiable.default([]),
  UsernameAttributes: verifiable
    .max(0, { error: 'Use AliasAttributes: accounts have names of their own.' })
    .default([]),
  MfaConfiguration: mfaConfiguration.default('OFF'),
  DeviceConfiguration: z.object({ DeviceOnlyRememberedOnUserPrompt: z.boolean().default(false) }).optional(),
  AdminCreateUserConfig: z
    .object({
      AllowAdminCreateUserOnly: z.boolean().default(false),
      UnusedAccountValidityDays: z.number().int().min(0).max(365).optional(),
    })
    .prefault({}),
})

export function poolSettingsOf(given: z.infer<typeof poolInput>): PoolSettings {
  const { PasswordPolicy: policy, SignInPolicy: signIn } = given.Policies
  const device = given.DeviceConfiguration
  return poolSettingsSchema.parse({
    name: given.PoolName,
    mfa: given.MfaConfiguration,
    firstFactors: signIn.AllowedFirstAuthFactors,
    devices: device === undefined ? 'OFF' : device.DeviceOnlyRememberedOnUserPrompt ? 'OPT_IN' : 'ALWAYS',
    aliases: given.AliasAttributes,
    autoVerified: given.AutoVerifiedAttributes,
    passwordPolicy: {
      minimumLength: policy.MinimumLength,
      requireUppercase: policy.RequireUppercase,
      requireLowercase: policy.RequireLowercase,
      requireNumbers: policy.RequireNumbers,
      requireSymbols: policy.RequireSymbols,
      temporaryPasswordDays:
        policy.TemporaryPasswordValidityDays ?? given.AdminCreateUserConfig.UnusedAccountValidityDays,
    },
    selfSignUp: !given.AdminCreateUserConfig.AllowAdminCreateUserOnly,
  })
}

export function describePool({ id, settings, createdAt, updatedAt }: typeof pools.$inferSelect): object {
  const { passwordPolicy: policy, ...rest } = poolSettingsSchema.parse(settings)
  return {
    Id: id,
    Name: rest.name,
    Status: 'Enabled',
    CreationDate: epochSeconds(createdAt),
    LastModifiedDate: epochSeconds(updatedAt),
    Policies: {
      PasswordPolicy: {
        MinimumLength: policy.minimumLength,
        RequireUppercase: policy.requireUppercase,
        RequireLowercase: policy.requireLowercase,
        RequireNumbers: policy.requireNumbers,
        RequireSymbols: policy.requireSymbols,
        TemporaryPasswordValidityDays: policy.temporaryPasswordDays,
      },
      SignInPolicy: { AllowedFirstAuthFactors: rest.firstFactors },
    },
    AliasAttributes: rest.aliases,
    AutoVerifiedAttributes: rest.autoVerified,
    MfaConfiguration: rest.mfa,
    ...(rest.devices === 'OFF'
      ? {}
      : {
          DeviceConfiguration: {
            ChallengeRequiredOnNewDevice: true,
            DeviceOnlyRememberedOnUserPrompt: rest.devices === 'OPT_IN',
          },
        }),
    AdminCreateUserConfig: {
      AllowAdminCreateUserOnly: !rest.selfSignUp,
      UnusedAccountValidityDays: policy.temporaryPasswordDays,
    },
  }
}

export const mfaInput = z.object({
  MfaConfiguration: mfaConfiguration.optional(),
  SoftwareTokenMfaConfiguration: z.object({ Enabled: z.boolean().default(false) }).optional(),
  /** Its presence enables the factor; the message texts belong to notifications. */
  SmsMfaConfiguration: z.object({}).optional(),
  EmailMfaConfiguration: z.object({}).optional(),
  WebAuthnConfiguration: z
    .object({
      RelyingPartyId: z
        .string()
        .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/)
        .max(127)
        .optional(),
      UserVerification: z.enum(['required', 'preferred']).optional(),
    })
    .optional(),
})

/** Replaces the factors if any is given, else keeps them. */
export function withMfa(settings: PoolSettings, given: z.infer<typeof mfaInput>): PoolSettings {
  const totp = given.SoftwareTokenMfaConfiguration
  const named = [totp, given.SmsMfaConfiguration, given.EmailMfaConfiguration].some((one) => one !== undefined)
  const factors: MfaFactor[] = [
    ...(totp?.Enabled === true ? (['SOFTWARE_TOKEN_MFA'] as const) : []),
    ...(given.SmsMfaConfiguration ? (['SMS_MFA'] as const) : []),
    ...(given.EmailMfaConfiguration ? (['EMAIL_OTP'] as const) : []),
  ]
  const mfa = given.MfaConfiguration ?? settings.mfa
  const mfaFactors = named ? factors : settings.mfaFactors
  if (mfa !== 'OFF' && mfaFactors.length === 0) {
    throw invalid("Invalid MFA configuration given, can't turn on MFA without a factor.")
  }
  return { ...settings, mfa, mfaFactors, webAuthn: webAuthnOf(settings, given.WebAuthnConfiguration) }
}

function webAuthnOf(
  { webAuthn, name }: PoolSettings,
  given: z.infer<typeof mfaInput>['WebAuthnConfiguration'],
): PoolSettings['webAuthn'] {
  if (given === undefined) return webAuthn
  const relyingPartyId = given.RelyingPartyId ?? webAuthn?.relyingPartyId
  if (relyingPartyId === undefined) return webAuthn
  return {
    relyingPartyId,
    relyingPartyName: webAuthn?.relyingPartyName ?? name,
    // Origins of another relying party do not apply.
    origins: webAuthn?.relyingPartyId === relyingPartyId ? webAuthn.origins : [],
    userVerification: given.UserVerification ?? webAuthn?.userVerification ?? 'preferred',
  }
}

export function describeMfa({ settings }: Pool): object {
  const { mfa, mfaFactors, webAuthn } = settings
  return {
    MfaConfiguration: mfa,
    SoftwareTokenMfaConfiguration: { Enabled: mfaFactors.includes('SOFTWARE_TOKEN_MFA') },
    ...(mfaFactors.includes('SMS_MFA') ? { SmsMfaConfiguration: {} } : {}),
    ...(mfaFactors.includes('EMAIL_OTP') ? { EmailMfaConfiguration: {} } : {}),
    ...(webAuthn
      ? {
          WebAuthnConfiguration: {
            RelyingPartyId: webAuthn.relyingPartyId,
            UserVerification: webAuthn.userVerification,
          },
        }
      : {}),
  }
}

const unitSeconds = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const
const unit = z.enum(['seconds', 'minutes', 'hours', 'days'])
const validity = z.number().int().min(0).max(315_360_000).optional()

export const clientInput = z.object({
  ClientName: z.string().min(1).max(128),
  GenerateSecret: z.boolean().default(false),
  ExplicitAuthFlows: z.array(z.enum(authFlows)).max(authFlows.length).optional(),
  AccessTokenValidity: validity,
  IdTokenValidity: validity,
  RefreshTokenValidity: validity,
  TokenValidityUnits: z
    .object({
      AccessToken: unit.default('hours'),
      IdToken: unit.default('hours'),
      RefreshToken: unit.default('days'),
    })
    .prefault({}),
  PreventUserExistenceErrors: z.enum(['ENABLED', 'LEGACY']).optional(),
  EnableTokenRevocation: z.boolean().optional(),
  RefreshTokenRotation: z
    .object({
      Feature: z.enum(['ENABLED', 'DISABLED']),
      RetryGracePeriodSeconds: z.number().int().min(0).max(60).default(0),
    })
    .optional(),
})

/** @throws IdentityError InvalidParameterException for tokens that would live too short or too long. */
export function clientSettingsOf(given: z.infer<typeof clientInput>): ClientSettings {
  const units = given.TokenValidityUnits
  const rotation = given.RefreshTokenRotation
  const lifetime = (value: number | undefined, of: keyof typeof units) =>
    value === undefined || value === 0 ? undefined : value * unitSeconds[units[of]]
  const parsed = clientSettingsSchema.safeParse({
    name: given.ClientName,
    flows: given.ExplicitAuthFlows,
    accessTokenSeconds: lifetime(given.AccessTokenValidity, 'AccessToken'),
    idTokenSeconds: lifetime(given.IdTokenValidity, 'IdToken'),
    refreshTokenSeconds: lifetime(given.RefreshTokenValidity, 'RefreshToken'),
    rotation: rotation && { enabled: rotation.Feature === 'ENABLED', graceSeconds: rotation.RetryGracePeriodSeconds },
    preventUserExistenceErrors: given.PreventUserExistenceErrors,
    enableTokenRevocation: given.EnableTokenRevocation,
  })
  if (parsed.success) return parsed.data
  throw invalid(`Invalid range for token validity: ${String(parsed.error.issues[0]?.path[0])}`)
}

export function describeClient(
  client: Client,
  { createdAt, updatedAt }: Pick<typeof clients.$inferSelect, 'createdAt' | 'updatedAt'>,
): object {
  const { settings } = client
  return {
    UserPoolId: client.pool.id,
    ClientId: client.id,
    ClientName: settings.name,
    ...(client.secret === null ? {} : { ClientSecret: client.secret }),
    CreationDate: epochSeconds(createdAt),
    LastModifiedDate: epochSeconds(updatedAt),
    ExplicitAuthFlows: settings.flows,
    AccessTokenValidity: settings.accessTokenSeconds,
    IdTokenValidity: settings.idTokenSeconds,
    RefreshTokenValidity: settings.refreshTokenSeconds,
    TokenValidityUnits: { AccessToken: 'seconds', IdToken: 'seconds', RefreshToken: 'seconds' },
    PreventUserExistenceErrors: settings.preventUserExistenceErrors,
    EnableTokenRevocation: settings.enableTokenRevocation,
    RefreshTokenRotation: {
      Feature: settings.rotation.enabled ? 'ENABLED' : 'DISABLED',
      RetryGracePeriodSeconds: settings.rotation.graceSeconds,
    },
  }
}
