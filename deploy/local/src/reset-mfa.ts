import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { z } from 'zod'

/** Identity's URL and pool, and the administrator's keys. */
export interface AdminTarget {
  url: string
  pool: string
  accessKeyId: string
  secretAccessKey: string
}

const refusalSchema = z.object({ __type: z.string(), message: z.string().default('') })
const devicesSchema = z.object({
  Devices: z.array(z.object({ DeviceKey: z.string() })).default([]),
  PaginationToken: z.string().optional(),
})

/** Calls an administrator operation of the user pool protocol. @throws Error with the service's message */
export async function administer(
  { url, pool, ...credentials }: AdminTarget,
  operation: string,
  input: object,
): Promise<unknown> {
  const signer = new SignatureV4({
    service: 'cognito-idp',
    region: pool.slice(0, pool.indexOf('_')),
    credentials,
    sha256: Sha256,
  })
  const { host, hostname, protocol } = new URL(url)
  const body = JSON.stringify({ UserPoolId: pool, ...input })
  const headers = {
    host,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
  }
  const signed = await signer.sign({ method: 'POST', protocol, hostname, path: '/', query: {}, headers, body })
  const answer = await fetch(url, { method: 'POST', headers: signed.headers, body })
  const content: unknown = await answer.json()
  if (answer.ok) return content
  const { __type: name, message } = refusalSchema.parse(content)
  throw new Error(`${name}: ${message}`)
}

/**
 * Disables all second factors of an account whose owner has lost them, and ends all its sign-ins and trusted browsers.
 * Idempotent.
 * @param name the account's e-mail address or username
 * @returns the number of forgotten browsers
 */
export async function resetMfa(name: string, adminTarget: AdminTarget): Promise<number> {
  const account = { Username: name }
  const off = { Enabled: false, PreferredMfa: false }
  await administer(adminTarget, 'AdminSetUserMFAPreference', {
    ...account,
    SoftwareTokenMfaSettings: off,
    SMSMfaSettings: off,
    EmailMfaSettings: off,
  })
  return signOutEverywhere(name, adminTarget)
}

/**
 * Ends all sign-ins of an account, and forgets its browsers, which then need the second factor again. Idempotent.
 * @param name the account's e-mail address or username
 * @returns the number of forgotten browsers
 */
export async function signOutEverywhere(name: string, adminTarget: AdminTarget): Promise<number> {
  const account = { Username: name }
  let forgotten = 0
  for (let PaginationToken: string | undefined; ;) {
    const page = devicesSchema.parse(await administer(adminTarget, 'AdminListDevices', { ...account, PaginationToken }))
    for (const { DeviceKey } of page.Devices) {
      await administer(adminTarget, 'AdminForgetDevice', { ...account, DeviceKey })
      forgotten += 1
    }
    PaginationToken = page.PaginationToken
    if (PaginationToken === undefined) break
  }
  await administer(adminTarget, 'AdminUserGlobalSignOut', account)
  return forgotten
}

const accountSchema = z.object({
  Username: z.string(),
  Enabled: z.boolean(),
  UserStatus: z.string(),
  UserCreateDate: z.number(),
  UserAttributes: z.array(z.object({ Name: z.string(), Value: z.string() })),
  UserMFASettingList: z.array(z.string()).default([]),
  VerifiedEmail: z.string().optional(),
})

/**
 * Returns the data of an account that an operator needs to help its owner.
 * @param name its e-mail address or username
 */
export async function readAccount(name: string, adminTarget: AdminTarget) {
  const account = accountSchema.parse(await administer(adminTarget, 'AdminGetUser', { Username: name }))
  const attributes = new Map(account.UserAttributes.map(({ Name, Value }) => [Name, Value]))
  return {
    userName: account.Username,
    email: attributes.get('email'),
    emailVerified: attributes.get('email_verified') === 'true',
    /** The verified address, while `email` is unconfirmed. */
    verifiedEmail: account.VerifiedEmail,
    name: [attributes.get('given_name'), attributes.get('family_name')].join(' ').trim(),
    phoneNumber: attributes.get('phone_number'),
    phoneNumberVerified: attributes.get('phone_number_verified') === 'true',
    status: account.UserStatus,
    enabled: account.Enabled,
    secondSteps: account.UserMFASettingList,
    createdAt: Temporal.Instant.fromEpochMilliseconds(Math.round(account.UserCreateDate * 1000)).toString(),
  }
}
