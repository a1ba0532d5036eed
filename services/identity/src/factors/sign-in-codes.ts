import { randomUUID } from 'node:crypto'
import { readCode } from '@robokids/contracts/code'
import type { Database, Transaction } from '@robokids/runtime/db'
import { z } from 'zod'
import { mask } from '../users/attributes.ts'
import { guessedAt, hashCode, matchesCode, sendCode, type Destination, type SentCode } from './one-time-codes.ts'
import { expiredCode, wrongCode, type IdentityError } from '../protocol/errors.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import { countSignInCode, countTry, revertTry } from '../limits/code-limits.ts'
import { issueChallenge, type AuthAnswer, type OpenStep, type SignInProgress } from '../sign-in/sign-in-steps.ts'
import { simulateAccount } from '../users/simulated-account.ts'
import { checkCountry } from '../limits/text-limits.ts'
import { addressKind } from '../users/usernames.ts'
import { codesName, verifiedAddress } from '../users/users.ts'

/** What a step stores about the code that was sent. */
const sentSchema = z.object({
  codeId: z.string(),
  hash: z.string(),
  // Steps of the previous version have neither field.
  isShort: z.boolean().default(true),
  /** The destination; undefined if sending was simulated. */
  to: z.string().optional(),
})

type Medium = Destination['medium']

/** An account's verified addresses by medium. */
export type Addresses = Partial<Record<Medium, string>>

export async function addressesOf(tx: Transaction | Database, user: User): Promise<Addresses> {
  const email = await verifiedAddress(tx, user, 'email')
  const phone = await verifiedAddress(tx, user, 'phone_number')
  return { ...(email ? { EMAIL: email } : {}), ...(phone ? { SMS: phone } : {}) }
}

/**
 * Where a first-factor code can be sent: to a verified address, or to the address of an unconfirmed account, which is
 * told that it is unconfirmed once it has proven the code.
 */
export async function provableDestination(
  tx: Transaction | Database,
  user: User,
  medium: Medium,
): Promise<Destination | undefined> {
  const given = user.attributes[medium === 'EMAIL' ? 'email' : 'phone_number']
  const destination = user.status === 'UNCONFIRMED' ? given : (await addressesOf(tx, user))[medium]
  return destination ? { medium, destination } : undefined
}

/** Sends a code and issues the challenge for it. */
export async function issueCodeChallenge(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  challenge: 'SMS_MFA' | 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  to: Destination,
  call: Call,
  parameters: Record<string, string> = {},
): Promise<AuthAnswer> {
  const { config, clock } = call.context
  const expiresAt = clock.now().add({ seconds: config.SIGN_IN_STEP_SECONDS })
  const sent = await sendCode(tx, progress.user, to, expiresAt, progress.state.deviceKey, call)
  const masked = mask(to.medium, to.destination)
  return issueSentCodeChallenge(
    tx,
    progress,
    challenge,
    to.medium,
    masked,
    { ...sent, to: to.destination },
    call,
    parameters,
  )
}

/** Issues a challenge for a code that was never sent, for an unknown username or an account without such an address. */
export async function simulateDelivery(
  tx: Transaction,
  progress: SignInProgress,
  challenge: 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  medium: Medium,
  call: Call,
  parameters: Record<string, string> = {},
): Promise<AuthAnswer> {
  const { client, state, user } = progress
  const { destinations } = simulateAccount(client.pool, state.given, call.context.config)
  const name = user ? codesName(user) : state.given
  if (medium === 'SMS' && addressKind(client.pool, name) === 'phone_number') checkCountry(name, call.context.config)
  await countSignInCode(tx, { poolId: client.pool.id, name, user, deviceKey: state.deviceKey }, medium, call)
  const codeId = randomUUID()
  const nothing = { codeId, hash: hashCode(codeId, randomUUID(), call.context.config), isShort: true }
  return issueSentCodeChallenge(tx, progress, challenge, medium, destinations[medium], nothing, call, parameters)
}

function issueSentCodeChallenge(
  tx: Transaction,
  progress: SignInProgress,
  challenge: 'SMS_MFA' | 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  medium: Medium,
  masked: string,
  sent: SentCode & { to?: string },
  call: Call,
  parameters: Record<string, string>,
): Promise<AuthAnswer> {
  return issueChallenge(
    tx,
    { ...progress, state: { ...progress.state, step: { ...progress.state.step, ...sent } } },
    challenge,
    { CODE_DELIVERY_DELIVERY_MEDIUM: medium, CODE_DELIVERY_DESTINATION: masked, ...parameters },
    call,
    challenge === 'CUSTOM_CHALLENGE' ? { tries: 3 } : {},
  )
}

/**
 * Checks the code of a step.
 * @returns undefined if it is correct, else an error; the step stays open for another attempt
 */
export async function checkSentCode(
  tx: Transaction,
  step: OpenStep,
  code: string,
  call: Call,
): Promise<IdentityError | undefined> {
  const { codeId, hash, isShort, to } = sentSchema.parse(step.state.step)
  const { config } = call.context
  const { user, state } = step
  const { id: poolId } = step.client.pool
  const guessed =
    to === undefined
      ? { poolId, purpose: 'sign_in', subject: `name:${state.given}`, user: undefined }
      : guessedAt('sign_in', poolId, user, to, state.deviceKey)
  // The next code that is requested has more digits.
  if (isShort && !(await countTry(tx, guessed, config.CODE_TRIES_A_DAY, call))) return expiredCode()
  if (!matchesCode(hash, codeId, readCode(code), config)) return wrongCode()
  if (isShort) await revertTry(tx, guessed, call)
  return undefined
}
