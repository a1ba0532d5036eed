import { signInLocked } from '@robokids/contracts/identity'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, publicClient, type IdentityFixture } from '../fixture.ts'
import { claimsOf, signInClient, tokensOf } from '../sign-in-client.ts'

let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
beforeAll(async () => {
  fixture = await startIdentity()
  at = signInClient(fixture)
})
afterEach(() => fixture.service.context.clock.set(Temporal.Now.instant()))
afterAll(() => fixture.stop())

const refresh = (RefreshToken = '', ClientId = publicClient) =>
  fixture.call('GetTokensFromRefreshToken', { ClientId, RefreshToken })
const getUser = (AccessToken = '') => fixture.call('GetUser', { AccessToken })
const refusal = (message: string) => ({ status: 400, body: { __type: 'NotAuthorizedException', message } })
const later = (seconds: number) => fixture.service.context.clock.advance({ seconds })

async function signIn() {
  const person = await fixture.member()
  const { NewDeviceMetadata: _, ...tokens } = tokensOf(await at.byPassword(person.username))
  return { ...person, tokens }
}

describe('GetTokensFromRefreshToken', () => {
  it('keeps the user, the sign-in and its time, and returns the next refresh token', async () => {
    const { tokens } = await signIn()
    later(5)
    const next = tokensOf(await refresh(tokens['RefreshToken']))
    const [before, after] = [claimsOf(tokens['AccessToken']), claimsOf(next['AccessToken'])]
    for (const claim of ['sub', 'origin_jti', 'auth_time', 'client_id']) expect(after[claim]).toBe(before[claim])
    expect(after['jti']).not.toBe(before['jti'])
    expect(Number(after['iat'])).toBeGreaterThanOrEqual(Number(before['iat']) + 5)
    expect(next['RefreshToken']).not.toBe(tokens['RefreshToken'])
    expect((await getUser(next['AccessToken'])).status).toBe(200)
  })

  it('keeps two tabs signed in that refresh concurrently a hundred times', async () => {
    const { tokens } = await signIn()
    let tabs = [tokens['RefreshToken'], tokens['RefreshToken']]
    for (let round = 0; round < 100; round++) {
      const answers = await Promise.all(tabs.map((token) => refresh(token)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      tabs = answers.map((answer) => tokensOf(answer)['RefreshToken'])
      later(3600)
    }
  }, 60_000)

  it('returns the newest token to a late tab', async () => {
    const { tokens } = await signIn()
    const first = tokensOf(await refresh(tokens['RefreshToken']))
    const second = tokensOf(await refresh(first['RefreshToken']))
    later(29)
    const late = tokensOf(await refresh(tokens['RefreshToken']))
    expect(late['RefreshToken']).toBe(second['RefreshToken'])
    later(3600)
    expect((await refresh(late['RefreshToken'])).status).toBe(200)
  })

  it('accepts a token again until its successor is used, because the response may have been lost', async () => {
    const { tokens } = await signIn()
    const lost = tokensOf(await refresh(tokens['RefreshToken']))
    later(3 * 86_400)
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(tokens['RefreshToken'])))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const again = answers.map((answer) => tokensOf(answer))
    expect(new Set(again.map(({ RefreshToken }) => RefreshToken))).toEqual(new Set([lost['RefreshToken']]))
    expect((await getUser(again[0]?.['AccessToken'])).status).toBe(200)
    later(3600)
    expect((await refresh(lost['RefreshToken'])).status).toBe(200)
  })

  it('ends the sign-in and notifies the user when a token is reused after the grace period', async () => {
    const { tokens, userId } = await signIn()
    const successor = tokensOf(await refresh(tokens['RefreshToken']))
    const next = tokensOf(await refresh(successor['RefreshToken']))
    later(31)
    const revoked = refusal('Refresh Token has been revoked')
    expect(await refresh(tokens['RefreshToken'])).toMatchObject(revoked)
    expect(await refresh(next['RefreshToken'])).toMatchObject(revoked)
    expect(await at.begin('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN: next['RefreshToken'] ?? '' })).toMatchObject(revoked)
    expect(await getUser(next['AccessToken'])).toMatchObject(refusal('Access Token has been revoked'))
    const event = await fixture.bed.bus.seen(signInLocked, (data) => data.userId === userId)
    expect(event.data).toMatchObject({ reason: 'token_reused', until: null })
    await refresh(tokens['RefreshToken'])
    expect(fixture.bed.bus.all(signInLocked, (data) => data.userId === userId)).toHaveLength(1)
  })

  it('does not extend the sign-in’s lifetime, however often it is refreshed', async () => {
    const { tokens } = await signIn()
    later(29 * 86_400)
    const next = tokensOf(await refresh(tokens['RefreshToken']))
    later(2 * 86_400)
    expect(await refresh(next['RefreshToken'])).toMatchObject(refusal('Invalid Refresh Token'))
  })

  it('accepts a token only from its own client', async () => {
    const { tokens } = await signIn()
    const { clientId } = await fixture.pool()
    expect(await refresh(tokens['RefreshToken'], clientId)).toMatchObject(refusal('Invalid Refresh Token'))
    expect(await refresh('nonsense')).toMatchObject(refusal('Invalid Refresh Token'))
    expect(await refresh(tokens['AccessToken'])).toMatchObject(refusal('Invalid Refresh Token'))
    expect((await refresh(tokens['RefreshToken'])).status).toBe(200)
  })

  it('checks the secret of a client with a secret', async () => {
    const { clientId, clientSecret, poolId } = await fixture.pool({}, { GenerateSecret: true })
    expect(clientSecret).toBeTruthy()
    expect((await refresh('x', clientId)).body['message']).toBe(`Unable to verify secret for client ${clientId}`)
    const { body } = await fixture.call('GetTokensFromRefreshToken', {
      ClientId: clientId,
      ClientSecret: clientSecret,
      RefreshToken: 'x',
    })
    expect(body['message']).toBe('Invalid Refresh Token')
    expect((await signInClient(fixture, clientId, poolId).byPassword('maren')).body['message']).toBe(
      `Client ${clientId} is configured with secret but SECRET_HASH was not received`,
    )
  })

  it('keeps the token of a client without rotation', async () => {
    const { clientId, poolId } = await fixture.pool({}, { RefreshTokenRotation: { Feature: 'DISABLED' } })
    const { username } = await fixture.member(clientId)
    const { RefreshToken } = tokensOf(await signInClient(fixture, clientId, poolId).byPassword(username))
    for (let times = 0; times < 3; times++) {
      const { status, body } = await refresh(RefreshToken, clientId)
      expect([status, body['AuthenticationResult'].RefreshToken]).toEqual([200, undefined])
      later(3600)
    }
  })
})

describe('the end of a sign-in', () => {
  it('RevokeToken ends only its own sign-in', async () => {
    const { tokens, username } = await signIn()
    const other = tokensOf(await at.byPassword(username))
    const revoke = (Token?: string, ClientId = publicClient) => fixture.call('RevokeToken', { ClientId, Token })
    expect((await revoke(tokens['AccessToken'])).body['__type']).toBe('UnsupportedTokenTypeException')
    const { clientId } = await fixture.pool()
    expect((await revoke(tokens['RefreshToken'], clientId)).body['__type']).toBe('UnauthorizedException')
    expect(await revoke(tokens['RefreshToken'])).toEqual({ status: 200, body: {} })
    expect(await revoke(tokens['RefreshToken'])).toEqual({ status: 200, body: {} })
    expect(await refresh(tokens['RefreshToken'])).toMatchObject(refusal('Refresh Token has been revoked'))
    expect(await getUser(tokens['AccessToken'])).toMatchObject(refusal('Access Token has been revoked'))
    expect((await getUser(other['AccessToken'])).status).toBe(200)
  })

  it('GlobalSignOut ends all sign-ins', async () => {
    const { tokens, username } = await signIn()
    const other = tokensOf(await at.byPassword(username))
    expect(await fixture.call('GlobalSignOut', { AccessToken: tokens['AccessToken'] })).toEqual({
      status: 200,
      body: {},
    })
    for (const { AccessToken, RefreshToken } of [tokens, other]) {
      expect(await getUser(AccessToken)).toMatchObject(refusal('Access Token has been revoked'))
      expect(await refresh(RefreshToken)).toMatchObject(refusal('Refresh Token has been revoked'))
    }
    expect((await at.byPassword(username)).status).toBe(200)
  })
})
