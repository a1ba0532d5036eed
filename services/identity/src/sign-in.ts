import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { newDevice, type DeviceMetadata } from './devices.ts'
import { disabled, expiredSession, IdentityError, notConfirmed } from './errors.ts'
import { rememberAddress } from './sign-in-limits.ts'
import { mfaStep } from './challenges/mfa.ts'
import type { Client } from './pools.ts'
import { firstFactors } from './pool-settings.ts'
import type { Call } from './protocol.ts'
import { refreshTokens, signIns, signInSteps, type User } from './schema.ts'
import { hashToken, type IssuedTokens, type Tokens } from './tokens.ts'

export const challengeNames = [
  'PASSWORD_VERIFIER',
  'NEW_PASSWORD_REQUIRED',
  'SMS_MFA',
  'EMAIL_OTP',
  'SMS_OTP',
  'SOFTWARE_TOKEN_MFA',
  'SELECT_MFA_TYPE',
  'MFA_SETUP',
  'SELECT_CHALLENGE',
  'PASSWORD',
  'PASSWORD_SRP',
  'WEB_AUTHN',
  'CUSTOM_CHALLENGE',
  'DEVICE_SRP_AUTH',
  'DEVICE_PASSWORD_VERIFIER',
] as const
export type ChallengeName = (typeof challengeNames)[number]

/** What a sign-in carries from step to step. A step adds what it needs itself under `step`. */
export const signInStateSchema = z.object({
  flow: z.enum(['USER_PASSWORD_AUTH', 'USER_SRP_AUTH', 'USER_AUTH', 'CUSTOM_AUTH']),
  /** What was proven first, once it is. */
  firstFactor: z.enum([...firstFactors, 'CUSTOM']).optional(),
  /** The device that the client says it is. */
  deviceKey: z.string().optional(),
  /** The step's own memory. */
  step: z.record(z.string(), z.unknown()).default({}),
})
export type SignInState = z.infer<typeof signInStateSchema>

export interface AuthenticationResult extends IssuedTokens {
  RefreshToken: string
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
  /** The canonical name, or the one that was given where there is no account. */
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

const hashSession = (session: string) => createHash('sha256').update(session).digest('base64url')
const statePurpose = (sessionHash: string) => `sign-in-step:${sessionHash}`

/** Asks the client for something: the step waits for its answer for three minutes. */
export async function ask(
  tx: Transaction | Database,
  progress: SignInProgress,
  challenge: ChallengeName,
  parameters: Record<string, string>,
  call: Call,
  more: { session?: string; available?: string[] } = {},
): Promise<AuthAnswer> {
  const { config, clock } = call.context
  const session = more.session ?? randomBytes(48).toString('base64url')
  const sessionHash = hashSession(session)
  await tx.insert(signInSteps).values({
    sessionHash,
    poolId: progress.client.pool.id,
    clientId: progress.client.id,
    userId: progress.user?.id ?? null,
    username: progress.username,
    challenge,
    sealedState: config.SEALING_KEYS.seal(JSON.stringify(progress.state), statePurpose(sessionHash)),
    triesLeft: config.CODE_TRIES,
    expiresAt: clock.now().add({ seconds: config.SIGN_IN_STEP_SECONDS }),
  })
  return {
    ChallengeName: challenge,
    ChallengeParameters: parameters,
    Session: session,
    ...(more.available ? { AvailableChallenges: more.available } : {}),
  }
}

/**
 * Finds the step that an answer is for, with its row locked.
 * @param load finds the account, with its row locked.
 * @throws IdentityError NotAuthorizedException where there is none: unknown, over, used, another client's or step's.
 */
export async function findStep(
  tx: Transaction,
  session: string,
  challenge: ChallengeName,
  client: Client,
  load: (tx: Transaction, userId: string) => Promise<User | undefined>,
  { context }: Call,
): Promise<OpenStep> {
  const sessionHash = hashSession(session)
  const [row] = await tx
    .select()
    .from(signInSteps)
    .where(and(eq(signInSteps.sessionHash, sessionHash), eq(signInSteps.clientId, client.id)))
    .for('update')
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
  const user = row.userId === null ? undefined : await load(tx, row.userId)
  if (row.userId !== null && !user) throw expiredSession()
  return {
    client,
    session,
    challenge,
    triesLeft: row.triesLeft,
    username: row.username,
    user,
    state: signInStateSchema.parse(JSON.parse(opened.toString())),
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

/** @throws IdentityError for an account that may not sign in now. Only to be told to who has proven a first factor. */
export function checkState(user: User): void {
  if (!user.enabled) throw disabled()
  if (user.status === 'UNCONFIRMED') throw notConfirmed()
  if (user.status === 'RESET_REQUIRED') {
    throw new IdentityError('PasswordResetRequiredException', 'Password reset required for the user')
  }
}

/**
 * Goes on after a proven first factor: the account's state, a new password in place of a temporary one, a known device
 * in place of a second factor, the second factor or its set-up, and the tokens.
 */
export async function proceed(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer> {
  const { user } = progress
  checkState(user)
  if (user.status === 'FORCE_CHANGE_PASSWORD') {
    return ask(
      tx,
      progress,
      'NEW_PASSWORD_REQUIRED',
      {
        USER_ID_FOR_SRP: user.username,
        userAttributes: JSON.stringify(user.attributes),
        requiredAttributes: '[]',
      },
      call,
    )
  }
  const second = await mfaStep(tx, progress, call)
  if (second) return second
  return complete(tx, progress, call, tokens)
}

/** Signs in: everything that was asked for is proven. */
export async function complete(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer> {
  const { user, client, state } = progress
  const now = call.context.clock.now()
  const device = await newDevice(tx, user, client.pool, state.deviceKey, call)
  const [signIn] = await tx
    .insert(signIns)
    .values({
      id: randomUUID(),
      userId: user.id,
      poolId: user.poolId,
      clientId: client.id,
      deviceKey: device?.DeviceKey ?? state.deviceKey ?? null,
      signedInAt: now,
    })
    .returning()
  if (!signIn) throw new Error('The sign-in was not written.')
  await rememberAddress(tx, user, call)
  const issued = await tokens.issue(tx, signIn, user, client)
  const refreshToken = await issueRefreshToken(tx, signIn.id, client, now)
  return {
    AuthenticationResult: {
      ...issued,
      RefreshToken: refreshToken,
      ...(device ? { NewDeviceMetadata: device } : {}),
    },
    ChallengeParameters: {},
  }
}

/** Makes one more refresh token of a sign-in. Only its hash is kept. */
export async function issueRefreshToken(
  tx: Transaction,
  signInId: string,
  client: Client,
  now: Temporal.Instant,
): Promise<string> {
  const token = randomBytes(48).toString('base64url')
  const expiresAt = now.add({ seconds: client.settings.refreshTokenSeconds })
  await tx.insert(refreshTokens).values({ hash: hashToken(token), signInId, expiresAt })
  return token
}
