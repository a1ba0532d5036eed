import { invalid, missing, unknownUser } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import type { Flow } from './flow.ts'
import { checkSecretHash } from '../pools/pools.ts'
import type { SignInProgress, SignInState } from '../sign-in/sign-in-steps.ts'
import { canonicalName, placeholderUsername } from '../users/simulated-account.ts'
import { findByName, findUser } from '../users/users.ts'

/**
 * Who wants to sign in. Unless the client may know who has an account, a name that nobody has goes on like any other.
 * @throws IdentityError where the client's secret is not proven.
 */
export async function begin({ client, parameters, call }: Flow, flow: SignInState['flow']): Promise<SignInProgress> {
  const { context } = call
  const { pool, settings } = client
  const name = parameters['USERNAME']
  if (!name) throw missing('USERNAME')
  if (!input.username.safeParse(name).success) throw invalid('USERNAME is not a name that an account can have.')
  checkSecretHash(client, name, parameters['SECRET_HASH'])
  const { db } = context
  // An address that nobody has proven names no account, but to clients that may know of accounts: whom it names would tell
  // whether somebody has. A password that is given with it may still be that of whoever is to confirm it.
  const tellsUsers = settings.preventUserExistenceErrors === 'LEGACY'
  const user = await (tellsUsers ? findUser : findByName)(db, pool, name)
  const given = await placeholderUsername(db, pool, name)
  if (!user && tellsUsers) throw unknownUser()
  const deviceKey = parameters['DEVICE_KEY']
  return {
    client,
    // A password in the clear is right or wrong: nobody is answered a name that is not theirs.
    username: flow === 'USER_PASSWORD_AUTH' ? (user?.username ?? name) : await canonicalName(pool, name, user, context),
    user,
    state: { flow, given, step: {}, ...(deviceKey ? { deviceKey } : {}) },
  }
}
