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

/** State that a sign-in carries from step to step. */
const stateSchema = z.object({
  flow: z.enum(['USER_PASSWORD_AUTH', 'USER_SRP_AUTH', 'USER_AUTH', 'CUSTOM_AUTH']),
  /** The username that the client started with, as `placeholderUsername` returns it. */
  given: z.string(),
  /** The first factor, once it is proven. */
  firstFactor: z.enum([...firstFactors, 'CUSTOM']).optional(),
  /** Whether a code by e-mail was proven after a password. */
  mailProven: z.boolean().optional(),
  /** Whether a passkey's authenticator verified the person: two factors in one. */
  personVerified: z.boolean().optional(),
  /** The device that the client claims to be. */
  deviceKey: z.string().optional(),
  /** Whether that device, once proven, replaces the second factor. */
  deviceStands: z.boolean().optional(),
  /** State of the current step. */
  step: z.record(z.string(), z.unknown()).default({}),
})
export type SignInState = z.infer<typeof stateSchema>

export interface AuthenticationResult extends IssuedTokens {
  RefreshToken?: string
  NewDeviceMetadata?: DeviceMetadata
}

/** The response of InitiateAuth and RespondToAuthChallenge. */
export interface AuthAnswer {
  AuthenticationResult?: AuthenticationResult
  ChallengeName?: ChallengeName
  ChallengeParameters: Record<string, string>
  AvailableChallenges?: string[]
  Session?: string
}

/** A sign-in in progress. `user` is undefined if there is no account and the client must not know. */
export interface SignInProgress {
  client: Client
  /** The canonical username, or a simulated one. */
  username: string
  user: User | undefined
  state: SignInState
}

/** An open step, as loaded for the client's response. */
export interface OpenStep extends SignInProgress {
  session: string
  challenge: ChallengeName
  triesLeft: number
}

export const newSession = () => randomBytes(48).toString('base64url')
const hashSession = (session: string) => createHash('sha256').update(session).digest('base64url')
export const statePurpose = (sessionHash: string) => `sign-in-step:${sessionHash}`

/** Stores a step and returns its challenge. The step expires after SIGN_IN_STEP_SECONDS. */
export async function issueChallenge(
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

/** Returns the client id of a session. */
export async function clientOfSession(session: string, { context: { db } }: Call): Promise<string> {
  const [row] = await db
    .select({ clientId: signInSteps.clientId })
    .from(signInSteps)
    .where(eq(signInSteps.sessionHash, hashSession(session)))
  if (!row) throw expiredSession()
  return row.clientId
}

/**
 * Finds the step of a response.
 * @param lock locks the rows of the step and the account for the rest of the transaction
 * @throws IdentityError NotAuthorizedException if it is unknown, expired, used, or of another client or challenge
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
  // Locked after the account, as everywhere: setting a password locks the account and then deletes its steps.
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

/** Ends an answered step; its session no longer works. */
export async function endStep(tx: Transaction, { session }: OpenStep): Promise<void> {
  await tx.delete(signInSteps).where(eq(signInSteps.sessionHash, hashSession(session)))
}

/**
 * Counts a wrong response; the step stays open for a few attempts.
 * @returns `error`, to be returned from the transaction
 */
export async function keepStep(tx: Transaction, step: OpenStep, error: IdentityError): Promise<IdentityError> {
  await tx
    .update(signInSteps)
    .set({ triesLeft: step.triesLeft - 1 })
    .where(eq(signInSteps.sessionHash, hashSession(step.session)))
  return error
}

export interface DeviceMetadata {
  DeviceKey: string
  DeviceGroupKey: string
}
