import type { MfaType, Profile } from '@robokids/contracts/auth'
import { DomainError } from '@robokids/runtime/errors'
import { allDevices } from '../device.ts'
import type { Identity } from '../identity.ts'

/** Calls an operation as the signed-in user. */
type Call = <Name extends Parameters<Identity['call']>[0]>(
  name: Name,
  input?: Record<string, unknown>,
) => ReturnType<typeof Identity.prototype.call<Name>>

const mfaTypes: Record<string, MfaType> = { SOFTWARE_TOKEN_MFA: 'TOTP', SMS_MFA: 'SMS', EMAIL_OTP: 'EMAIL' }

const instant = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(Math.round(seconds * 1000)).toString()

/** Returns the default if the pool does not support the feature. */
async function orDefault<T>(result: Promise<T>, fallback: T): Promise<T> {
  try {
    return await result
  } catch (error) {
    const unsupported = ['WebAuthnNotEnabledException', 'InvalidParameterException', 'ResourceNotFoundException']
    if (error instanceof DomainError && unsupported.includes(error.code)) return fallback
    throw error
  }
}

/** A user's own account with its sign-in methods. `currentDevice` is the device key of the requesting browser. */
export async function profileView(call: Call, currentDevice: string | undefined): Promise<Profile> {
  const [user, { Credentials }, devices] = await Promise.all([
    call('GetUser'),
    orDefault(call('ListWebAuthnCredentials'), { Credentials: [] }),
    orDefault(
      allDevices((page) => call('ListDevices', page)),
      [],
    ),
  ])
  const attributes = new Map(user.UserAttributes.map(({ Name, Value }) => [Name, Value]))
  const text = (name: string) => attributes.get(name) ?? ''
  const types = (names: string[]) => names.flatMap((name) => mfaTypes[name] ?? [])
  const email = text('email')
  const { VerifiedEmail } = user
  return {
    userId: text('sub'),
    username: user.Username,
    email,
    emailVerified: text('email_verified') === 'true',
    ...(VerifiedEmail !== undefined && VerifiedEmail !== email ? { formerEmail: VerifiedEmail } : {}),
    givenName: text('given_name'),
    familyName: text('family_name'),
    birthdate: text('birthdate'),
    phoneNumber: text('phone_number'),
    phoneNumberVerified: text('phone_number_verified') === 'true',
    address: text('address'),
    mfa: {
      enabled: types(user.UserMFASettingList),
      preferred: types(user.PreferredMfaSetting === undefined ? [] : [user.PreferredMfaSetting])[0] ?? null,
    },
    passkeys: Credentials.map(({ CredentialId, FriendlyCredentialName, CreatedAt }) => ({
      id: CredentialId,
      name: FriendlyCredentialName,
      createdAt: instant(CreatedAt),
    })),
    devices: devices.map(({ DeviceKey, DeviceAttributes, DeviceLastAuthenticatedDate }) => {
      const deviceAttributes = new Map(DeviceAttributes.map(({ Name, Value }) => [Name, Value]))
      return {
        key: DeviceKey,
        name: deviceAttributes.get('device_name') ?? '',
        lastUsedAt: instant(DeviceLastAuthenticatedDate),
        current: DeviceKey === currentDevice,
        remembered: deviceAttributes.get('dev:device_remembered_status') === 'remembered',
      }
    }),
  }
}
