import { createHash, randomBytes } from 'node:crypto'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { expiredSession, type IdentityError } from '../protocol/errors.ts'
import { firstFactors } from '../pools/pool-settings.ts'
import type { Client } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { signInSteps, users, type User } from '../schema.ts'
import type { IssuedTokens } from './tokens.ts'

/** What a client can be asked for. */
export type ChallengeName =
  | 'PASSWORD_VERIFIER'
  | 'NEW_PASSWORD_REQUIRED'
  | 'SMS_MFA'
  | 'EMAIL_OTP'
  | 'SMS_OTP'
  | 'SOFTWARE_TOKEN_MFA'
  | 'SELECT_MFA_TYPE'
  | 'MFA_SETUP'
  | 'SELECT_CHALLENGE'
  | 'WEB_AUTHN'
  | 'CUSTOM_CHALLENGE'
  | 'DEVICE_SRP_AUTH'
  | 'DEVICE_PASSWORD_VERIFIER'

/** What a sign-in carries from step to step. */
const stateSchema = z.object({
  flow: z.enum(['USER_PASSWORD_AUTH', 'USER_SRP_AUTH', 'USER_AUTH', 'CUSTOM_AUTH']),
  /** The name that the client began with, as `placeholderUsername` writes it. */
  given: z.string(),
  /** What was proven first, once it is. */
  firstFactor: z.enum([...firstFactors, 'CUSTOM']).optional(),
  /** Whether a code by mail was proven besides a password. */
  mailProven: z.boolean().optional(),
  /** Whether a passkey's authenticator made sure of the person: two factors in one. */
  personVerified: z.boolean().optional(),
  /** The device that the client says it is. */
  deviceKey: z.string().optional(),
  /** Whether that device, once it is proven, stands for a second factor. */
  deviceStands: z.boolean().optional(),
  /** The step's own memory. */
  step: z.record(z.string(), z.unknown()).default({}),
})
export type SignInState = z.infer<typeof stateSchema>

export interface AuthenticationResult extends IssuedTokens {
  RefreshToken?: string
  NewDeviceMetadata?: DeviceMetadata
}

/** The answer to InitiateAuth and RespondToAuthChallenge. */
export interface AuthAnswer {
  AuthenticationResult?: AuthenticationResult
  ChallengeName?: ChallengeName
  ChallengeParameters: Record<string, string>
  AvailableChallenges?: string[]
  Session?: string
}

/** Who signs in, to what, and how far it has come. `user` is undefined where there is none and the client is not to know. */
export interface SignInProgress {
  client: Client
  /** The canonical name, or one that looks like it where there is no account. */
  username: string
  user: User | undefined
  state: SignInState
}

/** An open step, as the client's answer finds it. */
export interface OpenStep extends SignInProgress {
  session: string
  challenge: ChallengeName
  triesLeft: number
}

export const newSession = () => randomBytes(48).toString('base64url')
const hashSession = (session: string) => createHash('sha256').update(session).digest('base64url')
export const statePurpose = (sessionHash: string) => `sign-in-step:${sessionHash}`

/** Asks the client for something: the step waits for its answer for three minutes. */
export async function ask(
  tx: Transaction | Database,
  progress: SignInProgress,
  challenge: ChallengeName,
  parameters: Record<string, string>,
  { context: { config, clock } }: Call,
  more: { session?: string; available?: string[]; tries?: number } = {},
): Promise<AuthAnswer> {
  const session = more.session ?? newSession()
  const sessionHash = hashSession(session)
  await tx.insert(signInSteps).values({
    sessionHash,
    poolId: progress.client.pool.id,
    clientId: progress.client.id,
    userId: progress.user?.id ?? null,
    username: progress.username,
    challenge,
    sealedState: config.SEALING_KEYS.seal(JSON.stringify(progress.state), statePurpose(sessionHash)),
    triesLeft: more.tries ?? config.CODE_TRIES,
    expiresAt: clock.now().add({ seconds: config.SIGN_IN_STEP_SECONDS }),
  })
  return {
    ChallengeName: challenge,
    ChallengeParameters: { USER_ID_FOR_SRP: progress.username, ...parameters },
    Session: session,
    ...(more.available ? { AvailableChallenges: more.available } : {}),
  }
}

/** Which client a session belongs to, where only the session is given. */
export async function clientOfSession(session: string, { context: { db } }: Call): Promise<string> {
  const [row] = await db
    .select({ clientId: signInSteps.clientId })
    .from(signInSteps)
    .where(eq(signInSteps.sessionHash, hashSession(session)))
  if (!row) throw expiredSession()
  return row.clientId
}

/**
 * Finds the step that an answer is for.
 * @param lock locks its row and the account's for the rest of the transaction.
 * @throws IdentityError NotAuthorizedException where there is none: unknown, over, used, another client's or step's.
 */
export async function findStep(
  tx: Transaction | Database,
  session: string,
  challenge: ChallengeName,
  client: Client,
  { context }: Call,
  { lock }: { lock: boolean },
): Promise<OpenStep> {
  const sessionHash = hashSession(session)
  const find = () =>
    tx
      .select()
      .from(signInSteps)
      .where(and(eq(signInSteps.sessionHash, sessionHash), eq(signInSteps.clientId, client.id)))
  let [row] = await find()
  let user: User | undefined
  if (row?.userId) {
    const account = tx.select().from(users).where(eq(users.id, row.userId))
    ;[user] = await (lock ? account.for('update') : account)
    if (!user) throw expiredSession()
  }
  // After the account, as everywhere: a new password deletes the steps of an account whose row it has locked.
  if (lock) [row] = await find().for('update')
  if (
    !row ||
    row.challenge !== challenge ||
    row.triesLeft <= 0 ||
    Temporal.Instant.compare(row.expiresAt, context.clock.now()) <= 0
  ) {
    throw expiredSession()
  }
  const opened = context.config.SEALING_KEYS.open(row.sealedState, statePurpose(sessionHash))
  if (!opened) throw expiredSession()
  return {
    client,
    session,
    challenge,
    triesLeft: row.triesLeft,
    username: row.username,
    user,
    state: stateSchema.parse(JSON.parse(opened.toString())),
  }
}

/** A step that was answered is over: its session is worth nothing any more. */
export async function endStep(tx: Transaction, { session }: OpenStep): Promise<void> {
  await tx.delete(signInSteps).where(eq(signInSteps.sessionHash, hashSession(session)))
}

/** Counts a wrong answer; the step stays for a better one, a few times. @returns `refusal`, to be returned from the transaction. */
export async function keepStep(tx: Transaction, step: OpenStep, refusal: IdentityError): Promise<IdentityError> {
  await tx
    .update(signInSteps)
    .set({ triesLeft: step.triesLeft - 1 })
    .where(eq(signInSteps.sessionHash, hashSession(step.session)))
  return refusal
}

export interface DeviceMetadata {
  DeviceKey: string
  DeviceGroupKey: string
}
