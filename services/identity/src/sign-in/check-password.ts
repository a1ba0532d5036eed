import type { Transaction } from '@robokids/runtime/db'
import { goBeforeStrangers } from '../protocol/callers.ts'
import { askCustomChallenge } from './custom-challenge.ts'
import { disabled, IdentityError, notConfirmed, wrongPassword } from '../protocol/errors.ts'
import { isPassword } from '../factors/passwords.ts'
import type { Call } from '../protocol/protocol.ts'
import { proceed } from './sign-in.ts'
import { beginAttempt, recordFailure, targetOf } from '../limits/sign-in-limits.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import type { Tokens } from './tokens.ts'
import type { User } from '../schema.ts'
import { findByPassword } from '../users/unconfirmed.ts'
import { lockUser } from '../users/users.ts'

/** Whose password was given, found out before anything was locked. */
export interface CheckedPassword {
  owner: User | undefined
}

/**
 * Compares a password: as much work for who has none, or no account. By an address it may also be that of somebody who is
 * to confirm it, whether or not somebody else has.
 */
export async function checkPassword(
  { user, client: { pool }, state }: SignInProgress,
  password: string,
  call: Call,
): Promise<CheckedPassword> {
  await goBeforeStrangers(call.context.db, user, state.deviceKey, call)
  const [isOwn, toConfirm] = await Promise.all([
    isPassword(password, user, call),
    findByPassword(pool, state.given, password, call),
  ])
  return { owner: isOwn ? user : toConfirm }
}

/**
 * Goes on with a sign-in whose password was checked, or notes that it was wrong.
 * @returns the refusal, to be returned from the transaction.
 */
export async function judgePassword(
  tx: Transaction,
  begun: SignInProgress,
  { owner }: CheckedPassword,
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer | IdentityError> {
  if (owner && owner.id !== begun.user?.id) {
    await beginAttempt(tx, targetOf(begun), call)
    throw owner.enabled ? notConfirmed() : disabled()
  }
  const user = owner && (await lockUser(tx, owner.id))
  await beginAttempt(tx, targetOf(begun), call)
  // Changed while it was being checked: it is not the password any more.
  if (!user || user.passwordHash !== owner.passwordHash) {
    await recordFailure(tx, targetOf(begun), call)
    return wrongPassword()
  }
  return acceptPassword(tx, { ...begun, user }, call, tokens)
}

/** Goes on after a proven password. */
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
  if (state.flow === 'CUSTOM_AUTH') return askCustomChallenge(tx, proven, call)
  return proceed(tx, proven, call, tokens)
}
