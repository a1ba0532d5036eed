import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFrontDesk, password, publicClient, standardPool, type FrontDesk } from './front-desk.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk()
})
afterAll(() => desk.stop())

describe('a sign-in by password', () => {
  it('gives tokens that jose verifies by the published keys', async () => {
    const person = await desk.member()
    const { status, body } = await desk.call('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: person.email.toUpperCase(), PASSWORD: password },
    })
    expect(body).toMatchObject({ AuthenticationResult: { TokenType: 'Bearer', ExpiresIn: 3600 } })
    expect(status).toBe(200)
    const keys = createRemoteJWKSet(new URL(`${desk.url}/${standardPool}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(body['AuthenticationResult'].IdToken, keys, { audience: publicClient })
    expect(payload).toMatchObject({ sub: person.userId, email: person.email, email_verified: true, token_use: 'id' })
    const user = await desk.call('GetUser', { AccessToken: body['AuthenticationResult'].AccessToken })
    expect(user.body).toMatchObject({ Username: person.username })
  })
})
