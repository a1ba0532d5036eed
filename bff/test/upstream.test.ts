import { randomUUIDv7 } from 'node:crypto'
import { challengeSchema } from '@robokids/contracts/proof'
import { fetchProven, prove } from '@robokids/local/prove'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { ask, startFront, StubService } from './front.ts'

const limitMs = 1_000
/** What the machine may take on top while hundreds of requests fail at once. */
const slackMs = 1_500

const unknown = { code: 'membership_not_found', message: 'There is no such thing.', requestId: 'stub' }

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

async function frontWithSilentService(timeoutMs = limitMs) {
  const enrollment = await StubService.start()
  onTestFinished(() => enrollment.stop())
  const front = await startFront(bed, { ENROLLMENT_URL: enrollment.url, UPSTREAM_TIMEOUT_MS: String(timeoutMs) })
  // It is asked for each visitor alone.
  const url = `${front.url}/waiver.pdf`
  const revive = () => {
    enrollment.answer((incoming, response) => {
      const isWaiver = incoming.url === '/waiver.pdf'
      response.writeHead(isWaiver ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isWaiver ? {} : unknown))
    })
  }
  return { enrollment, front, url, revive }
}

/** The headers of a proof of work for going on to a payment. */
async function proofOf(url: string): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/registrations/${randomUUIDv7()}/checkout`, {
    method: 'POST',
    headers: { 'x-api-key': 'robokids-web' },
  })
  const { challenge } = (await answer.json()) as { challenge: unknown }
  return prove(challengeSchema.parse(challenge))
}

describe('a service that answers nothing', () => {
  it('keeps no request longer than the limit, however many wait for a connection', async () => {
    const { url } = await frontWithSilentService()
    const answers = await Promise.all(Array.from({ length: 400 }, () => ask(url).answered))
    for (const { status, headers, text } of answers) {
      expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(limitMs + slackMs)
  })

  it('is used again as soon as it lives, whatever waited for it before', async () => {
    const { url, revive } = await frontWithSilentService()
    await Promise.all(Array.from({ length: 200 }, () => ask(url).answered))
    revive()
    const { status, ms } = await ask(url).answered
    expect(status).toBe(200)
    expect(ms).toBeLessThan(limitMs)
  })

  it('is not asked on behalf of who has left before there was a connection', async () => {
    const { enrollment, front, revive } = await frontWithSilentService(20_000)
    const askFor = (id: string) => ask(`${front.url}/api/member-seats/${id}`)
    /** Whatever was sent to the BFF before this has arrived. */
    const settled = () => ask(`${front.url}/healthz`).answered
    const first = Array.from({ length: 64 }, () => askFor(randomUUIDv7()))
    await eventually(() => enrollment.asked.length === 64)
    const [left, stayed] = [randomUUIDv7(), randomUUIDv7()]
    const leaving = Array.from({ length: 10 }, () => askFor(left))
    await settled()
    const staying = askFor(stayed)
    await settled()
    for (const one of leaving) one.leave()
    await settled()
    revive()
    // The service knows none of them, and so many unknown ones at once are beyond the limit of one network.
    const statuses = (await Promise.all([staying, ...first].map(({ answered }) => answered))).map(
      ({ status }) => status,
    )
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
    expect(enrollment.asked.filter((asked) => asked.endsWith(stayed))).toHaveLength(1)
    expect(enrollment.asked.filter((asked) => asked.endsWith(left))).toEqual([])
  })
})

describe('a service that begins an answer and never ends it', () => {
  it('is given up within the limit too', async () => {
    const { enrollment, url } = await frontWithSilentService()
    enrollment.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.once('close', () => clearInterval(drip))
    })
    const { status, ms } = await ask(url).answered
    expect(status).toBe(503)
    expect(ms).toBeLessThan(limitMs + slackMs)
  })
})

describe('a service of the version before', () => {
  it('that has no such route is none that knows nothing: its visitors are told to try again, and have guessed at nothing', async () => {
    // A process of ours, whose routes are those that every one has.
    const older = await bed.start({ name: 'enrollment', config: z.object({}) }, {})
    const settings = { ENROLLMENT_URL: older.url, NOTIFICATIONS_URL: older.url, BILLING_URL: older.url }
    const front = await startFront(bed, settings)
    const reference = randomUUIDv7()
    const send = (path: string, body?: object) =>
      fetchProven(front.url + path, {
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
    const waiver = { registrationId: reference, guardianName: 'Maren Holt', childName: 'Ivo', email: 'm@example.com' }
    const letter = { name: 'Maren Holt', email: 'm@example.com', topic: 'order', message: 'Where is it?' }
    const asked = [
      () => send('/api/waiver-document'),
      () => send('/waiver.pdf'),
      () => send('/api/contact', { id: randomUUIDv7(), ...letter }),
      () => send('/api/waivers', { ...waiver, classType: 'basic' }),
      () => send(`/api/registrations/${reference}/calendar.ics`),
      () => send(`/api/orders/${reference}`),
      // More than a network may guess at.
      ...Array.from({ length: 60 }, () => () => send(`/api/registrations/${randomUUIDv7()}`)),
    ]
    for (const ask of asked) {
      const answer = await ask()
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })
})

describe('a change', () => {
  it('is made though its visitor has left, also where it had to wait for a connection', async () => {
    const { enrollment, front, revive } = await frontWithSilentService(20_000)
    // From another one, which need not ask the silent service how much work it is to be.
    const other = await startFront(bed, {})
    const proofs = await Promise.all(Array.from({ length: 70 }, () => proofOf(other.url)))
    const changes = proofs.map((proof) => {
      const visitor = new AbortController()
      const change = fetch(`${front.url}/api/registrations/${randomUUIDv7()}/checkout`, {
        method: 'POST',
        headers: { 'x-api-key': 'robokids-web', ...proof },
        signal: visitor.signal,
      })
      change.catch(() => {})
      return visitor
    })
    await eventually(() => enrollment.asked.length === 64)
    await ask(`${front.url}/healthz`).answered
    for (const visitor of changes) visitor.abort()
    await ask(`${front.url}/healthz`).answered
    revive()
    await eventually(() => enrollment.asked.length === 70)
  })
})

describe('passwords that wait to be checked', () => {
  it('keep nothing else from identity waiting, and more of them than it can be asked at once are refused', async () => {
    const identity = await StubService.start()
    onTestFinished(() => identity.stop())
    const settings = { RATE_LIMIT_WRITES: '100000', UPSTREAM_TIMEOUT_MS: '60000' }
    const front = await startFront(bed, { IDENTITY_URL: identity.url, ...settings })
    const post = (path: string, body: object, send = fetch) =>
      send(front.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        body: JSON.stringify(body),
      })
    const email = 'maren@example.com'
    const signIn = () => post('/api/auth/sign-in', { email, password: 'Robot-2030!' })
    for (let nth = 0; nth < 256; nth += 1) signIn().catch(() => {})
    await eventually(() => identity.asked.length === 256)

    const refused = await signIn()
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'busy' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await (await signIn()).json()).toMatchObject({ code: 'proof_required' })
    expect(identity.asked).toHaveLength(256)
    post('/api/auth/forgot-password', { email }, fetchProven as typeof fetch).catch(() => {})
    await eventually(() => identity.asked.length === 257)
  })
})
