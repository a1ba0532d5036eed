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
 * Requires a recent sign-in for sensitive changes (another address, passkey, authenticator or trusted browser, or a
 * disabled second factor), if the client's settings say so: an unattended browser or a stolen session is not enough.
 * @throws IdentityError FreshSignInRequiredException
 */
export function checkFresh({ signIn, client }: Bearer, { context }: Call): void {
  const seconds = client.settings.freshSignInSeconds
  if (seconds === null) return
  const stale = signIn.signedInAt.add({ seconds })
  if (Temporal.Instant.compare(stale, context.clock.now()) < 0) throw freshSignInRequired()
}

/** Runs `work` on the bearer's account with its row locked; a returned error is thrown after the commit. */
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

/** Writes an account and publishes the change. @param changed as the event names it */
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
    // While a new address is unverified, warnings still go to the verified one.
    const verified = await verifiedAddress(tx, written, 'email')
    const before = previousEmail ?? (isVerified(written, 'email') ? null : (verified ?? null))
    await publishAccount(tx, userUpdated, written, { changed, previousEmail: before, ...now })
  }
  return written
}

/**
 * Makes a verified address the account's alias.
 * @param force takes it from another account, whose address then counts as unverified
 * @throws IdentityError AliasExistsException if another account has it
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
  const previousOwner = previous && (await lockUser(tx, previous.userId))
  await tx.update(aliases).set({ userId: user.id }).where(held)
  if (!previousOwner) return
  const flag = `${attribute}_verified`
  const attributes = { ...previousOwner.attributes, [flag]: 'false' }
  await changeAccount(tx, previousOwner, { attributes }, [flag], call, attribute === 'email' ? key : null)
}

/**
 * Sets the password of an account whose row is locked. Ends its sign-ins, unfinished ones too.
 * @param keep the sign-in that continues, if any
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
 * Removes all credentials but the password from an account whose row is locked: they may have been set up by somebody
 * other than the person who has just proven its address.
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

/** Deletes an account whose row is locked, with all its data. */
export async function deleteAccount(tx: Transaction, user: User): Promise<void> {
  await dropCodes(tx, ownCodeKey(user, 'verify_email'))
  await dropCodes(tx, ownCodeKey(user, 'verify_phone_number'))
  await publishAccount(tx, userDeleted, user, {})
  await tx.delete(users).where(eq(users.id, user.id))
}
