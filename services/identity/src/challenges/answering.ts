import type { Transaction } from '@robokids/runtime/db'
import { deviceNotFound } from '../factors/devices.ts'
import { expiredSession, orThrow, type IdentityError } from '../protocol/errors.ts'
import type { Client } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import {
  findStep,
  type AuthAnswer,
  type ChallengeName,
  type OpenStep,
  type SignInProgress,
} from '../sign-in/sign-in-steps.ts'
import type { Tokens } from '../sign-in/tokens.ts'

/** The client's response to a challenge. */
export interface Answer {
  client: Client
  session: string
  challenge: ChallengeName
  responses: Record<string, string>
  call: Call
  tokens: Tokens
}

/** A response, with the rows of its step and account locked. */
export interface Answering extends Answer {
  tx: Transaction
  step: OpenStep
}

/** Handles the response to one kind of challenge. */
export type Challenge = (answer: Answer) => Promise<AuthAnswer>

async function findAnsweredStep(
  tx: Transaction | Call['context']['db'],
  answer: Answer,
  lock: boolean,
): Promise<OpenStep> {
  const { session, challenge, client, responses, call } = answer
  const step = await findStep(tx, session, challenge, client, call, { lock })
  // The client must also name the account of the step.
  const name = (responses['USERNAME'] ?? '').toLowerCase()
  const { id, attributes } = step.user ?? {}
  const names = [step.username, step.state.given, id, attributes?.['email'], attributes?.['phone_number']]
  if (!names.some((own) => own?.toLowerCase() === name)) throw expiredSession()
  const deviceKey = responses['DEVICE_KEY']
  // The sign-in decided whether its own device may replace the second factor, so no other device is accepted.
  if (deviceKey && challenge.startsWith('DEVICE_') && deviceKey !== step.state.deviceKey) throw deviceNotFound()
  if (deviceKey) return { ...step, state: { ...step.state, deviceKey } }
  return step
}

/** Reads the step without a lock, for slow work that comes before locking. */
export function readStep(answer: Answer): Promise<OpenStep> {
  return findAnsweredStep(answer.call.context.db, answer, false)
}

/**
 * Handles a response with the step and account locked. `handle` ends a finished step. A wrong response is returned as
 * an error, so that the attempt is counted; a thrown error rolls everything back.
 */
export async function withLockedStep(
  answer: Answer,
  handle: (answering: Answering) => Promise<AuthAnswer | IdentityError>,
): Promise<AuthAnswer> {
  const outcome = await answer.call.context.db.transaction(async (tx) => {
    const step = await findAnsweredStep(tx, answer, true)
    return handle({ ...answer, tx, step })
  })
  return orThrow(outcome)
}

/** Creates the handler of a challenge that needs no slow work before locking. */
export const onLockedStep =
  (handle: (answering: Answering) => Promise<AuthAnswer | IdentityError>): Challenge =>
  (answer) =>
    withLockedStep(answer, handle)

/**
 * Returns the sign-in with its account.
 * @throws IdentityError for a simulated account, which never gets to such a step
 */
export function requireAccount(step: OpenStep): SignInProgress & { user: User } {
  if (!step.user) throw expiredSession()
  return { ...step, user: step.user }
}
