import type { Transaction } from '@robokids/runtime/db'
import type { AuthAnswer, SignInProgress } from '../sign-in.ts'
import type { Call } from '../protocol.ts'
import type { User } from '../schema.ts'

/** The second factor that a sign-in still needs, or its set-up. @returns undefined where nothing more is needed. */
export async function mfaStep(
  _tx: Transaction,
  _progress: SignInProgress & { user: User },
  _call: Call,
): Promise<AuthAnswer | undefined> {
  return undefined
}
