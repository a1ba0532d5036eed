import type { MfaType, Profile } from '@robokids/contracts/auth'
import { DomainError } from '@robokids/runtime/errors'
import { allDevices } from '../device.ts'
import type { Identity } from '../identity.ts'

/** Calls an operation in the name of who is signed in. */
type Call = <Name extends Parameters<Identity['call']>[0]>(
  name: Name,
  input?: Record<string, unknown>,
) => ReturnType<typeof Identity.prototype.call<Name>>

const mfaTypes: Record<string, MfaType> = { SOFTWARE_TOKEN_MFA: 'TOTP', SMS_MFA: 'SMS', EMAIL_OTP: 'EMAIL' }

const instant = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(Math.round(seconds * 1000)).toString()

/** What a pool does not have is an empty list on the page. */
async function orNone<T>(asking: Promise<T>, none: T): Promise<T> {
  try {
    return await asking
  } catch (error) {
    const absent = ['WebAuthnNotEnabledException', 'InvalidParameterException', 'ResourceNotFoundException']
    if (error instanceof DomainError && absent.includes(error.code)) return none
    throw error
  }
}

/** A person's own account, with what it signs in by. `currentDevice` is the key of the browser that asks. */
export async function profileView(call: Call, currentDevice: string | undefined): Promise<Profile> {
  const [user, { Credentials }, devices] = await Promise.all([
    call('GetUser'),
    orNone(call('ListWebAuthnCredentials'), { Credentials: [] }),
    orNone(
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
      const said = new Map(DeviceAttributes.map(({ Name, Value }) => [Name, Value]))
      return {
        key: DeviceKey,
        name: said.get('device_name') ?? '',
        lastUsedAt: instant(DeviceLastAuthenticatedDate),
        current: DeviceKey === currentDevice,
        remembered: said.get('dev:device_remembered_status') === 'remembered',
      }
    }),
  }
}
