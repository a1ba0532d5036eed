import { randomUUID } from 'node:crypto'
import { localAdminSecret } from '@robokids/runtime/config'
import { eq } from 'drizzle-orm'
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signingKeys } from '../../src/schema.ts'
import { rotateKeys } from '../../src/sign-in/tokens.ts'
import { startIdentity, password, publicClient, standardPool, type IdentityFixture } from '../fixture.ts'
import { claimsOf, signInClient, tokensOf } from '../sign-in-client.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity()
})
afterAll(() => fixture.stop())

describe('a sign-in by password', () => {
  it('returns tokens that jose verifies with the published keys', async () => {
    const person = await fixture.member()
    const { status, body } = await fixture.call('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: person.email.toUpperCase(), PASSWORD: password },
    })
    expect(body).toMatchObject({ AuthenticationResult: { TokenType: 'Bearer', ExpiresIn: 3600 } })
    expect(status).toBe(200)
    const keys = createRemoteJWKSet(new URL(`${fixture.url}/${standardPool}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(body['AuthenticationResult'].IdToken, keys, { audience: publicClient })
    expect(payload).toMatchObject({ sub: person.userId, email: person.email, email_verified: true, token_use: 'id' })
    const user = await fixture.call('GetUser', { AccessToken: body['AuthenticationResult'].AccessToken })
    expect(user.body).toMatchObject({ Username: person.username })
  })
})

describe('an access token', () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const ask = (AccessToken: string) => fixture.call('GetUser', { AccessToken })
  const invalid = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Invalid Access Token' } }

  it('is rejected if it is forged, unsigned, of another kind or of another pool', async () => {
    const at = signInClient(fixture)
    const { username } = await fixture.member()
    const { AccessToken = '', IdToken = '', RefreshToken = '' } = tokensOf(await at.byPassword(username))
    const [head = '', body = '', signature = ''] = AccessToken.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
    const claims = claimsOf(AccessToken)
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const forge = (key: CryptoKey | Uint8Array, alg: string, more: object = {}) =>
      new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg, kid: header.kid }).sign(key)
    const keys = (await (await fetch(`${fixture.url}/${standardPool}/.well-known/jwks.json`)).json()) as { keys: JWK[] }
    const forged = [
      await forge(privateKey, 'RS256'),
      await forge(new TextEncoder().encode(JSON.stringify(keys.keys[0])), 'HS256'),
      `${head}.${encode({ ...claims, sub: randomUUID() })}.${signature}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${encode({ alg: 'none', kid: header.kid })}.${body}.`,
      `${encode({ ...header, jwk: await exportJWK(publicKey) })}.${body}.${signature}`,
      `${encode({ ...header, kid: 'unknown' })}.${body}.${signature}`,
      IdToken,
      RefreshToken,
      'nonsense',
    ]
    for (const token of forged) expect(await ask(token)).toMatchObject(invalid)
    expect((await ask(AccessToken)).status).toBe(200)
    const other = await fixture.pool()
    const stranger = await fixture.member(other.clientId)
    const theirs = tokensOf(await signInClient(fixture, other.clientId, other.poolId).byPassword(stranger.username))
    const foreign = createRemoteJWKSet(new URL(`${fixture.url}/${other.poolId}/.well-known/jwks.json`))
    await expect(jwtVerify(AccessToken, foreign)).rejects.toThrow('no applicable key')
    // Claims of one pool, signed with the key of the other.
    const mixed = `${(theirs['AccessToken'] ?? '').split('.')[0]}.${body}.${signature}`
    expect(await ask(mixed)).toMatchObject(invalid)
  })

  it('is rejected when it has expired, by the service’s clock', async () => {
    const { username } = await fixture.member()
    const { AccessToken = '' } = tokensOf(await signInClient(fixture).byPassword(username))
    fixture.service.context.clock.advance({ seconds: 3601 })
    expect((await ask(AccessToken)).body).toEqual({
      __type: 'NotAuthorizedException',
      message: 'Access Token has expired',
    })
    fixture.service.context.clock.set(Temporal.Now.instant())
    expect((await ask(AccessToken)).status).toBe(200)
  })
})

describe('signing keys', () => {
  it('deleted by an operator become invalid immediately', async () => {
    const { clientId, poolId } = await fixture.pool()
    const at = signInClient(fixture, clientId, poolId)
    const { username } = await fixture.member(clientId)
    const ask = async ({ AccessToken }: Record<string, string>) => fixture.call('GetUser', { AccessToken })
    const before = tokensOf(await at.byPassword(username))
    expect((await ask(before)).status).toBe(200)
    await fixture.service.context.db.delete(signingKeys).where(eq(signingKeys.poolId, poolId))
    expect((await ask(before)).body['message']).toBe('Invalid Access Token')
    expect((await ask(tokensOf(await at.byPassword(username)))).status).toBe(200)
  })

  it('are published before they are used, and until their last token has expired', async () => {
    const own = await startIdentity({ SIGNING_KEY_DAYS: '10' })
    const { context } = own.service
    const at = signInClient(own)
    const kids = async () => {
      const answer = await fetch(`${own.url}/${standardPool}/.well-known/jwks.json`)
      return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)
    }
    const signs = async (name: string) => {
      const [head = ''] = (tokensOf(await at.byPassword(name))['AccessToken'] ?? '').split('.')
      return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }).kid
    }
    try {
      const { username } = await own.member()
      const [first] = await kids()
      expect(await signs(username)).toBe(first)
      await rotateKeys(context, AbortSignal.any([]))
      expect(await kids()).toEqual([first])
      context.clock.advance({ hours: 24 * 11 })
      await rotateKeys(context, AbortSignal.any([]))
      const [second, ...older] = await kids()
      expect(older).toEqual([first])
      expect(await signs(username)).toBe(first)
      context.clock.advance({ hours: 2 })
      expect(await signs(username)).toBe(second)
      await rotateKeys(context, AbortSignal.any([]))
      expect(await kids()).toEqual([second, first])
      context.clock.advance({ hours: 24 })
      await rotateKeys(context, AbortSignal.any([]))
      expect(await kids()).toEqual([second])
    } finally {
      await own.stop()
    }
  })

  it('can be replaced and withdrawn by an operator, and the tokens of a withdrawn key are rejected', async () => {
    type Key = { kid: string; poolId: string; signs: boolean }
    const manage = async (method: string, path = '') => {
      const answer = await fetch(`${fixture.url}/admin/signing-keys${path}`, {
        method,
        headers: { 'x-admin-secret': localAdminSecret },
      })
      const { signingKeys: keys = [] } = (await answer.json()) as { signingKeys?: Key[] }
      return { status: answer.status, keys: keys.filter(({ poolId }) => poolId === standardPool) }
    }
    const at = signInClient(fixture)
    const { username } = await fixture.member()
    const { AccessToken = '' } = tokensOf(await at.byPassword(username))
    const [before] = (await manage('GET')).keys
    expect(before).toMatchObject({ signs: true })
    const { keys } = await manage('POST')
    expect(keys.map(({ signs }) => signs)).toEqual([false, true])
    expect((await manage('POST', `/${before?.kid}/withdraw`)).keys).toEqual([{ ...keys[0], signs: true }])
    const { body } = await fixture.call('GetUser', { AccessToken })
    expect(body).toMatchObject({ message: 'Invalid Access Token' })
    expect((await at.byPassword(username)).status).toBe(200)
    expect((await manage('POST', '/unknown/withdraw')).status).toBe(404)
    expect((await fetch(`${fixture.url}/admin/signing-keys`)).status).toBe(401)
  })
})
