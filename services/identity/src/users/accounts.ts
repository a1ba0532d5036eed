import { userDeleted, userUpdated } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { dropCodes, ownCodeKey } from '../factors/codes.ts'
import { freshSignInRequired, IdentityError, orThrow } from '../protocol/errors.ts'
import { storePassword, type NewPassword } from '../factors/passwords.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { aliases, devices, knownAddresses, passkeys, mfaSetups, signInSteps, users, type User } from '../schema.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'
import type { Bearer, Tokens } from '../sign-in/tokens.ts'
import { aliasValue, isVerified, lockUser, publishAccount, verifiedAddress, type Verifiable } from './users.ts'

/**
 * Asks of who gives an account away (another address, passkey, authenticator or trusted browser, or one second factor less)
 * to have signed in just now, where the client's settings want that: a browser that was left open, or a stolen session, is
 * not enough.
 * @throws IdentityError FreshSignInRequiredException
 */
export function checkFresh({ signIn, client }: Bearer, { context }: Call): void {
  const seconds = client.settings.freshSignInSeconds
  if (seconds === null) return
  const stale = signIn.signedInAt.add({ seconds })
  if (Temporal.Instant.compare(stale, context.clock.now()) < 0) throw freshSignInRequired()
}

/** Does something to the account of who holds an access token, with its row locked; a refusal that is returned is thrown once it has committed. */
export async function withAuthenticatedUser<T>(
  tokens: Tokens,
  accessToken: string,
  { context }: Call,
  work: (tx: Transaction, user: User, bearer: Bearer) => Promise<T | IdentityError>,
): Promise<T> {
  const bearer = await tokens.authenticate(accessToken)
  const outcome = await context.db.transaction(async (tx) => {
    const user = await lockUser(tx, bearer.user.id)
    if (!user) throw new IdentityError('NotAuthorizedException', 'Access Token has been revoked')
    return work(tx, user, bearer)
  })
  return orThrow(outcome)
}

/** Writes an account, and tells of it. @param changed as the event names it. */
export async function changeAccount(
  tx: Transaction,
  user: User,
  change: Partial<typeof users.$inferInsert>,
  changed: string[],
  { context }: Call,
  previousEmail: string | null = null,
): Promise<User> {
  const [written] = await tx
    .update(users)
    .set({ ...change, updatedAt: context.clock.now() })
    .where(eq(users.id, user.id))
    .returning()
  if (!written) throw new Error('The account was not written.')
  if (changed.length > 0) {
    const now = {
      ...(changed.includes('mfa') ? { secondFactors: written.mfa } : {}),
      ...(changed.includes('passkeys') ? { passkeys: await tx.$count(passkeys, eq(passkeys.userId, user.id)) } : {}),
    }
    // While a new address is not verified, the one that is still belongs to whoever is to be told.
    const verified = await verifiedAddress(tx, written, 'email')
    const before = previousEmail ?? (isVerified(written, 'email') ? null : (verified ?? null))
    await publishAccount(tx, userUpdated, written, { changed, previousEmail: before, ...now })
  }
  return written
}

/**
 * Takes a verified address as the account's alias.
 * @param force takes it away from another account, whose address then counts as unverified.
 * @throws IdentityError AliasExistsException where another account has it.
 */
export async function takeAlias(
  tx: Transaction,
  pool: Pool,
  user: User,
  attribute: Verifiable,
  value: string,
  call: Call,
  force = false,
): Promise<void> {
  if (!pool.settings.aliases.includes(attribute)) return
  const key = aliasValue(attribute, value)
  await tx.delete(aliases).where(and(eq(aliases.userId, user.id), eq(aliases.attribute, attribute)))
  const taken = await tx
    .insert(aliases)
    .values({ poolId: pool.id, attribute, value: key, userId: user.id })
    .onConflictDoNothing({ target: [aliases.poolId, aliases.attribute, aliases.value] })
    .returning()
  if (taken.length > 0) return
  if (!force) throw new IdentityError('AliasExistsException', `An account with the ${attribute} already exists.`)
  const held = and(eq(aliases.poolId, pool.id), eq(aliases.attribute, attribute), eq(aliases.value, key))
  const [previous] = await tx.select().from(aliases).where(held).for('update')
  const loser = previous && (await lockUser(tx, previous.userId))
  await tx.update(aliases).set({ userId: user.id }).where(held)
  if (!loser) return
  const flag = `${attribute}_verified`
  const attributes = { ...loser.attributes, [flag]: 'false' }
  await changeAccount(tx, loser, { attributes }, [flag], call, attribute === 'email' ? key : null)
}

/**
 * Gives an account, whose row is locked, a password. Who signed in with the one before, or has begun to, is signed out.
 * @param keep the sign-in that goes on, if one does.
 */
export async function setPassword(
  tx: Transaction,
  user: User,
  pool: Pool,
  password: NewPassword,
  change: Pick<Partial<User>, 'status' | 'passwordExpiresAt' | 'attributes' | 'resetBy'>,
  call: Call,
  keep?: string,
): Promise<User> {
  const stored = storePassword(password, user, pool, call.context)
  await endSignIns(tx, user.id, 'password_changed', call.context.clock.now(), keep === undefined ? {} : { keep })
  await tx.delete(signInSteps).where(eq(signInSteps.userId, user.id))
  return changeAccount(tx, user, { passwordExpiresAt: null, resetBy: null, ...change, ...stored }, ['password'], call)
}

/**
 * Takes from an account, whose row is locked, all that lets anybody in but its password: whoever has just proven its
 * address need not be who set these up.
 */
export async function dropCredentials(tx: Transaction, user: User, call: Call): Promise<User> {
  for (const table of [passkeys, devices, mfaSetups, knownAddresses])
    await tx.delete(table).where(eq(table.userId, user.id))
  await tx.delete(aliases).where(and(eq(aliases.userId, user.id), eq(aliases.attribute, 'phone_number')))
  const verified = user.attributes['phone_number_verified']
  const attributes = verified === undefined ? user.attributes : { ...user.attributes, phone_number_verified: 'false' }
  const change = {
    attributes,
    keptAddresses: {},
    mfa: [],
    preferredMfa: null,
    sealedTotpSecret: null,
    totpLastStep: null,
  }
  return changeAccount(tx, user, change, ['mfa', 'passkeys'], call)
}

/** Deletes an account, whose row is locked, with all that is its own. */
export async function deleteAccount(tx: Transaction, user: User): Promise<void> {
  await dropCodes(tx, ownCodeKey(user, 'verify_email'))
  await dropCodes(tx, ownCodeKey(user, 'verify_phone_number'))
  await publishAccount(tx, userDeleted, user, {})
  await tx.delete(users).where(eq(users.id, user.id))
}
