import { randomBytes } from 'node:crypto'
import { beginProof, formatTimestamp, makeVerifier, pad } from '@robokids/runtime/srp'
import type { DeviceCookie } from './cookies.ts'
import { isIdentityError } from './identity-errors.ts'
import type { AuthAnswer, Identity, TokenAnswer } from './identity.ts'

/** A short name for lists of devices: `Chrome on Android`. */
function deviceName(userAgent: string): string {
  const browsers = [/Edg/, /OPR/, /Firefox|FxiOS/, /Chrome|CriOS/, /Safari/]
  const names = ['Edge', 'Opera', 'Firefox', 'Chrome', 'Safari']
  const systems = [/iPhone|iPad/, /Android/, /Windows/, /Mac OS/, /Linux/]
  const systemNames = ['an iPhone or iPad', 'Android', 'Windows', 'a Mac', 'Linux']
  const browser = names[browsers.findIndex((pattern) => pattern.test(userAgent))] ?? 'A browser'
  const system = systemNames[systems.findIndex((pattern) => pattern.test(userAgent))]
  return system === undefined ? browser : `${browser} on ${system}`
}

/**
 * Registers this browser as one of the account's devices, with a secret that only its cookie holds.
 * @returns undefined if the service has not offered it.
 */
export async function confirmDevice(
  tokens: TokenAnswer,
  userAgent: string,
  identity: Identity,
  address: string,
): Promise<Omit<DeviceCookie, 'names' | 'until'> | undefined> {
  const { NewDeviceMetadata: device } = tokens
  if (!device) return undefined
  const secret = randomBytes(40).toString('base64')
  const { salt, value } = makeVerifier(device.DeviceGroupKey, device.DeviceKey, secret)
  const base64 = (number: bigint) => pad(number).toString('base64')
  await identity.call(
    'ConfirmDevice',
    {
      AccessToken: tokens.AccessToken,
      DeviceKey: device.DeviceKey,
      DeviceName: deviceName(userAgent),
      DeviceSecretVerifierConfig: { Salt: base64(BigInt(`0x${salt}`)), PasswordVerifier: base64(value) },
    },
    address,
  )
  return { key: device.DeviceKey, group: device.DeviceGroupKey, secret }
}

/** Proves the device by SRP, in place of a second factor. */
export async function proveDevice(
  challenged: AuthAnswer,
  username: string,
  device: DeviceCookie,
  identity: Identity,
  now: Temporal.Instant,
  address: string,
): Promise<AuthAnswer> {
  const respond = (challenge: string, { Session: challengeSession }: AuthAnswer, responses: Record<string, string>) =>
    identity.respond({ challenge, challengeSession, username }, { DEVICE_KEY: device.key, ...responses }, address)
  const proof = beginProof()
  const begun = await respond('DEVICE_SRP_AUTH', challenged, { SRP_A: proof.A })
  const { SALT: salt = '', SRP_B: B = '', SECRET_BLOCK: block = '' } = begun.ChallengeParameters
  const timestamp = formatTimestamp(now)
  const claim = { group: device.group, user: device.key, secretBlock: Buffer.from(block, 'base64'), timestamp }
  return respond('DEVICE_PASSWORD_VERIFIER', begun, {
    PASSWORD_CLAIM_SECRET_BLOCK: block,
    PASSWORD_CLAIM_SIGNATURE: proof.prove({ salt, B }, device.secret, claim).toString('base64'),
    TIMESTAMP: timestamp,
  })
}

/** Whether the service no longer knows the device: the sign-in continues without it. */
export const isForgotten = (error: unknown) => isIdentityError(error, 'deviceForgotten')

type DevicePage = Awaited<ReturnType<typeof Identity.prototype.call<'ListDevices'>>>

/** Reads all pages of an account's devices. */
export async function allDevices(
  list: (page: { PaginationToken?: string }) => Promise<DevicePage>,
): Promise<DevicePage['Devices']> {
  const devices: DevicePage['Devices'] = []
  for (let next: string | undefined; ;) {
    const page = await list(next === undefined ? {} : { PaginationToken: next })
    devices.push(...page.Devices)
    next = page.PaginationToken
    if (next === undefined) return devices
  }
}
