import { eq } from 'drizzle-orm'
import { newTotpSecret, sealTotpSecret } from '../src/factors/totp.ts'
import { users } from '../src/schema.ts'
import { password, publicClient, standardPool, type FrontDesk } from './front-desk.ts'
import { startSrp } from './srp-client.ts'

export type Answer = Awaited<ReturnType<FrontDesk['call']>>

/** Steps of sign-ins, as a client without a library takes them. */
export function signInsAt(desk: FrontDesk, clientId = publicClient, poolId = standardPool) {
  const group = poolId.slice(poolId.indexOf('_') + 1)
  const now = () => desk.service.context.clock.now()
  const steps = {
    begin: (AuthFlow: string, AuthParameters: Record<string, string>, more: object = {}) =>
      desk.call('InitiateAuth', { ClientId: clientId, AuthFlow, AuthParameters, ...more }),
    answer: (ChallengeName: string, step: Answer | string, ChallengeResponses: Record<string, string>) =>
      desk.call('RespondToAuthChallenge', {
        ClientId: clientId,
        ChallengeName,
        Session: typeof step === 'string' ? step : step.body['Session'],
        ChallengeResponses,
      }),
    byPassword: (name: string, more: Record<string, string> = {}, secret = password) =>
      steps.begin('USER_PASSWORD_AUTH', { USERNAME: name, PASSWORD: secret, ...more }),
    async bySrp(name: string, secret = password, more: Record<string, string> = {}) {
      const srp = startSrp()
      const asked = await steps.begin('USER_SRP_AUTH', { USERNAME: name, SRP_A: srp.A })
      return steps.prove(srp, asked, secret, more)
    },
    prove(srp: ReturnType<typeof startSrp>, asked: Answer, secret = password, more: Record<string, string> = {}) {
      const parameters = asked.body['ChallengeParameters'] as Record<string, string>
      const user = parameters['USER_ID_FOR_SRP'] ?? ''
      const proof = srp.answer(parameters, { group, user, password: secret, now: now() })
      return steps.answer('PASSWORD_VERIFIER', asked, { USERNAME: user, ...proof, ...more })
    },
    /** Turns an authenticator on. @returns its secret. */
    async withAuthenticator(userId: string): Promise<string> {
      const secret = newTotpSecret()
      await steps.change(userId, {
        sealedTotpSecret: sealTotpSecret(secret, userId, desk.service.context.config),
        mfa: ['SOFTWARE_TOKEN_MFA'],
      })
      return secret
    },
    async change(userId: string, change: Partial<typeof users.$inferInsert>): Promise<void> {
      await desk.service.context.db.update(users).set(change).where(eq(users.id, userId))
    },
  }
  return steps
}

export const tokensOf = (answer: Answer) => answer.body['AuthenticationResult'] as Record<string, string>
export const claimsOf = (token = ''): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
