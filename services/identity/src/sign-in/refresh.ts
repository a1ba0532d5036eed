import { createHmac } from 'node:crypto'
import { signInLocked } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { isSameSecret } from '@robokids/runtime/same-secret'
import { eq, inArray } from 'drizzle-orm'
import { findDevice } from '../factors/devices.ts'
import { userDisabled, IdentityError, orThrow } from '../protocol/errors.ts'
import type { Client } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { refreshTokens, signIns, users, type User } from '../schema.ts'
import type { AuthenticationResult } from './sign-in-steps.ts'
import { endSignIn } from './sign-outs.ts'
import { hashToken, type SignIn, type Tokens } from './tokens.ts'
import { accountOf } from '../users/users.ts'

const invalidToken = () => new IdentityError('NotAuthorizedException', 'Invalid Refresh Token')
const revoked = () => new IdentityError('NotAuthorizedException', 'Refresh Token has been revoked')

type StoredToken = typeof refreshTokens.$inferSelect

interface Found {
  token: StoredToken
  signIn: SignIn
  user: User
}

/** Finds a refresh token with its sign-in locked, which serializes changes to the token family. */
export async function lockRefreshToken(tx: Transaction, token: string): Promise<Found | undefined> {
  const hash = hashToken(token)
  const [known] = await tx.select().from(refreshTokens).where(eq(refreshTokens.hash, hash))
  if (!known) return undefined
  const [row] = await tx
    .select()
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(eq(signIns.id, known.signInId))
    .for('update', { of: signIns })
  // Read again, as of the lock.
  const [stored] = await tx.select().from(refreshTokens).where(eq(refreshTokens.hash, hash))
  return row && stored ? { token: stored, signIn: row.sign_ins, user: row.users } : undefined
}

/**
 * Derives a token's successor. It is always the same, so that parallel refreshes of several tabs get one token, and it
 * cannot be computed without MAC_KEYS.
 * @returns the successors by the current and by earlier keys
 */
function successorsOf(token: string, { context }: Call): string[] {
  return context.config.MAC_KEYS.macs(token, 'next-refresh-token').map((seed) =>
    createHmac('sha384', seed).update(token).digest('base64url'),
  )
}

/**
 * Returns the token for a client that presents a replaced one: its successor while that was never used, since the
 * response may have been lost; within the grace period the newest of the family, since tabs refresh late.
 */
async function newestSuccessor(
  tx: Transaction,
  token: string,
  isWithinGrace: boolean,
  call: Call,
): Promise<string | undefined> {
  let newest = token
  do {
    const successors = new Map(successorsOf(newest, call).map((successor) => [hashToken(successor), successor]))
    const [stored] = await tx
      .select()
      .from(refreshTokens)
      .where(inArray(refreshTokens.hash, [...successors.keys()]))
    if (!stored) return undefined
    newest = successors.get(stored.hash) ?? newest
    if (stored.replacedAt === null) return newest
  } while (isWithinGrace)
  return undefined
}

/** Replaces the token if the client rotates tokens. @returns undefined if it stays */
async function rotate(
  tx: Transaction,
  token: string,
  { token: stored, user, signIn }: Found,
  { settings }: Client,
  call: Call,
): Promise<string | undefined | IdentityError> {
  const now = call.context.clock.now()
  const { enabled, graceSeconds } = settings.rotation
  if (stored.replacedAt !== null) {
    const grace = stored.replacedAt.add({ seconds: graceSeconds })
    const newest = await newestSuccessor(tx, token, Temporal.Instant.compare(now, grace) <= 0, call)
    if (newest !== undefined) return newest
    // The successor was used too: two parties hold this token, so one of them stole it.
    await endSignIn(tx, signIn.id, 'token_reused', now)
    await publish(tx, signInLocked, user.id, { ...(await accountOf(tx, user)), reason: 'token_reused', until: null })
    return revoked()
  }
  if (!enabled) return undefined
  const [next] = successorsOf(token, call)
  if (next === undefined) throw new Error('There is no key to derive a refresh token from.')
  await tx.update(refreshTokens).set({ replacedAt: now }).where(eq(refreshTokens.hash, stored.hash))
  // Refreshing does not extend a sign-in.
  await tx.insert(refreshTokens).values({ hash: hashToken(next), signInId: signIn.id, expiresAt: stored.expiresAt })
  return next
}

/** Issues new tokens for a refresh token. @param prove checks the client's secret against the token's account */
export async function refresh(
  token: string,
  deviceKey: string | undefined,
  client: Client,
  call: Call,
  tokens: Tokens,
  prove: (user: User) => void,
): Promise<{ AuthenticationResult: AuthenticationResult }> {
  const outcome = await call.context.db.transaction(async (tx) => {
    const found = await lockRefreshToken(tx, token)
    if (!found || found.signIn.clientId !== client.id) return invalidToken()
    const { signIn, user } = found
    prove(user)
    if (signIn.endedAt !== null) return revoked()
    if (Temporal.Instant.compare(found.token.expiresAt, call.context.clock.now()) <= 0) return invalidToken()
    if (!user.enabled) return userDisabled()
    if (!(await isSignInDevice(tx, user, signIn, deviceKey, call))) return invalidToken()
    const next = await rotate(tx, token, found, client, call)
    if (next instanceof IdentityError) return next
    const issued = await tokens.issue(tx, signIn, user, client)
    return { AuthenticationResult: { ...issued, ...(next === undefined ? {} : { RefreshToken: next }) } }
  })
  return orThrow(outcome)
}

/** Tokens of a confirmed device work only with its device key. */
async function isSignInDevice(
  tx: Transaction,
  user: User,
  signIn: SignIn,
  key: string | undefined,
  { context }: Call,
): Promise<boolean> {
  if (key !== undefined) return key === signIn.deviceKey
  if (signIn.deviceKey === null) return true
  const device = await findDevice(tx, user, signIn.deviceKey, context.config)
  return device === undefined || device.sealedSrpVerifier === null
}

/** Checks a client secret that is sent in plain text. @throws IdentityError NotAuthorizedException */
export function checkClientSecret(client: Client, given: string | undefined): void {
  if (client.secret !== null && !isSameSecret(given ?? '', client.secret)) {
    throw new IdentityError('NotAuthorizedException', `Unable to verify secret for client ${client.id}`)
  }
}
