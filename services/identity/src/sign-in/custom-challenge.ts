import type { Transaction } from '@robokids/runtime/db'
import type { Call } from '../protocol/protocol.ts'
import { checkUserStatus } from './sign-in.ts'
import { issueCodeChallenge, provableDestination, simulateDelivery } from '../factors/sign-in-codes.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'

/**
 * Our custom challenge: a code by e-mail with three attempts. As a first factor, an account without a verified address
 * gets the same response as an unknown username.
 */
export async function issueCustomChallenge(tx: Transaction, progress: SignInProgress, call: Call): Promise<AuthAnswer> {
  const { user, username, state } = progress
  if (user && state.firstFactor !== undefined) checkUserStatus(user)
  const parameters = { USERNAME: username, kind: 'EMAIL_CODE' }
  const to = user && (await provableDestination(tx, user, 'EMAIL'))
  return user && to
    ? issueCodeChallenge(tx, { ...progress, user }, 'CUSTOM_CHALLENGE', to, call, parameters)
    : simulateDelivery(tx, progress, 'CUSTOM_CHALLENGE', 'EMAIL', call, parameters)
}
