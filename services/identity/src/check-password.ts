import type { Transaction } from '@robokids/runtime/db'
import { askCustomChallenge } from './custom-challenge.ts'
import { IdentityError, wrongPassword } from './errors.ts'
import { isPassword } from './passwords.ts'
import type { Call } from './protocol.ts'
import { proceed } from './sign-in.ts'
import { checkSignInWait, noteFailure } from './sign-in-limits.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import type { Tokens } from './tokens.ts'
import { lockUser } from './users.ts'

/** A password that was hashed and compared, before anything was locked. */
export interface CheckedPassword {
  proven: boolean
  /** What it was compared with. */
  against: string | null | undefined
}

/** Compares a password: as much work for who has none, or no account. */
export async function checkPassword(
  { user }: SignInProgress,
  password: string,
  { context }: Call,
): Promise<CheckedPassword> {
  return { proven: await isPassword(password, user, context), against: user?.passwordHash }
}

/** Whom a sign-in's failures count against. */
export const targetOf = ({ client, state, user }: SignInProgress) => ({
  poolId: client.pool.id,
  name: state.given,
  user,
})

/**
 * Goes on with a sign-in whose password was checked, or notes that it was wrong.
 * @returns the refusal, to be returned from the transaction.
 */
export async function judgePassword(
  tx: Transaction,
  begun: SignInProgress,
  { proven, against }: CheckedPassword,
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer | IdentityError> {
  const user = begun.user && (await lockUser(tx, begun.user.id))
  const progress = { ...begun, user }
  // Changed while it was being checked: it is not the password any more.
  if (!user || !proven || user.passwordHash !== against) {
    await noteFailure(tx, targetOf(begun), call)
    return wrongPassword()
  }
  // Many that were tried at once: those after the first few have to wait, right or wrong.
  await checkSignInWait(tx, targetOf(progress), call)
  return acceptPassword(tx, { ...progress, user }, call, tokens)
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
