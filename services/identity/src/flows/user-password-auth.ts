import { IdentityError, missing, orThrow, unknownUser, wrongPassword } from '../errors.ts'
import type { Flow } from '../operations/initiate-auth.ts'
import { isPassword } from '../passwords.ts'
import { checkSecretHash } from '../pools.ts'
import { checkSignInWait, noteFailure } from '../sign-in-limits.ts'
import { proceed, type AuthAnswer } from '../sign-in.ts'
import { findUser, lockUser } from '../users.ts'

/** A password in the clear, over TLS. */
export async function userPasswordAuth(flow: Flow): Promise<AuthAnswer> {
  const { client, parameters } = flow
  const name = parameters['USERNAME']
  const password = parameters['PASSWORD']
  if (!name) throw missing('USERNAME')
  if (!password) throw missing('PASSWORD')
  checkSecretHash(client, name, parameters['SECRET_HASH'])
  return signInByPassword({ ...flow, name, password }, 'USER_PASSWORD_AUTH')
}

/** Checks a password and goes on with the sign-in. A wrong one, an unknown name and an account without one are answered alike. */
export async function signInByPassword(
  { client, parameters, call, tokens, name, password }: Flow & { name: string; password: string },
  flow: 'USER_PASSWORD_AUTH' | 'USER_AUTH',
): Promise<AuthAnswer> {
  const { context } = call
  const { pool } = client
  const found = await findUser(context.db, pool, name)
  await checkSignInWait(pool.id, name, found, call)
  const proven = await isPassword(password, found, context)
  const outcome = await context.db.transaction(async (tx) => {
    const user = found && (await lockUser(tx, found.id))
    // Changed while it was being checked: it is not the password any more.
    if (!user || !proven || user.passwordHash !== found?.passwordHash) {
      await noteFailure(tx, pool.id, name, found, call)
      return client.settings.preventUserExistenceErrors === 'LEGACY' && !found ? unknownUser() : wrongPassword()
    }
    if (user.passwordExpiresAt && Temporal.Instant.compare(user.passwordExpiresAt, context.clock.now()) <= 0) {
      return new IdentityError(
        'NotAuthorizedException',
        'Temporary password has expired and must be reset by an administrator.',
      )
    }
    const deviceKey = parameters['DEVICE_KEY']
    return proceed(
      tx,
      {
        client,
        username: user.username,
        user,
        state: { flow, firstFactor: 'PASSWORD', step: {}, ...(deviceKey ? { deviceKey } : {}) },
      },
      call,
      tokens,
    )
  })
  return orThrow(outcome)
}
