import type { Transaction } from '@robokids/runtime/db'
import type { Call } from '../protocol/protocol.ts'
import { checkState } from './sign-in.ts'
import { askForCode, provableDestination, simulateDelivery } from '../factors/sign-in-codes.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'

/**
 * Our custom challenge: a code by mail, three tries. Where nothing was proven before, an account without a verified
 * address is answered like a name that nobody has.
 */
export async function askCustomChallenge(tx: Transaction, progress: SignInProgress, call: Call): Promise<AuthAnswer> {
  const { user, username, state } = progress
  if (user && state.firstFactor !== undefined) checkState(user)
  const parameters = { USERNAME: username, kind: 'EMAIL_CODE' }
  const to = user && (await provableDestination(tx, user, 'EMAIL'))
  return user && to
    ? askForCode(tx, { ...progress, user }, 'CUSTOM_CHALLENGE', to, call, parameters)
    : simulateDelivery(tx, progress, 'CUSTOM_CHALLENGE', 'EMAIL', call, parameters)
}
