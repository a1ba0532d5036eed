import { randomUUID } from 'node:crypto'
import type { IdentityErrorName } from '@robokids/contracts/errors'
import { DomainError } from '@robokids/runtime/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isIdentityError } from '../bff/src/identity-errors.ts'
import { startIdentity, password, publicClient, type IdentityFixture } from '../services/identity/test/fixture.ts'
import { signInClient, tokensOf } from '../services/identity/test/sign-in-client.ts'

let identityFixture: IdentityFixture
beforeAll(async () => {
  identityFixture = await startIdentity({ EVEN_ANSWER_MS: '1' })
})
afterAll(() => identityFixture.stop())

/** The error of our own identity service as the BFF translates it. */
async function refusal(operation: string, input: object): Promise<DomainError> {
  const { status, body } = await identityFixture.call(operation, input)
  expect(status).toBe(400)
  return new DomainError(body['__type'] as IdentityErrorName, String(body['message']))
}

async function signedIn() {
  const { username, userId } = await identityFixture.member()
  const tokens = tokensOf(await signInClient(identityFixture).byPassword(username))
  return { username, userId, AccessToken: tokens['AccessToken'], RefreshToken: tokens['RefreshToken'] }
}

describe('Error messages of our own identity service', () => {
  it('The BFF recognizes identity’s messages about a sign-in that has ended', async () => {
    const { AccessToken, RefreshToken } = await signedIn()
    const refresh = (token: unknown) =>
      refusal('GetTokensFromRefreshToken', { ClientId: publicClient, RefreshToken: token })
    expect((await identityFixture.call('GlobalSignOut', { AccessToken })).status).toBe(200)
    const shut = await signedIn()
    await signInClient(identityFixture).change(shut.userId, { enabled: false })
    const refusals = [
      await refusal('GetUser', { AccessToken }),
      await refusal('GetUser', { AccessToken: shut.AccessToken }),
      await refusal('GetUser', { AccessToken: 'nonsense' }),
      await refresh(RefreshToken),
      await refresh('nonsense'),
    ]
    for (const error of refusals)
      expect([error.message, isIdentityError(error, 'sessionOver')]).toEqual([error.message, true])
  })

  it('The BFF recognizes identity’s messages about an expired token, an unknown device and a required password', async () => {
    const { username, AccessToken } = await signedIn()
    const begin = { USERNAME: username, PASSWORD: password, DEVICE_KEY: `us-west-1_${randomUUID()}` }
    const forgotten = await refusal('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_PASSWORD_AUTH',
      AuthParameters: begin,
    })
    expect(isIdentityError(forgotten, 'deviceForgotten')).toBe(true)
    const { clock } = identityFixture.service.context
    clock.advance({ hours: 2 })
    expect(isIdentityError(await refusal('GetUser', { AccessToken }), 'tokenExpired')).toBe(true)
    clock.set(Temporal.Now.instant())
  })
})
