import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { createHmac } from 'node:crypto'
import type { ErrorBody } from '@robokids/contracts/errors'
import { fetchProven } from '@robokids/local/prove'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { notifications } from '../../services/notifications/src/app.ts'
import { localSealingKeys } from '@robokids/runtime/seal'
import { startBff, StubService } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

const behindProxy = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_READS: '100000', RATE_LIMIT_WRITES: '100000' }

/** Sends requests from an address, through a proxy. */
function from(url: string, address: string) {
  return async (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) => {
    const answer = await fetchProven(url + path, {
      redirect: 'manual',
      ...init,
      headers: { 'x-forwarded-for': address, ...init.headers },
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, body: () => JSON.parse(text) as ErrorBody }
  }
}

async function metric(url: string, what: string, outcome: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(
    new RegExp(`^wrong_guesses_total\\{what="${what}",outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1],
  )
}

const targets: [string, () => Promise<{ url: string }>, string][] = [
  ['the BFF', () => startBff(bed, behindProxy), '/admin/system'],
  [
    'a service',
    () =>
      bed.start(notifications, {
        ...behindProxy,
        SITE_URL: 'https://robokids.example',
        CODE_SEALING_KEYS: localSealingKeys,
      }),
    '/admin/outbox',
  ],
]

describe.each(targets)('the admin secret of %s', (_name, start, path) => {
  const guess = (secret: string) => ({ headers: { 'x-admin-secret': secret } })

  it('cannot be guessed: after some attempts a network is blocked, even with the correct secret', async () => {
    const { url } = await start()
    const attacker = from(url, '198.51.100.1')
    const statuses = []
    for (let n = 0; n < 30; n += 1) statuses.push((await attacker(path, guess(`wrong-${n}`))).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 20 }, () => 429)])
    const limited = await attacker(path, guess('local-admin'))
    expect([limited.status, limited.body().code]).toEqual([429, 'rate_limited'])
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await metric(url, 'admin_secret', 'wrong')).toBe(10)
    expect(await metric(url, 'admin_secret', 'limited')).toBe(21)
  })

  it('cannot be guessed at one copy after another: a network is blocked at all of them', async () => {
    const urls = [(await start()).url, (await start()).url]
    const attackers = urls.map((url) => from(url, '198.51.100.6'))
    for (let n = 0; n < 10; n += 1) expect((await attackers[n % 2]?.(path, guess(`wrong-${n}`)))?.status).toBe(401)
    for (const attacker of attackers)
      await eventually(async () => (await attacker(path, guess('local-admin'))).status === 429)
    for (const url of urls) expect((await from(url, '203.0.113.6')(path, guess('local-admin'))).status).toBe(200)
  })

  it('is accepted from an operator while others guess from many networks', async () => {
    const { url } = await start()
    const statuses = new Map<number, number>()
    for (let n = 0; n < 400; n += 1) {
      const { status } = await from(url, `2001:db8:${n % 200}::1`)(path, guess(`wrong-${n}`))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    // Each network has a first attempt; after a hundred attempts in total, none has a second one.
    expect(Object.fromEntries(statuses)).toEqual({ 401: 200, 429: 200 })
    for (let n = 0; n < 20; n += 1)
      expect((await from(url, '203.0.113.7')(path, guess('local-admin'))).status).toBe(200)
  })

  it('is accepted from the internal network even if somebody guesses there', async () => {
    const { url } = await start()
    const statuses = []
    for (let n = 0; n < 12; n += 1) statuses.push((await fetch(url + path, guess(`wrong-${n}`))).status)
    expect(statuses.slice(-3)).toEqual([401, 429, 429])
    expect((await fetch(url + path, guess('local-admin'))).status).toBe(200)
  })
})

const signed = (body: string, secret = 'whsec_wrong') => {
  const at = Math.floor(Date.now() / 1000)
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`
}

describe('unsigned webhooks', () => {
  it('never reach billing, and are limited, while the provider’s own pass', async () => {
    const billing = await StubService.start()
    onTestFinished(() => billing.stop())
    billing.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"received":"handled"}')
    })
    const { url } = await startBff(bed, { ...behindProxy, BILLING_URL: billing.url })
    const post = (address: string, signature?: string) =>
      from(url, address)('/webhooks/stripe', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', ...(signature ? { 'stripe-signature': signature } : {}) },
      })
    const statuses = []
    for (let n = 0; n < 50; n += 1) statuses.push((await post('198.51.100.2')).status)
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 400), ...Array.from({ length: 20 }, () => 429)])
    expect(billing.requests).toEqual([])
    expect((await post('203.0.113.9', signed('{}'))).status).toBe(200)
    expect(billing.requests).toEqual(['POST /webhooks/stripe'])
    expect(await metric(url, 'webhook_signature', 'wrong')).toBe(30)
    expect(await metric(url, 'webhook_signature', 'limited')).toBe(20)
  })

  it('are also limited if they have a wrong signature', async () => {
    const billing = await StubService.start()
    onTestFinished(() => billing.stop())
    billing.answer((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: 'signature_invalid', message: 'No.', requestId: 'stub' }))
    })
    const { url } = await startBff(bed, { ...behindProxy, BILLING_URL: billing.url })
    const post = () =>
      from(url, '198.51.100.3')('/webhooks/stripe', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', 'stripe-signature': signed('{}') },
      })
    const statuses = []
    for (let n = 0; n < 40; n += 1) statuses.push((await post()).status)
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 400), ...Array.from({ length: 10 }, () => 429)])
    // After that, they are rejected unread.
    expect(billing.requests).toHaveLength(30)
  })
})

