import { eq } from 'drizzle-orm'
import { newTotpSecret, sealTotpSecret } from '../src/factors/totp.ts'
import { users } from '../src/schema.ts'
import { password, publicClient, standardPool, type IdentityFixture } from './fixture.ts'
import { startSrp } from './srp-client.ts'

export type Answer = Awaited<ReturnType<IdentityFixture['call']>>

/** A minimal client for sign-ins. */
export function signInClient(fixture: IdentityFixture, clientId = publicClient, poolId = standardPool) {
  const group = poolId.slice(poolId.indexOf('_') + 1)
  const now = () => fixture.service.context.clock.now()
  const steps = {
    begin: (AuthFlow: string, AuthParameters: Record<string, string>, more: object = {}) =>
      fixture.call('InitiateAuth', { ClientId: clientId, AuthFlow, AuthParameters, ...more }),
    answer: (ChallengeName: string, step: Answer | string, ChallengeResponses: Record<string, string>) =>
      fixture.call('RespondToAuthChallenge', {
        ClientId: clientId,
        ChallengeName,
        Session: typeof step === 'string' ? step : step.body['Session'],
        ChallengeResponses,
      }),
    byPassword: (name: string, more: Record<string, string> = {}, secret = password) =>
      steps.begin('USER_PASSWORD_AUTH', { USERNAME: name, PASSWORD: secret, ...more }),
    async bySrp(name: string, secret = password, more: Record<string, string> = {}) {
      const srp = startSrp()
      const challenged = await steps.begin('USER_SRP_AUTH', { USERNAME: name, SRP_A: srp.A })
      return steps.prove(srp, challenged, secret, more)
    },
    prove(srp: ReturnType<typeof startSrp>, challenged: Answer, secret = password, more: Record<string, string> = {}) {
      const parameters = challenged.body['ChallengeParameters'] as Record<string, string>
      const user = parameters['USER_ID_FOR_SRP'] ?? ''
      const proof = srp.answer(parameters, { group, user, password: secret, now: now() })
      return steps.answer('PASSWORD_VERIFIER', challenged, { USERNAME: user, ...proof, ...more })
    },
    /** Enables an authenticator. @returns its secret. */
    async withAuthenticator(userId: string): Promise<string> {
      const secret = newTotpSecret()
      await steps.change(userId, {
        sealedTotpSecret: sealTotpSecret(secret, userId, fixture.service.context.config),
        mfa: ['SOFTWARE_TOKEN_MFA'],
      })
      return secret
    },
    async change(userId: string, change: Partial<typeof users.$inferInsert>): Promise<void> {
      await fixture.service.context.db.update(users).set(change).where(eq(users.id, userId))
    },
  }
  return steps
}

export const tokensOf = (answer: Answer) => answer.body['AuthenticationResult'] as Record<string, string>
export const claimsOf = (token = ''): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
