import { checkPassword, applyCheckedPassword } from '../sign-in/check-password.ts'
import { missing, orThrow } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import type { AuthAnswer, SignInProgress } from '../sign-in/sign-in-steps.ts'
import { checkSignInWait, targetOf } from '../limits/sign-in-limits.ts'
import { begin } from './begin.ts'

/** A plain password, over TLS. */
export async function userPasswordAuth(flow: Flow): Promise<AuthAnswer> {
  if (!flow.parameters['PASSWORD']) throw missing('PASSWORD')
  return signInByPassword(flow, await begin(flow, 'USER_PASSWORD_AUTH'))
}

/**
 * Checks a password and continues the sign-in. A wrong password, an unknown username and an account without a password
 * get the same response.
 */
export async function signInByPassword(
  { parameters, call, tokens }: Flow,
  progress: SignInProgress,
): Promise<AuthAnswer> {
  const password = parameters['PASSWORD']
  if (!password) throw missing('PASSWORD')
  await checkSignInWait(call.context.db, targetOf(progress), call)
  const checked = await checkPassword(progress, password, call)
  return orThrow(await call.context.db.transaction((tx) => applyCheckedPassword(tx, progress, checked, call, tokens)))
}