/** The routes with a reference: method, path, and the service behind it. */
const pages: [string, string, string][] = [
  ['GET', '/api/registrations/:reference', 'ENROLLMENT_URL'],
  ['GET', '/api/registrations/:reference/calendar.ics', 'ENROLLMENT_URL'],
  ['GET', '/api/registrations/:reference/receipt.pdf', 'ENROLLMENT_URL'],
  ['GET', '/api/registrations/:reference/events', 'ENROLLMENT_URL'],
  ['GET', '/api/registrations/:reference/link', 'ENROLLMENT_URL'],
  ['POST', '/api/registrations/:reference/checkout', 'ENROLLMENT_URL'],
  ['GET', '/api/member-seats/:reference', 'ENROLLMENT_URL'],
  ['GET', '/api/membership-checkouts/:reference', 'BILLING_URL'],
  ['GET', '/api/orders/:reference', 'BILLING_URL'],
  ['GET', '/api/shop/notices/:reference', 'NOTIFICATIONS_URL'],
  ['POST', '/api/shop/notices/:reference/confirmation', 'NOTIFICATIONS_URL'],
  ['POST', '/api/shop/notices/:reference/removal', 'NOTIFICATIONS_URL'],
  ['GET', '/api/waitlist/:reference', 'ENROLLMENT_URL'],
  ['POST', '/api/waitlist/:reference/accept', 'ENROLLMENT_URL'],
  ['POST', '/api/waitlist/:reference/decline', 'ENROLLMENT_URL'],
  ['POST', '/api/waitlist/:reference/leave', 'ENROLLMENT_URL'],
  ['GET', '/api/choices/:reference', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/cancellation', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/cancellation/quote', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/move', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/move/options', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/move/quote', 'ENROLLMENT_URL'],
  ['POST', '/api/choices/:reference/move/withdraw', 'ENROLLMENT_URL'],
]

const placeIds = [randomUUIDv7()]
const quoted = { id: randomUUIDv7(), placeIds, quoteId: 'a-quote' }
const to = randomUUIDv7()

/** What some of them need besides. */
const bodies: Record<string, object> = {
  '/api/waitlist/:reference/accept': { addressLine1: '14 Alder Way', city: 'San Mateo', state: 'CA', zipCode: '94401' },
  '/api/choices/:reference/cancellation': quoted,
  '/api/choices/:reference/cancellation/quote': { placeIds },
  '/api/choices/:reference/move': { ...quoted, to },
  '/api/choices/:reference/move/options': { placeIds },
  '/api/choices/:reference/move/quote': { placeIds, to },
  '/api/choices/:reference/move/withdraw': { changeId: randomUUIDv7() },
}

/** The routes that redirect to a payment page, or back to where one can be requested. */
const paymentPages = ['/api/registrations/:reference/pay/:page', '/api/membership-checkouts/:reference/pay/:page']

/** Reached with a session only. */
const ownPages = [
  'GET /api/member-seats/:reference/link',
  'GET /api/registrations/:reference/changes',
  'POST /api/registrations/:reference/cancellation',
  'POST /api/registrations/:reference/cancellation/quote',
  'POST /api/registrations/:reference/correction',
  'POST /api/registrations/:reference/move',
  'POST /api/registrations/:reference/move/options',
  'POST /api/registrations/:reference/move/quote',
  'POST /api/registrations/:reference/move/withdraw',
]

describe('a reference', () => {
  /** Starts a BFF with services that have no records. */
  async function startWithoutRecords(setting: string) {
    const service = await StubService.start()
    onTestFinished(() => service.stop())
    service.answer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      const body = { code: 'registration_not_found', message: 'We do not know that one.', requestId: 'stub' }
      response.end(JSON.stringify(body))
    })
    const { url } = await startBff(bed, {
      ...behindProxy,
      ENROLLMENT_URL: service.url,
      BILLING_URL: service.url,
      NOTIFICATIONS_URL: service.url,
    })
    return { url, service, setting }
  }
  const routes = async () => {
    const { routes } = await startBff(bed, behindProxy)
    return routes.filter(({ url }) => url.includes(':reference') && url.startsWith('/api/'))
  }

  it('cannot be guessed from the networks of one IPv6 /48 in turn, but each IPv4 address has its own attempts', async () => {
    const { url } = await startWithoutRecords('')
    const attempts = async (addressOf: (nth: number) => string) => {
      const statuses = new Map<number, number>()
      for (let nth = 0; nth < 350; nth += 1) {
        const { status } = await from(url, addressOf(nth % 10))(`/api/registrations/${randomUUIDv7()}`)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      return Object.fromEntries(statuses)
    }
    expect(await attempts((nth) => `2001:db8:5:${nth}::1`)).toEqual({ 404: 320, 429: 30 })
    expect(await attempts((nth) => `203.0.113.${nth + 1}`)).toEqual({ 404: 350 })
    // Other /48s have their own attempts as well.
    expect(await attempts((nth) => `2001:db8:${nth + 6}::1`)).toEqual({ 404: 350 })
  })

  it('is part of exactly these routes', async () => {
    const known = [
      ...pages.map(([method, path]) => `${method} ${path}`),
      ...paymentPages.map((path) => `GET ${path}`),
      ...ownPages,
    ]
    const found = (await routes()).flatMap(({ method, url }) =>
      [method]
        .flat()
        .map((one) => `${one} ${url}`)
        .filter((one) => !one.startsWith('HEAD ')),
    )
    expect(found.toSorted()).toEqual(known.toSorted())
  })

  it.each(pages)(
    'gets the same response from %s %s, by the same path, malformed or unknown',
    async (method, path, setting) => {
      const { url, service } = await startWithoutRecords(setting)
      const needed = bodies[path]
      const answers = []
      for (const reference of [
        randomUUIDv7(),
        randomUUID(),
        'none',
        "'--",
        'a'.repeat(150),
        '%00',
        randomUUIDv7().slice(1),
      ]) {
        const before = service.requests.length
        const address = path.replace(':reference', reference)
        const { status, body, headers } = await from(url, '198.51.100.9')(address, {
          method,
          headers: { 'x-api-key': 'robokids-web', ...(needed ? { 'content-type': 'application/json' } : {}) },
          ...(needed ? { body: JSON.stringify(needed) } : {}),
        })
        const { requestId: _, ...content } = body()
        const requests = service.requests
          .slice(before)
          // Fetched occasionally, for the proofs of work.
          .filter((one) => !one.endsWith('/unpaid-seats'))
          .map((one) => one.replace(/[0-9a-f-]{36}/, ':id'))
        answers.push({ status, content, requests: requests.toSorted(), type: headers.get('content-type') })
      }
      expect(answers[0]).toMatchObject({ status: 404 })
      expect(answers[0]?.requests.length).toBeGreaterThan(0)
      for (const answer of answers) expect(answer).toEqual(answers[0])
    },
  )

  it.each(paymentPages)('redirects back from %s, by the same path, malformed or unknown', async (path) => {
    const { url, service } = await startWithoutRecords('')
    const answers = []
    for (const reference of [randomUUIDv7(), randomUUID(), 'none', "'--", '%00']) {
      const before = service.requests.length
      const address = path.replace(':reference', reference).replace(':page', 'cs_1')
      const { status, headers } = await from(url, '198.51.100.9')(address)
      const to = decodeURIComponent(headers.get('location') ?? '').replace(decodeURIComponent(reference), ':reference')
      answers.push({
        status,
        to,
        requests: service.requests.slice(before).map((one) => one.replace(/[0-9a-f-]{36}/, ':id')),
      })
    }
    expect(answers[0]).toMatchObject({ status: 303, requests: [expect.any(String)] })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  it('cannot be guessed from one network, while others still see their pages', async () => {
    const { url } = await startWithoutRecords('ENROLLMENT_URL')
    const statuses = []
    for (let n = 0; n < 50; n += 1)
      statuses.push((await from(url, '198.51.100.4')(`/api/orders/${randomUUIDv7()}`)).status)
    expect(statuses).toEqual([...Array.from({ length: 40 }, () => 404), ...Array.from({ length: 10 }, () => 429)])
    expect((await from(url, '203.0.113.4')(`/api/orders/${randomUUIDv7()}`)).status).toBe(404)
    expect(await metric(url, 'reference', 'limited')).toBe(10)
  })

  it('cannot be bypassed by guessing the details of unsigned waivers, which share the limit', async () => {
    const { url, service } = await startWithoutRecords('ENROLLMENT_URL')
    const sign = (address: string) =>
      from(url, address)('/api/waivers', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        body: JSON.stringify({
          guardianName: 'Maren Holt',
          childName: 'Ivo',
          email: 'maren@example.com',
          startDate: '',
          classType: 'basic',
        }),
      })
    const answers = []
    for (let n = 0; n < 50; n += 1) answers.push(await sign('198.51.100.5'))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toEqual([...Array.from({ length: 40 }, () => 404), ...Array.from({ length: 10 }, () => 429)])
    expect(answers[0]?.body().message).toBe('We do not know that one.')
    expect(service.requests.filter((one) => one === 'POST /waivers')).toHaveLength(40)
    expect((await sign('203.0.113.5')).status).toBe(404)
  })

  it('that was found before stays accessible, however many guesses come from its family’s network', async () => {
    const own = randomUUIDv7()
    const other = randomUUIDv7()
    const notice = { sku: 'robot-spider', productName: 'Spider', status: 'confirmed' }
    const service = await StubService.start()
    onTestFinished(() => service.stop())
    service.answer((request, response) => {
      const exists = [own, other].some((id) => request.url?.includes(id) === true)
      response.writeHead(exists ? 200 : 404, { 'content-type': 'application/json' })
      const unknown = { code: 'notice_not_found', message: 'Unknown.', requestId: 'stub' }
      response.end(JSON.stringify(exists ? notice : unknown))
    })
    const { url } = await startBff(bed, { ...behindProxy, NOTIFICATIONS_URL: service.url })
    const { url: otherUrl } = await startBff(bed, { ...behindProxy, NOTIFICATIONS_URL: service.url })
    const send = (id: string, bffUrl = url) => from(bffUrl, '198.51.100.5')(`/api/shop/notices/${id}`)
    expect((await send(own)).status).toBe(200)
    for (let n = 0; n < 60; n += 1) await send(randomUUIDv7())
    for (let n = 0; n < 20; n += 1) expect((await send(own)).status).toBe(200)
    // The other BFF knows both the guesses and what was found.
    await eventually(async () => (await send(randomUUIDv7(), otherUrl)).status === 429)
    expect((await send(own, otherUrl)).status).toBe(200)
    const requests = service.requests.length
    expect((await send(other)).status).toBe(429)
    expect(service.requests).toHaveLength(requests)
    await eventually(async () => (await from(url, '203.0.113.5')(`/api/shop/notices/${other}`)).status === 200)
  })
})
