import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fetchProven } from '@robokids/local/prove'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { testBed, type TestBed } from '@robokids/test/bed'
import { sampleFamily } from '@robokids/test/samples'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startBff, StubService } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

/** A session that was started while identity was available. */
function sessionOf(userId: string): string {
  const now = Date.now()
  const tokens = { accessToken: 'a.b.c', refreshToken: 'x' }
  const session = { ...tokens, userId, username: `user_${userId}`, email: '', since: now, until: now + 3_600_000 }
  const sealed = sealingKeysSchema.parse(localSealingKeys).seal(JSON.stringify(session), 'robokids-session')
  return `robokids-session=${sealed}`
}

/** Starts a BFF with a service that records and rejects all requests. Identity is unavailable. */
async function startFixture() {
  const requests: { path: string; body: Record<string, unknown> }[] = []
  const service = await StubService.start()
  onTestFinished(() => service.stop())
  service.answer((request, response) => {
    void (async () => {
      const path = request.url ?? ''
      requests.push({ path, body: JSON.parse((await text(request)) || '{}') as Record<string, unknown> })
      const isHold = path === '/member-seats'
      response.writeHead(isHold ? 200 : 409, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          isHold
            ? { classDate: '2030-01-04', heldUntil: '2030-01-01T00:00:00.000Z' }
            : { code: 'registration_closed', message: 'Closed.', requestId: 'stub' },
        ),
      )
    })()
  })
  const { url } = await startBff(bed, { ENROLLMENT_URL: service.url, BILLING_URL: service.url })
  const post = (path: string, body: object, cookie = '') =>
    fetchProven(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', cookie },
      body: JSON.stringify(body),
    })
  return { requests, post }
}

const purchases: [string, string, object][] = [
  ['/api/registrations', '/registrations', { ...sampleFamily(), classType: 'basic', startDate: '2030-01-04' }],
  ['/api/checkout', '/orders', { orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] }],
  [
    '/api/createStripeSession',
    '/membership-checkouts',
    { email: 'maren@example.com', plan: 'monthly', classDate: '2030-01-04' },
  ],
]

describe('a purchase', () => {
  it.each(purchases)(
    'by %s belongs to the session’s user, even while identity is unavailable, and never to the one in the body',
    async (...kind) => {
      const [path, upstream, body] = kind
      const { requests, post } = await startFixture()
      const owners = () => requests.filter((one) => one.path === upstream).map((one) => one.body['ownerId'])
      const userId = randomUUID()
      const claimed = { ...body, ownerId: randomUUID() }
      expect((await post(path, claimed, sessionOf(userId))).status).toBe(409)
      expect((await post(path, claimed)).status).toBe(409)
      expect((await post(path, claimed, 'robokids-session=forged')).status).toBe(409)
      expect(owners()).toEqual([userId, null, null])
    },
  )

  it('of an order has the network of the connection, whatever the body says', async () => {
    const { requests, post } = await startFixture()
    const [, [path, upstream, body]] = purchases as [(typeof purchases)[0], (typeof purchases)[0]]
    await post(path, { ...body, network: '198.51.100.0/24' })
    expect(requests.filter((one) => one.path === upstream).map((one) => one.body['network'])).toEqual(['127.0.0.0/24'])
  })

  it.each(purchases)('by %s belongs to the requesting browser, identified by an HttpOnly cookie', async (...kind) => {
    const [path, upstream, body] = kind
    const { requests, post } = await startFixture()
    const browsers = () => requests.filter((one) => one.path === upstream).map((one) => one.body['browserId'])
    const claimed = { ...body, browserId: randomUUID() }
    const first = await post(path, claimed)
    const cookie = first.headers.getSetCookie().find((one) => one.startsWith('robokids-browser='))
    expect(cookie).toMatch(/; HttpOnly/)
    expect(cookie).toMatch(/; SameSite=Lax/)
    await post(path, claimed, cookie?.split(';')[0])
    await post(path, claimed)
    await post(path, claimed, 'robokids-browser=forged')
    const [one, again, other, forged] = browsers()
    expect(again).toBe(one)
    expect(new Set([one, other, forged, claimed.browserId]).size).toBe(4)
    expect(cookie).not.toContain(String(one))
  })
})
