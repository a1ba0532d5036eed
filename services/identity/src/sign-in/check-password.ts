import type { Transaction } from '@robokids/runtime/db'
import { prioritizeKnownCaller } from '../protocol/callers.ts'
import { issueCustomChallenge } from './custom-challenge.ts'
import { userDisabled, IdentityError, notConfirmed, wrongPassword } from '../protocol/errors.ts'
import { isPassword } from '../factors/passwords.ts'
import type { Call } from '../protocol/protocol.ts'
import { proceed } from './sign-in.ts'
import { beginAttempt, recordFailure, targetOf } from '../limits/sign-in-limits.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import type { Tokens } from './tokens.ts'
import type { User } from '../schema.ts'
import { findByPassword } from '../users/unconfirmed.ts'
import { lockUser } from '../users/users.ts'

/** The account whose password was given, found before anything is locked. */
export interface CheckedPassword {
  owner: User | undefined
}

/**
 * Compares a password, with equal work if there is no account or password. By address it may also match an unconfirmed
 * account, whether or not another account has verified that address.
 */
export async function checkPassword(
  { user, client: { pool }, state }: SignInProgress,
  password: string,
  call: Call,
): Promise<CheckedPassword> {
  await prioritizeKnownCaller(call.context.db, user, state.deviceKey, call)
  const [isOwn, toConfirm] = await Promise.all([
    isPassword(password, user, call),
    findByPassword(pool, state.given, password, call),
  ])
  return { owner: isOwn ? user : toConfirm }
}

/**
 * Continues a sign-in after its password check, or records the failure.
 * @returns an error, to be returned from the transaction
 */
export async function applyCheckedPassword(
  tx: Transaction,
  begun: SignInProgress,
  { owner }: CheckedPassword,
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer | IdentityError> {
  if (owner && owner.id !== begun.user?.id) {
    await beginAttempt(tx, targetOf(begun), call)
    throw owner.enabled ? notConfirmed() : userDisabled()
  }
  const user = owner && (await lockUser(tx, owner.id))
  await beginAttempt(tx, targetOf(begun), call)
  // The password changed while it was being checked.
  if (!user || user.passwordHash !== owner.passwordHash) {
    await recordFailure(tx, targetOf(begun), call)
    return wrongPassword()
  }
  return acceptPassword(tx, { ...begun, user }, call, tokens)
}

/** Continues after a correct password. */
export async function acceptPassword(
  tx: Transaction,
  progress: SignInProgress & { user: NonNullable<SignInProgress['user']> },
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer | IdentityError> {
  const { user, state } = progress
  if (user.passwordExpiresAt && Temporal.Instant.compare(user.passwordExpiresAt, call.context.clock.now()) <= 0) {
    return new IdentityError(
      'NotAuthorizedException',
      'Temporary password has expired and must be reset by an administrator.',
    )
  }
  const proven = { ...progress, state: { ...state, firstFactor: 'PASSWORD' as const } }
  if (state.flow === 'CUSTOM_AUTH') return issueCustomChallenge(tx, proven, call)
  return proceed(tx, proven, call, tokens)
}
