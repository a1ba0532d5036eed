import { IdentityError, missing } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import { checkSecretHash } from '../pools/pools.ts'
import { refresh } from '../sign-in/refresh.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'

/**
 * Issues new tokens for a refresh token. A client with a secret proves it with any username or address of the account.
 */
export async function refreshTokenAuth({ client, parameters, call, tokens }: Flow): Promise<AuthAnswer> {
  const token = parameters['REFRESH_TOKEN']
  if (!token) throw missing('REFRESH_TOKEN')
  const hash = parameters['SECRET_HASH']
  const answer = await refresh(token, parameters['DEVICE_KEY'], client, call, tokens, (user) => {
    const names = [user.username, user.id, user.attributes['email'], user.attributes['phone_number']]
    const proven = names.some((name) => name !== undefined && isProven(name))
    if (!proven) checkSecretHash(client, user.username, hash)
  })
  return { ...answer, ChallengeParameters: {} }

  function isProven(name: string): boolean {
    try {
      checkSecretHash(client, name, hash)
      return true
    } catch (error) {
      if (error instanceof IdentityError) return false
      throw error
    }
  }
}
