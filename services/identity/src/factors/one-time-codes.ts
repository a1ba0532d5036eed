import { randomUUID } from 'node:crypto'
import { codeIssued, type CodeMedium, type CodePurpose } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { isSameSecret } from '@robokids/runtime/same-secret'
import { mask } from '../users/attributes.ts'
import { countSignInCode, hasTries, type Guessed } from '../limits/code-limits.ts'
import type { Config } from '../config.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import { countSentText } from '../limits/text-limits.ts'
import { aliasValue, codesName, isSameAddress, isVerified } from '../users/users.ts'

/** Where a code was sent, as clients see it. */
export interface CodeDeliveryDetails {
  Destination: string
  DeliveryMedium: CodeMedium
  AttributeName: string
}

export interface Destination {
  medium: CodeMedium
  destination: string
}

export function deliveryDetails({ medium, destination }: Destination): CodeDeliveryDetails {
  return {
    Destination: mask(medium, destination),
    DeliveryMedium: medium,
    AttributeName: medium === 'EMAIL' ? 'email' : 'phone_number',
  }
}

/** Six digits have too little entropy for a plain hash: a leaked database could be searched exhaustively. */
export function hashCode(id: string, code: string, { MAC_KEYS }: Config): string {
  return MAC_KEYS.mac(`${id}:${code}`, 'code').toString('base64url')
}

/**
 * Derives the codes of an id, so that they can be resent without being stored. Each id has a code of six digits, short
 * enough to type, and one of twelve, which cannot be guessed within any number of attempts.
 */
function codesOfId(id: string, isShort: boolean, { MAC_KEYS }: Config): string[] {
  if (isShort)
    return MAC_KEYS.macs(id, 'code-digits').map((mac) => String(mac.readUIntBE(0, 6) % 1_000_000).padStart(6, '0'))
  return MAC_KEYS.macs(id, 'long-code-digits').map((mac) =>
    String(mac.readBigUInt64BE() % 1_000_000_000_000n).padStart(12, '0'),
  )
}

/** Returns the code to send, derived by the current key. */
export function codeOf(id: string, isShort: boolean, config: Config): string {
  const [code] = codesOfId(id, isShort, config)
  if (code === undefined) throw new Error('There is no key to derive a code from.')
  return code
}

/** Whether this is the code of an id, by the current or an earlier key. */
export const isCodeOf = (id: string, isShort: boolean, given: string, config: Config) =>
  codesOfId(id, isShort, config).some((code) => isSameSecret(code, given))

export function matchesCode(hash: string, id: string, code: string, { MAC_KEYS }: Config): boolean {
  return MAC_KEYS.macs(`${id}:${code}`, 'code').some((mac) => isSameSecret(mac.toString('base64url'), hash))
}

/** The limit and storage key of an address. */
export const addressSubject = (address: string) =>
  address.includes('@') ? `EMAIL:${aliasValue('email', address)}` : `SMS:${address}`

/** What attempts at a code sent to this address are counted by. */
export const guessedAt = (
  purpose: string,
  poolId: string,
  user: User | undefined,
  destination: string,
  deviceKey: string | undefined,
): Guessed => ({
  poolId,
  purpose,
  subject: addressSubject(destination),
  user: user && isProven(user, destination) ? user : undefined,
  deviceKey,
})

/** What a sign-in step stores about the code that was sent. */
export interface SentCode {
  codeId: string
  hash: string
  isShort: boolean
}

/**
 * Creates a code for one sign-in and publishes it when `tx` commits.
 * @throws IdentityError LimitExceededException after too many requests within the hour
 */
export async function sendCode(
  tx: Transaction,
  user: User,
  to: Destination,
  expiresAt: Temporal.Instant,
  deviceKey: string | undefined,
  call: Call,
): Promise<SentCode> {
  const { config } = call.context
  await countSignInCode(tx, { poolId: user.poolId, name: codesName(user), user, deviceKey }, to.medium, call)
  const codeId = randomUUID()
  const guessed = guessedAt('sign_in', user.poolId, user, to.destination, deviceKey)
  const isShort = await hasTries(tx, guessed, config.CODE_TRIES_A_DAY, call)
  const code = codeOf(codeId, isShort, config)
  await publishCode(tx, user, { purpose: 'sign_in', to, code, expiresAt }, call.context)
  return { codeId, hash: hashCode(codeId, code, config), isShort }
}

/**
 * Publishes a code or temporary password, sealed for notifications.
 * @throws IdentityError LimitExceededException, InvalidParameterException if no text message can be sent
 */
export async function publishCode(
  tx: Transaction,
  user: User,
  {
    purpose,
    to,
    code,
    expiresAt,
  }: { purpose: CodePurpose; to: Destination; code: string; expiresAt: Temporal.Instant },
  context: Context<Config>,
): Promise<void> {
  const { CODE_SEALING_KEYS } = context.config
  if (to.medium === 'SMS') await countSentText(tx, to.destination, context)
  const codeId = randomUUID()
  await publish(tx, codeIssued, user.id, {
    codeId,
    purpose,
    userId: user.id,
    username: user.username,
    // An unverified address may belong to somebody else, who must not be sent text that the account's owner chose (the
    // name).
    givenName:
      purpose === 'invitation' || isProven(user, to.destination) ? (user.attributes['given_name'] ?? null) : null,
    ...to,
    sealedCode: CODE_SEALING_KEYS.seal(code, `code:${codeId}`),
    expiresAt: expiresAt.toString({ fractionalSecondDigits: 3 }),
  })
}

function isProven(user: User, destination: string): boolean {
  const attribute = destination.includes('@') ? 'email' : 'phone_number'
  return isVerified(user, attribute) && isSameAddress(attribute, user.attributes[attribute] ?? '', destination)
}
