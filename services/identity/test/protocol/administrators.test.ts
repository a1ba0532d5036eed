import { createHash } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import {
  CognitoIdentityProviderClient,
  CreateUserPoolCommand,
  ListUserPoolsCommand,
} from '@aws-sdk/client-cognito-identity-provider'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, standardPool, type IdentityFixture, type Json } from '../fixture.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity()
})
afterAll(() => fixture.stop())

/** A signed request to describe the standard pool, for a test to tamper with. */
async function signed(more: { headers?: Record<string, string>; at?: Temporal.Instant; secret?: string } = {}) {
  const { hostname, port } = new URL(fixture.url)
  const body = JSON.stringify({ UserPoolId: standardPool })
  const signer = new SignatureV4({
    service: 'cognito-idp',
    region: 'us-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: more.secret ?? 'local' },
    sha256: Sha256,
    applyChecksum: false,
  })
  const at = more.at ?? Temporal.Now.instant()
  const request = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname,
      path: '/',
      query: {},
      headers: {
        host: `${hostname}:${port}`,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'AWSCognitoIdentityProviderService.DescribeUserPool',
        ...more.headers,
      },
      body,
    },
    { signingDate: new Date(at.epochMilliseconds) },
  )
  const { host: _host, ...headers } = request.headers
  return { body, headers }
}

async function send({ body, headers }: { body: string; headers: Record<string, string> }) {
  const answer = await fetch(fixture.url, { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as Record<string, Json> }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const invalidSignature = { status: 400, body: { __type: 'InvalidSignatureException' } }

describe("an administrator's signature", () => {
  it('is accepted from the SDK for any body', async () => {
    const name = 'Ünïcode “pool” 漢字 🤖 with "quotes"'
    const { UserPool } = await fixture.sdk.send(new CreateUserPoolCommand({ PoolName: name }))
    expect(UserPool?.Name).toBe(name)
  })

  it('is accepted with the hash of the body in a header', async () => {
    const body = JSON.stringify({ UserPoolId: standardPool })
    expect(await send(await signed({ headers: { 'x-amz-content-sha256': sha256(body) } }))).toMatchObject({
      status: 200,
    })
  })

  it('does not cover another body', async () => {
    const { body, headers } = await signed()
    expect(await send({ headers, body: body.replace('}', ' }') })).toMatchObject(invalidSignature)
  })

  it('does not cover another body with the hash of the first', async () => {
    const body = JSON.stringify({ UserPoolId: standardPool })
    const { headers } = await signed({ headers: { 'x-amz-content-sha256': sha256(body) } })
    expect(await send({ headers, body: body.replace('}', ' }') })).toMatchObject(invalidSignature)
    const unsigned = await signed({ headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } })
    expect(await send(unsigned)).toMatchObject(invalidSignature)
  })

  it.each([
    ['another operation', { 'x-amz-target': 'AWSCognitoIdentityProviderService.GetUserPoolMfaConfig' }],
    ['another time', { 'x-amz-date': '20300305T070809Z' }],
    ['no time', { 'x-amz-date': '' }],
    ['a time that does not exist', { 'x-amz-date': '20309999T070809Z' }],
    ['another content type', { 'content-type': 'application/json' }],
  ])('does not cover %s', async (_what, headers) => {
    const request = await signed()
    expect(await send({ ...request, headers: { ...request.headers, ...headers } })).toMatchObject(invalidSignature)
  })

  it('must cover host, time and operation', async () => {
    const request = await signed()
    const authorization = request.headers['authorization']?.replace(';x-amz-target', '') ?? ''
    expect(await send({ ...request, headers: { ...request.headers, authorization } })).toMatchObject(invalidSignature)
  })

  it('must be at most five minutes old', async () => {
    for (const minutes of [-6, 6]) {
      const request = await signed({ at: Temporal.Now.instant().add({ minutes }) })
      expect(await send(request)).toMatchObject(invalidSignature)
    }
    const request = await signed({ at: Temporal.Now.instant().subtract({ minutes: 4 }) })
    expect(await send(request)).toMatchObject({ status: 200 })
  })

  it('must be made with the correct key', async () => {
    expect(await send(await signed({ secret: 'guessed' }))).toMatchObject(invalidSignature)
    const request = await signed()
    const authorization = request.headers['authorization']?.replace('=local/', '=other/') ?? ''
    expect(await send({ ...request, headers: { ...request.headers, authorization } })).toMatchObject({
      status: 400,
      body: { __type: 'UnrecognizedClientException' },
    })
  })

  it('is required', async () => {
    expect(await fixture.call('DescribeUserPool', { UserPoolId: standardPool })).toMatchObject({
      status: 400,
      body: { __type: 'MissingAuthenticationTokenException' },
    })
    const headers = { authorization: 'Basic bG9jYWw6bG9jYWw=' }
    expect(await fixture.call('DescribeUserPool', { UserPoolId: standardPool }, headers)).toMatchObject({
      status: 400,
      body: { __type: 'IncompleteSignatureException' },
    })
  })

  it('is rejected for another service or region', async () => {
    const request = await signed()
    for (const other of ['/us-west-2/cognito-idp/', '/us-west-1/s3/']) {
      const authorization = request.headers['authorization']?.replace('/us-west-1/cognito-idp/', other) ?? ''
      const { status, body } = await send({ ...request, headers: { ...request.headers, authorization } })
      expect(status).toBe(400)
      expect(body['__type']).toMatch(/SignatureException$/)
    }
  })
})

describe('ADMIN_KEYS', () => {
  it('are the only accepted keys', async () => {
    const stranger = new CognitoIdentityProviderClient({
      region: 'us-west-1',
      endpoint: fixture.url,
      credentials: { accessKeyId: 'stranger', secretAccessKey: 'local' },
      maxAttempts: 1,
    })
    await expect(stranger.send(new ListUserPoolsCommand({ MaxResults: 1 }))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    })
  })
})
