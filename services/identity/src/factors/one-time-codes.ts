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

/** As clients are told where a code went. */
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

/** Six digits have too little in them for a plain hash: whoever reads the database could try them all. */
export function hashCode(id: string, code: string, { MAC_KEYS }: Config): string {
  return MAC_KEYS.mac(`${id}:${code}`, 'code').toString('base64url')
}

/**
 * The code of an id: it can be sent again without being kept. Each is known by six digits, which are typed off a telephone,
 * and by twelve, which nobody guesses however many tries they have.
 */
function codesOfId(id: string, isShort: boolean, { MAC_KEYS }: Config): string[] {
  if (isShort)
    return MAC_KEYS.macs(id, 'code-digits').map((mac) => String(mac.readUIntBE(0, 6) % 1_000_000).padStart(6, '0'))
  return MAC_KEYS.macs(id, 'long-code-digits').map((mac) =>
    String(mac.readBigUInt64BE() % 1_000_000_000_000n).padStart(12, '0'),
  )
}

/** As it is sent from now on. */
export function codeOf(id: string, isShort: boolean, config: Config): string {
  const [code] = codesOfId(id, isShort, config)
  if (code === undefined) throw new Error('There is no key to derive a code from.')
  return code
}

/** Whether it is the code of an id, also as it was sent before the keys changed. */
export const isCodeOf = (id: string, isShort: boolean, given: string, config: Config) =>
  codesOfId(id, isShort, config).some((code) => isSameSecret(code, given))

export function matchesCode(hash: string, id: string, code: string, { MAC_KEYS }: Config): boolean {
  return MAC_KEYS.macs(`${id}:${code}`, 'code').some((mac) => isSameSecret(mac.toString('base64url'), hash))
}

/** An address as what is counted and kept by it is named. */
export const addressSubject = (address: string) =>
  address.includes('@') ? `EMAIL:${aliasValue('email', address)}` : `SMS:${address}`

/** By what tries at a code are counted that goes to an address. */
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

/** What a sign-in's step keeps of the code that it was sent with. */
export interface SentCode {
  codeId: string
  hash: string
  isShort: boolean
}

/**
 * Makes a code that is good for one sign-in, and has it sent, once `tx` commits.
 * @throws IdentityError LimitExceededException where too many were asked for within the hour.
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
 * Has a code, or a temporary password, sent, sealed on its way.
 * @throws IdentityError LimitExceededException, InvalidParameterException where a text message cannot be sent
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
    // An address that nobody has proven may be a stranger's: they are not written what somebody calls themselves.
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
