import { randomUUID } from 'node:crypto'
import type { IdentityErrorName } from '@robokids/contracts/errors'
import { DomainError } from '@robokids/runtime/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { says } from '../bff/src/identity-refusals.ts'
import { openFrontDesk, password, publicClient, type FrontDesk } from '../services/identity/test/front-desk.ts'
import { signInsAt, tokensOf } from '../services/identity/test/sign-ins.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '1' })
})
afterAll(() => desk.stop())

/** What our own identity service refuses a call with, as the BFF knows it. */
async function refusal(operation: string, input: object): Promise<DomainError> {
  const { status, body } = await desk.call(operation, input)
  expect(status).toBe(400)
  return new DomainError(body['__type'] as IdentityErrorName, String(body['message']))
}

async function signedIn() {
  const { username, userId } = await desk.member()
  const tokens = tokensOf(await signInsAt(desk).byPassword(username))
  return { username, userId, AccessToken: tokens['AccessToken'], RefreshToken: tokens['RefreshToken'] }
}

describe('what our own identity service says', () => {
  it('of a sign-in that is over is understood as that by the BFF', async () => {
    const { AccessToken, RefreshToken } = await signedIn()
    const refresh = (token: unknown) =>
      refusal('GetTokensFromRefreshToken', { ClientId: publicClient, RefreshToken: token })
    expect((await desk.call('GlobalSignOut', { AccessToken })).status).toBe(200)
    const shut = await signedIn()
    await signInsAt(desk).change(shut.userId, { enabled: false })
    const refusals = [
      await refusal('GetUser', { AccessToken }),
      await refusal('GetUser', { AccessToken: shut.AccessToken }),
      await refusal('GetUser', { AccessToken: 'nonsense' }),
      await refresh(RefreshToken),
      await refresh('nonsense'),
    ]
    for (const error of refusals) expect([error.message, says(error, 'sessionOver')]).toEqual([error.message, true])
  })

  it('of a token at its end, of a device that it does not know, and of a password that it needs is understood too', async () => {
    const { username, AccessToken } = await signedIn()
    const begin = { USERNAME: username, PASSWORD: password, DEVICE_KEY: `us-west-1_${randomUUID()}` }
    const forgotten = await refusal('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_PASSWORD_AUTH',
      AuthParameters: begin,
    })
    expect(says(forgotten, 'deviceForgotten')).toBe(true)
    const { clock } = desk.service.context
    clock.advance({ hours: 2 })
    expect(says(await refusal('GetUser', { AccessToken }), 'tokenExpired')).toBe(true)
    clock.set(Temporal.Now.instant())
  })
})
