import { generateKeyPairSync } from 'node:crypto'
import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startBff, StubService } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const keySet = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }

it.each([
  ['with an invalid signature', { AccessToken: 'none.of.ours', RefreshToken: 'a-refresh-token' }],
  ['without a refresh token', { AccessToken: 'none.of.ours' }],
])('a sign-in with tokens %s fails, and starts no session', async (_what, AuthenticationResult) => {
  const identity = await StubService.start()
  onTestFinished(() => identity.stop())
  identity.answer((incoming, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(incoming.method === 'GET' ? keySet : { AuthenticationResult }))
  })
  const { url } = await startBff(bed, { IDENTITY_URL: identity.url, SITE_URL: 'http://localhost:3000' })
  const answer = await fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', origin: 'http://localhost:3000' },
    body: JSON.stringify({ email: 'maren.holt@example.com', password: 'Robot-2030!' }),
  })
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { code: 'upstream_unavailable', message: 'Invalid tokens' },
  ])
  expect(answer.headers.getSetCookie().filter((cookie) => cookie.startsWith('robokids-session='))).toEqual([])
})
