import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '@robokids/runtime/db'
import { z } from 'zod'
import { mask } from './attributes.ts'
import { hashCode, matchesCode, sendCode, type Destination } from './codes.ts'
import type { Call } from './protocol.ts'
import type { User } from './schema.ts'
import { countCode } from './sign-in-limits.ts'
import { ask, type AuthAnswer, type OpenStep, type SignInProgress } from './sign-in-steps.ts'
import { simulateAccount } from './simulated-account.ts'
import { codesName, verifiedAddress } from './users.ts'

/** What a step remembers of the code that it was sent with. */
const sentSchema = z.object({ codeId: z.string(), hash: z.string() })

type Medium = Destination['medium']

/** Verified addresses of an account, by how they are written to. */
export type Addresses = Partial<Record<Medium, string>>

export async function addressesOf(tx: Transaction | Database, user: User): Promise<Addresses> {
  const email = await verifiedAddress(tx, user, 'email')
  const phone = await verifiedAddress(tx, user, 'phone_number')
  return { ...(email ? { EMAIL: email } : {}), ...(phone ? { SMS: phone } : {}) }
}

/**
 * Where a code can stand for the first factor: at a verified address, or at that of an account that is yet to be
 * confirmed, which is told so once it has proven the code.
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

/** Sends a code and asks for it. */
export async function askForCode(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  challenge: 'SMS_MFA' | 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  to: Destination,
  call: Call,
  parameters: Record<string, string> = {},
): Promise<AuthAnswer> {
  const { config, clock } = call.context
  const expiresAt = clock.now().add({ seconds: config.SIGN_IN_STEP_SECONDS })
  const { id, hash } = await sendCode(tx, progress.user, 'sign_in', to, expiresAt, call)
  return askForSent(tx, progress, challenge, to.medium, mask(to.medium, to.destination), { id, hash }, call, parameters)
}

/** Asks for a code that was never sent, of a name that nobody has or that has no such address. */
export async function pretendToSend(
  tx: Transaction,
  progress: SignInProgress,
  challenge: 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  medium: Medium,
  call: Call,
  parameters: Record<string, string> = {},
): Promise<AuthAnswer> {
  const { client, state, user } = progress
  const { destinations } = simulateAccount(client.pool, state.given, call.context.config)
  await countCode(tx, { poolId: client.pool.id, name: user ? codesName(user) : state.given, user }, medium, call)
  const id = randomUUID()
  const nothing = { id, hash: hashCode(id, randomUUID(), call.context.config) }
  return askForSent(tx, progress, challenge, medium, destinations[medium], nothing, call, parameters)
}

function askForSent(
  tx: Transaction,
  progress: SignInProgress,
  challenge: 'SMS_MFA' | 'EMAIL_OTP' | 'SMS_OTP' | 'CUSTOM_CHALLENGE',
  medium: Medium,
  masked: string,
  { id, hash }: { id: string; hash: string },
  call: Call,
  parameters: Record<string, string>,
): Promise<AuthAnswer> {
  return ask(
    tx,
    { ...progress, state: { ...progress.state, step: { ...progress.state.step, codeId: id, hash } } },
    challenge,
    { CODE_DELIVERY_DELIVERY_MEDIUM: medium, CODE_DELIVERY_DESTINATION: masked, ...parameters },
    call,
    challenge === 'CUSTOM_CHALLENGE' ? { tries: 3 } : {},
  )
}

/** Whether it is the code that the step was sent with. */
export function isSentCode(step: OpenStep, code: string, { context }: Call): boolean {
  const { codeId, hash } = sentSchema.parse(step.state.step)
  return matchesCode(hash, codeId, code.trim(), context.config)
}
