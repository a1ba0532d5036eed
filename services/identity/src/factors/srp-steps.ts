import type { Database, Transaction } from '@robokids/runtime/db'
import { isSameSecret } from '@robokids/runtime/same-secret'
import { beginExchange, expectedSignature, parseTimestamp, type Verifier } from '@robokids/runtime/srp'
import { z } from 'zod'
import { invalid, missing } from '../protocol/errors.ts'
import { openVerifier } from './passwords.ts'
import { srpName } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { checkSignInWait, targetOf } from '../limits/sign-in-limits.ts'
import {
  issueChallenge,
  newSession,
  type AuthAnswer,
  type OpenStep,
  type SignInProgress,
} from '../sign-in/sign-in-steps.ts'
import { simulateAccount } from '../users/simulated-account.ts'

/** What a step stores of its SRP exchange. */
const exchangeSchema = z.object({ A: z.string(), B: z.string(), b: z.string() })

/** Accepted clock difference of clients. */
const tolerance = { minutes: 5 }

/**
 * Answers a client's A and requests the proof of the password. The secret block is the session, because some clients
 * send no other.
 */
export async function issueSrpChallenge(
  tx: Transaction | Database,
  progress: SignInProgress,
  challenge: 'PASSWORD_VERIFIER' | 'DEVICE_PASSWORD_VERIFIER',
  A: string,
  verifier: Verifier,
  call: Call,
  parameters: Record<string, string>,
): Promise<AuthAnswer> {
  const exchange = beginExchange(A, verifier.value)
  if (!exchange) throw invalid('SRP_A is not valid.')
  const session = newSession()
  return issueChallenge(
    tx,
    { ...progress, state: { ...progress.state, step: { ...exchange } } },
    challenge,
    {
      SALT: verifier.salt,
      SRP_B: exchange.B,
      SECRET_BLOCK: Buffer.from(session).toString('base64'),
      USERNAME: progress.username,
      ...parameters,
    },
    call,
    { session },
  )
}

/** The account's verifier, or a simulated one that no password matches. */
function verifierOf({ user, client, state }: SignInProgress, { context }: Call): { verifier: Verifier; real: boolean } {
  const simulated = simulateAccount(client.pool, state.given, context.config).verifier
  const real = user && openVerifier(user, context)
  return { verifier: real ?? simulated, real: real !== undefined }
}

/** @throws IdentityError if password attempts have to wait after failures */
export async function issuePasswordChallenge(
  tx: Transaction | Database,
  progress: SignInProgress,
  A: string,
  call: Call,
): Promise<AuthAnswer> {
  await checkSignInWait(tx, targetOf(progress), call)
  return issueSrpChallenge(tx, progress, 'PASSWORD_VERIFIER', A, verifierOf(progress, call).verifier, call, {})
}

/** Whether a response proves the account's password. Takes the same time if there is none. */
export function provesPassword(step: OpenStep, responses: Record<string, string>, call: Call): boolean {
  const { verifier, real } = verifierOf(step, call)
  const proven = provesExchange(
    step,
    responses,
    verifier.value,
    { group: srpName(step.client.pool), user: step.username },
    call,
  )
  return proven && real
}

/** @throws IdentityError InvalidParameterException for a malformed response or a wrong timestamp */
export function provesExchange(
  step: OpenStep,
  responses: Record<string, string>,
  verifier: bigint,
  claim: { group: string; user: string },
  { context }: Call,
): boolean {
  const given = (name: string) => {
    const value = responses[name]
    if (!value) throw missing(name)
    return value
  }
  const timestamp = given('TIMESTAMP')
  const sentAt = parseTimestamp(timestamp)
  if (!sentAt) throw invalid('TIMESTAMP format should be EEE MMM d HH:mm:ss z yyyy in english.')
  const age = context.clock.now().since(sentAt).abs()
  if (Temporal.Duration.compare(age, tolerance) > 0) {
    throw invalid('TIMESTAMP is too far from the time here: check the clock.')
  }
  const secretBlock = Buffer.from(given('PASSWORD_CLAIM_SECRET_BLOCK'), 'base64')
  const signature = Buffer.from(given('PASSWORD_CLAIM_SIGNATURE'), 'base64')
  const exchange = exchangeSchema.parse(step.state.step)
  const expected = expectedSignature(exchange, verifier, { ...claim, secretBlock, timestamp })
  return expected !== undefined && secretBlock.toString() === step.session && isSameSecret(signature, expected)
}
