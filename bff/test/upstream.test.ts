import { randomUUIDv7 } from 'node:crypto'
import { challengeSchema } from '@robokids/contracts/proof'
import { fetchProven, prove } from '@robokids/local/prove'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { send, startBff, StubService } from './fixture.ts'

const limitMs = 1_000
/** Extra time for the machine while hundreds of requests fail concurrently. */
const slackMs = 1_500

const unknown = { code: 'membership_not_found', message: 'There is no such thing.', requestId: 'stub' }

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

async function startWithSilentService(timeoutMs = limitMs) {
  const enrollment = await StubService.start()
  onTestFinished(() => enrollment.stop())
  const bff = await startBff(bed, { ENROLLMENT_URL: enrollment.url, UPSTREAM_TIMEOUT_MS: String(timeoutMs) })
  // Fetched per visitor, without coalescing.
  const url = `${bff.url}/waiver.pdf`
  const revive = () => {
    enrollment.answer((incoming, response) => {
      const isWaiver = incoming.url === '/waiver.pdf'
      response.writeHead(isWaiver ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isWaiver ? {} : unknown))
    })
  }
  return { enrollment, bff, url, revive }
}

/** The headers of a proof of work for a payment. */
async function proofOf(url: string): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/registrations/${randomUUIDv7()}/checkout`, {
    method: 'POST',
    headers: { 'x-api-key': 'robokids-web' },
  })
  const { challenge } = (await answer.json()) as { challenge: unknown }
  return prove(challengeSchema.parse(challenge))
}

describe('a service that never responds', () => {
  it('delays no request beyond the timeout, however many wait for a connection', async () => {
    const { url } = await startWithSilentService()
    const answers = await Promise.all(Array.from({ length: 400 }, () => send(url).answered))
    for (const { status, headers, text } of answers) {
      expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(limitMs + slackMs)
  })

  it('is used again as soon as it responds, whatever waited for it before', async () => {
    const { url, revive } = await startWithSilentService()
    await Promise.all(Array.from({ length: 200 }, () => send(url).answered))
    revive()
    const { status, ms } = await send(url).answered
    expect(status).toBe(200)
    expect(ms).toBeLessThan(limitMs)
  })

  it('gets no request for a visitor who left before there was a connection', async () => {
    const { enrollment, bff, revive } = await startWithSilentService(20_000)
    const requestMemberSeat = (id: string) => send(`${bff.url}/api/member-seats/${id}`)
    /** Waits until everything sent to the BFF before has arrived. */
    const settled = () => send(`${bff.url}/healthz`).answered
    const first = Array.from({ length: 64 }, () => requestMemberSeat(randomUUIDv7()))
    await eventually(() => enrollment.requests.length === 64)
    const [left, stayed] = [randomUUIDv7(), randomUUIDv7()]
    const leaving = Array.from({ length: 10 }, () => requestMemberSeat(left))
    await settled()
    const staying = requestMemberSeat(stayed)
    await settled()
    for (const one of leaving) one.leave()
    await settled()
    revive()
    // All are unknown, and so many unknown ones exceed the limit per network.
    const statuses = (await Promise.all([staying, ...first].map(({ answered }) => answered))).map(
      ({ status }) => status,
    )
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
    expect(enrollment.requests.filter((requests) => requests.endsWith(stayed))).toHaveLength(1)
    expect(enrollment.requests.filter((requests) => requests.endsWith(left))).toEqual([])
  })
})

describe('a service that never finishes a response', () => {
  it('also times out', async () => {
    const { enrollment, url } = await startWithSilentService()
    enrollment.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.once('close', () => clearInterval(drip))
    })
    const { status, ms } = await send(url).answered
    expect(status).toBe(503)
    expect(ms).toBeLessThan(limitMs + slackMs)
  })
})

describe('a service of the previous version', () => {
  it('without a route causes 503, not 404, and does not count as guessing', async () => {
    // A process with only the common routes.
    const older = await bed.start({ name: 'enrollment', config: z.object({}) }, {})
    const settings = { ENROLLMENT_URL: older.url, NOTIFICATIONS_URL: older.url, BILLING_URL: older.url }
    const bff = await startBff(bed, settings)
    const reference = randomUUIDv7()
    const send = (path: string, body?: object) =>
      fetchProven(bff.url + path, {
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
    const waiver = { registrationId: reference, guardianName: 'Maren Holt', childName: 'Ivo', email: 'm@example.com' }
    const letter = { name: 'Maren Holt', email: 'm@example.com', topic: 'order', message: 'Where is it?' }
    const requests = [
      () => send('/api/waiver-document'),
      () => send('/waiver.pdf'),
      () => send('/api/contact', { id: randomUUIDv7(), ...letter }),
      () => send('/api/waivers', { ...waiver, classType: 'basic' }),
      () => send(`/api/registrations/${reference}/calendar.ics`),
      () => send(`/api/orders/${reference}`),
      // More than a network may guess at.
      ...Array.from({ length: 60 }, () => () => send(`/api/registrations/${randomUUIDv7()}`)),
    ]
    for (const send of requests) {
      const answer = await send()
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })
})

describe('a change', () => {
  it('is made even if its visitor has left while it waited for a connection', async () => {
    const { enrollment, bff, revive } = await startWithSilentService(20_000)
    // From another BFF, which does not need the silent service to determine the demand.
    const other = await startBff(bed, {})
    const proofs = await Promise.all(Array.from({ length: 70 }, () => proofOf(other.url)))
    const changes = proofs.map((proof) => {
      const visitor = new AbortController()
      const change = fetch(`${bff.url}/api/registrations/${randomUUIDv7()}/checkout`, {
        method: 'POST',
        headers: { 'x-api-key': 'robokids-web', ...proof },
        signal: visitor.signal,
      })
      change.catch(() => {})
      return visitor
    })
    await eventually(() => enrollment.requests.length === 64)
    await send(`${bff.url}/healthz`).answered
    for (const visitor of changes) visitor.abort()
    await send(`${bff.url}/healthz`).answered
    revive()
    await eventually(() => enrollment.requests.length === 70)
  })
})

describe('passwords waiting to be checked', () => {
  it('do not block other calls of identity, and are rejected if there are too many', async () => {
    const identity = await StubService.start()
    onTestFinished(() => identity.stop())
    const settings = { RATE_LIMIT_WRITES: '100000', UPSTREAM_TIMEOUT_MS: '60000' }
    const bff = await startBff(bed, { IDENTITY_URL: identity.url, ...settings })
    const post = (path: string, body: object, send = fetch) =>
      send(bff.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        body: JSON.stringify(body),
      })
    const email = 'maren@example.com'
    const signIn = () => post('/api/auth/sign-in', { email, password: 'Robot-2030!' })
    for (let nth = 0; nth < 256; nth += 1) signIn().catch(() => {})
    await eventually(() => identity.requests.length === 256)

    const refused = await signIn()
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'busy' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await (await signIn()).json()).toMatchObject({ code: 'proof_required' })
    expect(identity.requests).toHaveLength(256)
    post('/api/auth/forgot-password', { email }, fetchProven as typeof fetch).catch(() => {})
    await eventually(() => identity.requests.length === 257)
  })
})
