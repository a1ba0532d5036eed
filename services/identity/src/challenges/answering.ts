import type { Transaction } from '@robokids/runtime/db'
import { noDevice } from '../factors/devices.ts'
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

/** A client's answer to a step. */
export interface Answer {
  client: Client
  session: string
  challenge: ChallengeName
  responses: Record<string, string>
  call: Call
  tokens: Tokens
}

/** An answer, with the step's and the account's rows locked. */
export interface Answering extends Answer {
  tx: Transaction
  step: OpenStep
}

/** Answers a challenge's answer. */
export type Challenge = (answer: Answer) => Promise<AuthAnswer>

async function load(tx: Transaction | Call['context']['db'], answer: Answer, lock: boolean): Promise<OpenStep> {
  const { session, challenge, client, responses, call } = answer
  const step = await findStep(tx, session, challenge, client, call, { lock })
  // Whose step it is, the client has to say as well.
  const name = (responses['USERNAME'] ?? '').toLowerCase()
  const { id, attributes } = step.user ?? {}
  const names = [step.username, step.state.given, id, attributes?.['email'], attributes?.['phone_number']]
  if (!names.some((own) => own?.toLowerCase() === name)) throw expiredSession()
  const deviceKey = responses['DEVICE_KEY']
  // Whether a device may stand for the second factor was asked of the one that the sign-in named: no other answers for it.
  if (deviceKey && challenge.startsWith('DEVICE_') && deviceKey !== step.state.deviceKey) throw noDevice()
  if (deviceKey) return { ...step, state: { ...step.state, deviceKey } }
  return step
}

/** The step as it is now, for slow work before anything is locked. */
export function peek(answer: Answer): Promise<OpenStep> {
  return load(answer.call.context.db, answer, false)
}

/**
 * Judges an answer with the step and the account locked. `judge` ends the step where it is over; a wrong answer is
 * returned as a refusal, so that it counts; thrown, it leaves everything as it was.
 */
export async function settle(
  answer: Answer,
  judge: (answering: Answering) => Promise<AuthAnswer | IdentityError>,
): Promise<AuthAnswer> {
  const outcome = await answer.call.context.db.transaction(async (tx) => {
    const step = await load(tx, answer, true)
    return judge({ ...answer, tx, step })
  })
  return orThrow(outcome)
}

/** A challenge that needs no slow work. */
export const settled =
  (judge: (answering: Answering) => Promise<AuthAnswer | IdentityError>): Challenge =>
  (answer) =>
    settle(answer, judge)

/** The sign-in of an account that is there. A step that only an account can be at never is without. */
export function accountOf(step: OpenStep): SignInProgress & { user: User } {
  if (!step.user) throw expiredSession()
  return { ...step, user: step.user }
}
