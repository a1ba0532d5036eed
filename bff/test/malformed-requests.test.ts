import { once } from 'node:events'
import { connect } from 'node:net'
import { errorBodySchema, type ErrorCode } from '@robokids/contracts/errors'
import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { billing } from '../../services/billing/src/app.ts'
import { startBff } from './fixture.ts'

let bed: TestBed
let bff: string
let service: string
beforeAll(async () => {
  bed = await testBed()
  bff = (await startBff(bed, { SITE_URL: 'https://robokids.example' })).url
  const env = {
    STRIPE_SECRET_KEY: 'sk_test_abc',
    STRIPE_API_URL: 'http://127.0.0.1:9',
    STRIPE_WEBHOOK_SECRETS: 'whsec_a',
    SITE_URL: 'https://robokids.example',
  }
  service = (await bed.start(billing, env)).url
})
afterAll(() => bed.stop())

interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
}

/** Writes exactly these bytes, and reads until the server closes the connection. */
async function write(url: string, ...parts: string[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'connect')
  for (const part of parts) socket.write(part)
  await once(socket, 'close')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = lines.map((header): [string, string] => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()]
  })
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]), headers: new Map(headers), body }
}

const close = 'Host: robokids.example\r\nConnection: close\r\n'
const json = `${close}X-Api-Key: robokids-web\r\nContent-Type: application/json\r\n`
const malformed: [string, string, ErrorCode, number][] = [
  ['something other than HTTP', 'hello\r\n\r\n', 'malformed_request', 400],
  ['TLS on a plain port', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n', 'malformed_request', 400],
  ['an invalid method', `FETCH / HTTP/1.1\r\n${close}\r\n`, 'malformed_request', 400],
  ['an invalid version', `GET / HTTP/9.9\r\n${close}\r\n`, 'malformed_request', 400],
  ['an invalid header', `GET / HTTP/1.1\r\n${close}no colon\r\n\r\n`, 'malformed_request', 400],
  ['a request without a Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 'malformed_request', 400],
  [
    'two content lengths',
    `POST / HTTP/1.1\r\n${close}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    'malformed_request',
    400,
  ],
  [
    'a content length with chunks',
    `POST / HTTP/1.1\r\n${close}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'malformed_request',
    400,
  ],
  ['a tunnel', `CONNECT robokids.example:443 HTTP/1.1\r\n${close}\r\n`, 'malformed_request', 400],
  ['a URL that is too long', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${close}\r\n`, 'headers_too_large', 431],
  [
    'headers that are too long',
    `GET / HTTP/1.1\r\n${close}X-A: ${'a'.repeat(40_000)}\r\n\r\n`,
    'headers_too_large',
    431,
  ],
  ['a malformed URL', `GET /%E0%A4%A HTTP/1.1\r\n${close}\r\n`, 'validation_failed', 400],
  ['an unsupported method', `PROPFIND / HTTP/1.1\r\n${close}\r\n`, 'not_found', 404],
  ['an expectation for an unknown path', `GET /nothing HTTP/1.1\r\n${close}Expect: magic\r\n\r\n`, 'not_found', 404],
]
const bodies: [string, string, ErrorCode, number][] = [
  ['bad JSON', `${json}Content-Length: 5\r\n\r\n{"a":`, 'malformed_body', 400],
  ['no body', `${json}\r\n`, 'malformed_body', 400],
  [
    'another type',
    `${close}X-Api-Key: robokids-web\r\nContent-Type: text/csv\r\nContent-Length: 1\r\n\r\na`,
    'unsupported_media_type',
    415,
  ],
  ['a body that is too large', `${json}Content-Length: 1000000\r\n\r\n`, 'payload_too_large', 413],
]

const secured = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'permissions-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
]

function expectOurs(answer: RawAnswer, code: ErrorCode, status: number) {
  expect(answer.status).toBe(status)
  const body = errorBodySchema.parse(JSON.parse(answer.body))
  expect(body.code).toBe(code)
  expect(answer.headers.get('x-request-id')).toBe(body.requestId)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('no-store')
}

describe('a malformed request', () => {
  it.each(malformed)('gets the site’s usual error format: %s', async (_what, bytes, code, status) => {
    const answer = await write(bff, bytes)
    expectOurs(answer, code, status)
    expect(secured.filter((name) => !answer.headers.has(name))).toEqual([])
  })

  it.each(bodies)('gets the site’s usual error format: %s', async (_what, rest, code, status) => {
    const answer = await write(bff, `POST /api/registrations HTTP/1.1\r\n${rest}`)
    expectOurs(answer, code, status)
    expect(secured.filter((name) => !answer.headers.has(name))).toEqual([])
  })

  it.each(malformed)('gets the usual error format from a service: %s', async (_what, bytes, code, status) => {
    expectOurs(await write(service, bytes), code, status)
  })

  it.each(bodies)('gets the usual error format from a service: %s', async (_what, rest, code, status) => {
    expectOurs(await write(service, `POST /orders HTTP/1.1\r\n${rest}`), code, status)
  })

  it('does not take the server down, however much follows on the connection', async () => {
    const parts = Array.from({ length: 50 }, () => 'x'.repeat(10_000))
    expectOurs(await write(bff, 'hello\r\n\r\n', ...parts), 'malformed_request', 400)
    expect((await fetch(`${bff}/healthz`)).status).toBe(200)
  })
})

describe('a request that never ends', () => {
  it('gets 408 in the site’s usual error format', async () => {
    const slow = await startBff(bed, { SITE_URL: 'https://robokids.example', REQUEST_TIMEOUT_MS: '200' })
    const answer = await write(slow.url, 'GET / HTTP/1.1\r\nHost: robokids.exa')
    expectOurs(answer, 'request_timeout', 408)
    expect(secured.filter((name) => !answer.headers.has(name))).toEqual([])
    const head = `POST /api/registrations HTTP/1.1\r\n${json}Content-Length: 50\r\n\r\n`
    expectOurs(await write(slow.url, `${head}{"guardian`), 'request_timeout', 408)
    // Node's default limits are a minute.
  }, 20_000)
})

describe('GET /.well-known/security.txt', () => {
  it('contains the contact for security reports in the standard format', async () => {
    const { url } = await startBff(bed, {
      SITE_URL: 'https://robokids.example',
      SECURITY_EMAIL: 'us@robokids.example',
    })
    const answer = await fetch(`${url}/.well-known/security.txt`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const fields = Object.fromEntries(
      (await answer.text())
        .trim()
        .split('\n')
        .map((line) => line.split(/: (.*)/)),
    )
    expect(fields).toMatchObject({
      Contact: 'mailto:us@robokids.example',
      Canonical: 'https://robokids.example/.well-known/security.txt',
    })
    const left = Temporal.Now.instant().until(Temporal.Instant.from(String(fields['Expires'])))
    expect(left.total('hours')).toBeGreaterThan(24 * 90)
    expect(left.total('hours')).toBeLessThan(24 * 365)
  })
})
