import { invalid, missing, unknownUser } from '../errors.ts'
import * as input from '../inputs.ts'
import type { Flow } from '../operations/initiate-auth.ts'
import { checkSecretHash } from '../pools.ts'
import { checkSignInWait } from '../sign-in-limits.ts'
import type { SignInProgress, SignInState } from '../sign-in-steps.ts'
import { simulateName } from '../simulated-account.ts'
import { findUser } from '../users.ts'

/**
 * Who wants to sign in. Unless the client may know who has an account, a name that nobody has goes on like any other.
 * @throws IdentityError where the client's secret is not proven, or the sign-in has to wait after failures.
 */
export async function begin({ client, parameters, call }: Flow, flow: SignInState['flow']): Promise<SignInProgress> {
  const { context } = call
  const { pool, settings } = client
  const name = parameters['USERNAME']
  if (!name) throw missing('USERNAME')
  if (!input.username.safeParse(name).success) throw invalid('USERNAME is not a name that an account can have.')
  checkSecretHash(client, name, parameters['SECRET_HASH'])
  const user = await findUser(context.db, pool, name)
  await checkSignInWait(context.db, { poolId: pool.id, name, user }, call)
  if (!user && settings.preventUserExistenceErrors === 'LEGACY') throw unknownUser()
  const deviceKey = parameters['DEVICE_KEY']
  return {
    client,
    username: user?.username ?? (await simulateName(pool, name, context)),
    user,
    state: { flow, given: name, step: {}, ...(deviceKey ? { deviceKey } : {}) },
  }
}
