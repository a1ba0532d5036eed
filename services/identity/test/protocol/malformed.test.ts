import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { operations } from '../../src/operations/table.ts'
import type { Tokens } from '../../src/sign-in/tokens.ts'
import { startIdentity, password, publicClient, standardPool, type IdentityFixture } from '../fixture.ts'

let fixture: IdentityFixture
let accessToken: string
beforeAll(async () => {
  // Constant-time responses are tested elsewhere.
  fixture = await startIdentity({ EVEN_ANSWER_MS: '1', CODE_TRIES: '100000', CODES_AN_HOUR: '100000' })
  const person = await fixture.member()
  const { body } = await fixture.call('InitiateAuth', {
    ClientId: publicClient,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: person.username, PASSWORD: password },
  })
  accessToken = body['AuthenticationResult'].AccessToken
})
afterAll(() => fixture.stop())

const table = operations({} as Tokens)
const fieldsOf = (name: string) => Object.keys((table[name]?.input as z.ZodObject | undefined)?.shape ?? {})

/** Sends a raw body, signed if the operation is for administrators, so that it is parsed. */
async function send(operation: string, body: string, contentType = 'application/x-amz-json-1.1') {
  const { hostname, port } = new URL(fixture.url)
  const plain = {
    host: `${hostname}:${port}`,
    'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
    ...(contentType === '' ? {} : { 'content-type': contentType }),
  }
  const signer = new SignatureV4({
    service: 'cognito-idp',
    region: 'us-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    sha256: Sha256,
    applyChecksum: false,
  })
  const { headers } = table[operation]?.administrators
    ? await signer.sign({ method: 'POST', protocol: 'http:', hostname, path: '/', query: {}, headers: plain, body })
    : { headers: plain }
  const { host: _host, ...rest } = headers as Record<string, string>
  const answer = await fetch(fixture.url, { method: 'POST', headers: rest, body: Buffer.from(body) })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** A valid body, except for what the test changes. */
function plausible(): Record<string, unknown> {
  return {
    ClientId: publicClient,
    UserPoolId: standardPool,
    Username: 'nobody',
    AccessToken: accessToken,
    Password: password,
  }
}

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const deepList = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const long = 'x'.repeat(90_000)

const values: [string, string][] = [
  ['null', 'null'],
  ['a number', '7'],
  ['a huge number', '1e308'],
  ['a negative fraction', '-0.5'],
  ['true', 'true'],
  ['an empty text', '""'],
  ['blanks', '"   "'],
  ['a text of 90 KB', JSON.stringify(long)],
  ['a NUL', '"a\\u0000b"'],
  ['half a character', '"a\\ud800b"'],
  ['text that SQL might run', `"'; drop table users; --"`],
  ['a percent sign', '"%"'],
  ['an empty list', '[]'],
  ['a list of nulls', '[null,null]'],
  ['a list of lists', '[[[]]]'],
  ['a list of texts', '["a","b"]'],
  ['a list of records', '[{"Name":"email","Value":7},{"Name":null}]'],
  ['an empty record', '{}'],
  ['a record of anything', '{"a":{"b":[1,null]},"Name":7}'],
  ['a record with the names of prototypes', '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"toString":1}'],
  ['a record of texts with the names of prototypes', '{"__proto__":"a","constructor":"b","USERNAME":"nobody"}'],
  ['a deep record', deep(5000)],
  ['a deep list', deepList(20_000)],
]

/** Expects no 5xx, and a named error if rejected. */
function expectRefusalOrAnswer({ status, headers, text }: Awaited<ReturnType<typeof send>>, what: string) {
  const body = JSON.parse(text) as Record<string, unknown>
  expect([what, status === 200 || status === 400, text.slice(0, 300)]).toEqual([what, true, text.slice(0, 300)])
  expect(headers.get('content-type')).toMatch(/^application\/x-amz-json-1\.1/)
  expect(headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/)
  if (status === 200) return
  const { __type: name, message } = body
  expect({ what, name, header: headers.get('x-amzn-errortype'), message }).toEqual({
    what,
    name: expect.stringMatching(/^[A-Z]\w+Exception$/),
    header: name,
    message: expect.any(String),
  })
}

function expectRefusal(answer: Awaited<ReturnType<typeof send>>, what: string) {
  expectRefusalOrAnswer(answer, what)
  expect([what, answer.status]).toEqual([what, 400])
}

/** Operations that delete what the others in this file need; they are tested with an invalid token. */
const ending = new Set(['DeleteUser', 'GlobalSignOut', 'AdminDeleteUser'])

describe('the table of operations', () => {
  it('has every file of the folder', () => {
    const files = readdirSync(new URL('../../src/operations', import.meta.url)).filter((name) => name !== 'table.ts')
    expect(Object.keys(table)).toHaveLength(files.length)
  })
})

describe.each(Object.keys(table))('%s', (name) => {
  it('rejects anything but a JSON object', async () => {
    for (const body of ['', '{', '[]', '"a"', '7', 'null', '{"a":}', 'a=1', '\u0000', `{"a":${deepList(30_000)}`]) {
      const answer = await send(name, body)
      expectRefusal(answer, JSON.stringify(body.slice(0, 40)))
      expect(answer.text).toContain('SerializationException')
    }
  })

  it('rejects a body without required fields, and names one', async () => {
    const answer = await send(name, '{}')
    expectRefusalOrAnswer(answer, 'nothing')
    if (name === 'ListUserPools') return
    expect(answer.text).toMatch(/"InvalidParameterException","message":"Missing required parameter \w+/)
  })

  it('rejects a body that is too large', async () => {
    expectRefusal(await send(name, JSON.stringify({ a: 'x'.repeat(120_000) })), 'too large')
  })

  it('handles any value of a field without a 5xx', async () => {
    const base = plausible()
    if (ending.has(name)) base['AccessToken'] = 'nobody'
    for (const field of fieldsOf(name)) {
      const { [field]: _replaced, ...others } = base
      const rest = JSON.stringify(others).slice(1)
      await Promise.all(
        values.map(async ([what, value]) => {
          const answer = await send(name, `{${JSON.stringify(field)}:${value},${rest}`)
          expectRefusalOrAnswer(answer, `${field}: ${what}`)
        }),
      )
    }
  })

  it('rejects impossible usernames in every flow, and does not echo long input', async () => {
    const long = randomBytes(9000).toString('base64url')
    for (const [AuthFlow, more] of [
      ['USER_PASSWORD_AUTH', { PASSWORD: 'x' }],
      ['USER_SRP_AUTH', { SRP_A: 'ab' }],
      ['USER_AUTH', { PREFERRED_CHALLENGE: 'EMAIL_OTP' }],
      ['CUSTOM_AUTH', {}],
    ] as const) {
      for (const USERNAME of [long, `${long}@example.com`, ' maren@example.com', 'a b', '\ufeffmaren']) {
        const AuthParameters = { USERNAME, ...more }
        const { status, body } = await fixture.call('InitiateAuth', {
          ClientId: publicClient,
          AuthFlow,
          AuthParameters,
        })
        expect({ status, type: body['__type'] }).toEqual({ status: 400, type: 'InvalidParameterException' })
      }
    }
    const { body } = await fixture.call('RespondToAuthChallenge', {
      ClientId: publicClient,
      ChallengeName: 'SELECT_CHALLENGE',
      Session: 'x'.repeat(40),
      ChallengeResponses: { USERNAME: 'maren', ANSWER: long },
    })
    expect(body['message']).toMatch(/^Unknown ANSWER /)
    expect(String(body['message']).length).toBeLessThan(600)
  })

  it('treats null as absent', async () => {
    const nulls = Object.fromEntries(fieldsOf(name).map((field) => [field, null]))
    const [absent, given] = [await send(name, '{}'), await send(name, JSON.stringify(nulls))]
    // A list may have grown through concurrent tests.
    expect(given.status).toBe(absent.status)
    if (given.status === 400) expect(given.text).toBe(absent.text)
  })

  it('ignores unknown fields, even those named like prototype properties', async () => {
    const base = ending.has(name) ? {} : plausible()
    const known = JSON.stringify(base).slice(1)
    const extra = `{"UserContextData":{},"__proto__":{"ClientId":"a"},"constructor":7${known === '}' ? '' : ','}${known}`
    expectRefusalOrAnswer(await send(name, extra), 'unknown fields')
  })

  it('accepts a body with any content type, or none', async () => {
    for (const type of ['application/json', 'text/html', 'application/x-www-form-urlencoded', 'nonsense', '']) {
      const answer = await send(name, '{}', type)
      expectRefusalOrAnswer(answer, type)
    }
  })
})

describe('the endpoint', () => {
  it('rejects an unknown operation', async () => {
    for (const name of ['Nothing', '', 'constructor', '__proto__', 'toString', 'signUp', 'SignUp,SignUp']) {
      expect(await fixture.call(name, {})).toMatchObject({ status: 400, body: { __type: 'UnknownOperationException' } })
    }
    const answer = await fetch(fixture.url, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ __type: 'UnknownOperationException' })
    const other = await fetch(fixture.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AnotherService.SignUp' },
      body: '{}',
    })
    expect(await other.json()).toMatchObject({ __type: 'UnknownOperationException' })
  })

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])('rejects %s', async (method) => {
    const answer = await fetch(fixture.url, {
      method,
      headers: { 'x-amz-target': 'AWSCognitoIdentityProviderService.GetUser' },
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ __type: 'UnknownOperationException' })
  })

  it('can be called by pages of any origin, which can read its errors', async () => {
    const requested = 'content-type,x-amz-target,x-amz-user-agent,cache-control,amz-sdk-invocation-id,amz-sdk-request'
    const challenged = await fetch(fixture.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': requested,
      },
    })
    expect(challenged.status).toBe(204)
    expect(challenged.headers.get('access-control-allow-origin')).toBe('*')
    expect(challenged.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = (challenged.headers.get('access-control-allow-headers') ?? '').split(/,\s*/)
    expect(allowed).toEqual(expect.arrayContaining(requested.split(',')))
    const refused = await fetch(fixture.url, {
      method: 'POST',
      headers: {
        origin: 'https://app.example.com',
        'x-amz-target': 'AWSCognitoIdentityProviderService.GetUser',
        'content-type': 'application/x-amz-json-1.1',
      },
      body: '{"AccessToken":"a.b.c"}',
    })
    expect(refused.status).toBe(400)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull()
    expect(refused.headers.get('access-control-expose-headers')).toMatch(/x-amzn-errortype/i)
  })

  it('answers 404 for the keys of an unknown pool', async () => {
    for (const path of ['us-west-1_Nowhere', 'a%00b', 'constructor', 'x'.repeat(300)]) {
      for (const file of ['jwks.json', 'openid-configuration']) {
        const { status } = await fetch(`${fixture.url}/${path}/.well-known/${file}`)
        expect([path.slice(0, 20), status >= 400 && status < 500]).toEqual([path.slice(0, 20), true])
      }
    }
    expect((await fetch(`${fixture.url}/us-west-1_Nowhere/.well-known/jwks.json`)).status).toBe(404)
  })
})
