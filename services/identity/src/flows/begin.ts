import { invalid, missing, unknownUser } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import type { Flow } from './flow.ts'
import { checkSecretHash } from '../pools/pools.ts'
import type { SignInProgress, SignInState } from '../sign-in/sign-in-steps.ts'
import { canonicalName, placeholderUsername } from '../users/simulated-account.ts'
import { findByName, findUser } from '../users/users.ts'

/**
 * Starts a sign-in. Unless the client may learn who has an account, an unknown username continues like a known one.
 * @throws IdentityError if the client's secret is not proven
 */
export async function begin({ client, parameters, call }: Flow, flow: SignInState['flow']): Promise<SignInProgress> {
  const { context } = call
  const { pool, settings } = client
  const name = parameters['USERNAME']
  if (!name) throw missing('USERNAME')
  if (!input.username.safeParse(name).success) throw invalid('USERNAME is not a name that an account can have.')
  checkSecretHash(client, name, parameters['SECRET_HASH'])
  const { db } = context
  // An unverified address finds no account, except for clients that may learn about accounts: finding one would reveal
  // whether somebody else has verified it. A password given with it may still match an account that is yet to be
  // confirmed.
  const revealsUsers = settings.preventUserExistenceErrors === 'LEGACY'
  const user = await (revealsUsers ? findUser : findByName)(db, pool, name)
  const given = await placeholderUsername(db, pool, name)
  if (!user && revealsUsers) throw unknownUser()
  const deviceKey = parameters['DEVICE_KEY']
  return {
    client,
    // With a plain password no canonical username is returned before it is checked.
    username: flow === 'USER_PASSWORD_AUTH' ? (user?.username ?? name) : await canonicalName(pool, name, user, context),
    user,
    state: { flow, given, step: {}, ...(deviceKey ? { deviceKey } : {}) },
  }
}
