import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { classesViewSchema, registrationViewSchema } from '@robokids/contracts/bff'
import { fetchProven } from '@robokids/local/prove'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { startSystem, type ServiceProcess, type System } from './src/system.ts'

let system: System
beforeAll(async () => {
  await buildWeb()
  system = await startSystem({ bff: { WEB_DIST: join(root, 'web/dist') } })
})
afterAll(() => system.stop())

const html = { accept: 'text/html' }
const get = (path: string, headers: Record<string, string> = html, redirect: 'manual' | 'follow' = 'manual') =>
  fetch(system.siteUrl + path, { headers, redirect })

describe('Pages', () => {
  it.each([
    ['/', 'Empowering Kids to Build the Future'],
    ['/robokidspage3', 'Level 3 Autonomous Mastery'],
    ['/terms', 'Terms of Service'],
    ['/robokids/success?reference=x', 'Your registration'],
  ])('The page %s is served completely, and revalidated at each request', async (path, title) => {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    const document = await answer.text()
    expect(document).toContain(`<title>${title} · Robo Kids Learning</title>`)
    expect(document).toContain('<main')

    // A page may have been rendered again with prices and dates in between.
    await eventually(async () => {
      const etag = (await get(path)).headers.get('etag') ?? ''
      const again = await get(path, { ...html, 'if-none-match': etag })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
      return true
    })
  })

  it('A page shows the API’s data, seats included, before any script runs', async () => {
    const sessions = (data: string) =>
      classesViewSchema.parse(JSON.parse(data)).levels.find(({ classType }) => classType === 'basic')?.sessions
    const parts = async () => {
      const document = await (await get('/robokidspage1')).text()
      const data = /<script type="application\/json" id="page-data">\{"classes":(.*?)\}<\/script>/.exec(document)?.[1]
      const seats = [...document.matchAll(/>(\d+) seats? left<\/span>/g)]
      return { document, data: data ?? '', seats: seats.map(([, left]) => Number(left)) }
    }
    const before = await eventually(async () => {
      const page = await parts()
      return page.data !== '' && page
    })
    expect(before.document).toContain('>$400</strong> <span>per child')
    expect(sessions(before.data)?.map(({ seatsLeft }) => seatsLeft)).toEqual(before.seats)

    const lastDate = sessions(before.data)?.at(-1)?.date
    await system.register({ email: `${randomUUIDv7()}@example.com`, ...(lastDate && { startDate: lastDate }) })
    const after = await eventually(async () => {
      const page = await parts()
      return page.data !== before.data && page
    })
    const asked = await (await fetch(`${system.siteUrl}/api/classes`)).text()
    expect(sessions(after.data)).toEqual(sessions(asked))
    expect(sessions(after.data)?.map(({ seatsLeft }) => seatsLeft)).toEqual(after.seats)
  })

  it('A page contains our own URL, and that of no other site', async () => {
    const document = await (await get('/terms')).text()
    expect(document).toContain(`<link rel="canonical" href="${system.siteUrl}/terms"`)
    expect(document).not.toContain('site.invalid')
  })

  it.each([
    ['/robokidspage3', '"@type":"CourseInstance"', '"price":"750.00"'],
    ['/robokidslanding', '"@type":"ItemList"', '"price":"1000.00"'],
    ['/levels', '"@type":"ItemList"', '"price":"1000.00"'],
    ['/shop', '"@type":"Product"', '"price":"300.00"'],
    ['/shop/robot-spider', '/shop/robot-spider","image"', '"price":"300.00"'],
  ])('The page %s has structured data with the current offers and prices', async (path, thing, price) => {
    // While the services are slow the page is served without data; a later request has it.
    await eventually(async () => {
      const document = await (await get(path)).text()
      return document.includes(thing) && document.includes(price)
    })
  })

  it('An unknown page is a page with status 404', async () => {
    const answer = await get('/no/such/page')
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('This page took itself apart')
    const known = { ...html, 'if-none-match': answer.headers.get('etag') ?? '' }
    expect((await get('/no/such/page', known)).status).toBe(404)
  })

  it.each([
    ['/admin', '/'],
    ['/guides', '/news-guides'],
  ])('The path %s redirects to %s', async (from, to) => {
    const answer = await get(from)
    expect([answer.status, answer.headers.get('location')]).toEqual([301, to])
  })

  it('A page carries the security headers', async () => {
    const { headers } = await get('/')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/script-src 'self'( 'sha256-[^']+')+;/)
    expect(policy).not.toContain('unsafe-inline')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
  })
})

describe('Files', () => {
  it('A file with a hash in its name is cached forever', async () => {
    const document = await (await get('/')).text()
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(document)?.[1] ?? ''
    const answer = await get(script, {})
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  })

  it.each(['br', 'gzip'])('A file is served precompressed with %s', async (encoding) => {
    const document = await (await get('/')).text()
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(document)?.[1] ?? ''
    const answer = await requestRaw(system.siteUrl, 'GET', script, { 'accept-encoding': encoding })
    expect([answer.status, answer.headers['content-encoding'], answer.headers.vary]).toEqual([
      200,
      encoding,
      'accept-encoding',
    ])
    const whole = await requestRaw(system.siteUrl, 'GET', script, { 'accept-encoding': `${encoding};q=0` })
    expect(whole.headers['content-encoding']).toBeUndefined()
  })

  it('A missing file of an earlier build is a 404, not a page', async () => {
    const answer = await get('/assets/gone-123.js')
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).not.toContain('text/html')
  })

  it.each(['/assets/../package.json', '/..%2f..%2fpackage.json', '/%2e%2e/package.json', '/.built-from'])(
    'The path %s is not served',
    async (path) => {
      const answer = await get(path, {})
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    },
  )

  it('The waiver is served with the hash of its bytes', async () => {
    const answer = await get('/waiver.pdf', {})
    expect(answer.headers.get('content-type')).toContain('application/pdf')
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer())).toString('hex')
    expect(answer.headers.get('x-document-sha256')).toBe(digest)
    const known = answer.headers.get('etag') ?? ''
    const again = await get('/waiver.pdf', { 'if-none-match': known })
    expect([again.status, again.headers.get('etag'), (await again.arrayBuffer()).byteLength]).toEqual([304, known, 0])
  })
})

/** Yields the `state` events of a stream. */
async function* states(url: string) {
  const answer = await fetch(url)
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^event: state\ndata: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) yield registrationViewSchema.parse(JSON.parse(data))
    }
  }
}

describe('GET /api/registrations/:reference', () => {
  it('A parent who has just returned sees the payment without its webhook, even if another page was refreshed a moment ago', async () => {
    const webhooks = (mode: object) =>
      fetch(`${system.simulator.url}/_sim/webhooks/config`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(mode),
      })
    const family = { email: `${randomUUIDv7()}@example.com`, classType: 'advanced' } as const
    const { registrationId, checkoutUrl } = await system.register(family)
    await system.sql('billing')`
      update checkout_attempts
      set created_at = now() - interval '30 minutes', checked_at = now() - interval '5 seconds'
      where registration_id = ${registrationId}`
    await webhooks({ dropped: true })
    try {
      await system.pay(checkoutUrl)
      expect((await system.state(registrationId)).checkout?.status).toBe('open')
      const answer = await get(`/api/registrations/${registrationId}?returned=true`, {})
      expect(registrationViewSchema.parse(await answer.json()).checkout?.status).toBe('paid')
    } finally {
      await webhooks({})
    }
    await system.reaches(registrationId, 'confirmed')
  })
})

describe('GET /api/registrations/:reference/events', () => {
  it('A stream sends the current state at once, and then each change', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const seen: string[] = []
    for await (const view of states(`${system.siteUrl}/api/registrations/${registrationId}/events`)) {
      if (seen.at(-1) !== view.status) seen.push(view.status)
      if (view.status === 'held' && seen.length === 1) void system.pay(checkoutUrl)
      if (view.status === 'confirmed') break
    }
    expect(seen).toEqual(['held', 'confirmed'])
  })
})

/** Sends the request line exactly as given, which `fetch` would normalize. */
async function requestRaw(bffServer: string, method: string, target: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(bffServer)
  const asking = request({ hostname, port, method, path: target, headers })
  asking.end(method === 'POST' ? '{}' : undefined)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { status: answer.statusCode, headers: answer.headers, text }
}

describe('A URL that is written another way', () => {
  const spellings = (path: string): [string, string][] => [
    ['an encoded letter', path.replace('/api', '/%61pi')],
    ['every letter encoded', path.replace('/api', '/%61%70%69')],
    ['a whole URL', `http://elsewhere.example${path}`],
    ['a whole URL with an encoded letter', `http://elsewhere.example${path.replace('/api', '/a%70i')}`],
  ]

  it.each(spellings('/api/registrations'))('A URL with %s needs the client id and our origin', async (_, target) => {
    const json = { 'content-type': 'application/json' }
    expect((await requestRaw(system.siteUrl, 'POST', target, json)).status).toBe(401)
    const foreign = { ...json, 'x-api-key': 'robokids-web', origin: 'https://evil.example' }
    expect((await requestRaw(system.siteUrl, 'POST', target, foreign)).status).toBe(403)
  })

  it.each(spellings('/api/registrations/'))('A URL with %s is never cached', async (_, target) => {
    const { registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const answer = await requestRaw(system.siteUrl, 'GET', target + registrationId)
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
  })

  it('A URL that is written another way counts towards the same rate limit', async () => {
    const bffServer = await system.another('bff', { RATE_LIMIT_READS: '4' })
    const statuses = []
    for (const [, target] of spellings('/api/getAllRegistrations'))
      statuses.push((await requestRaw(bffServer.url, 'GET', target, { 'x-admin-secret': 'guess' })).status)
    statuses.push((await requestRaw(bffServer.url, 'GET', '/api/getAllRegistrations')).status)
    expect(statuses).toEqual([401, 401, 401, 401, 429])
  })

  it('An encoded API path that does not exist is no page', async () => {
    const answer = await requestRaw(system.siteUrl, 'GET', '/%61pi/nothing', html)
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(answer.headers['cache-control']).toBe('no-store')
  })
})

describe('Event streams', () => {
  /** Opens a stream and reads up to its first state. */
  async function open(bffServer: string, registrationId: string) {
    const asking = request(`${bffServer}/api/registrations/${registrationId}/events`)
    asking.on('error', () => {})
    asking.end()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    let text = ''
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    await eventually(() => answer.statusCode !== 200 || text.includes('event: state'))
    return { status: answer.statusCode, answer, close: () => asking.destroy() }
  }

  it('Open event streams do not delay the process’s stop, and end as complete responses', async () => {
    const bffServer = await system.another('bff')
    const { registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(bffServer.url, registrationId)))
    const ended = streams.map(({ answer }) => once(answer, 'end'))
    const before = performance.now()
    await bffServer.stop()
    expect(performance.now() - before).toBeLessThan(8_000)
    await Promise.all(ended)
  })

  it('Event streams per address are limited, until one of them closes', async () => {
    const bffServer = await system.another('bff', { STREAMS_PER_ADDRESS: '2' })
    const { registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const streams = [await open(bffServer.url, registrationId), await open(bffServer.url, registrationId)]
    const refused = await fetch(`${bffServer.url}/api/registrations/${registrationId}/events`)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('pages') as string,
    })
    streams[0]?.close()
    await eventually(async () => {
      const next = await open(bffServer.url, registrationId)
      next.close()
      return next.status === 200
    })
    streams[1]?.close()
  })

  it('HEAD on an event stream is answered at once, with the headers of GET', async () => {
    const { registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const answer = await requestRaw(system.siteUrl, 'HEAD', `/api/registrations/${registrationId}/events`)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect((await requestRaw(system.siteUrl, 'HEAD', `/api/registrations/${randomUUIDv7()}/events`)).status).toBe(404)
  })
})

describe('Metrics and readiness', () => {
  const behindProxy = { 'x-forwarded-for': '203.0.113.9' }

  it('/metrics is served to internal addresses and with the admin secret only', async () => {
    const { siteUrl } = system
    expect((await get('/metrics', {})).status).toBe(200)
    const visitor = await fetch(`${siteUrl}/metrics`, { headers: behindProxy })
    expect([visitor.status, await visitor.text()]).toEqual([401, expect.not.stringContaining('http_')])
    for (const header of ['127.0.0.1', '10.0.0.1', ''])
      expect((await fetch(`${siteUrl}/metrics`, { headers: { 'x-forwarded-for': header } })).status).toBe(401)
    const admin = { ...behindProxy, 'x-admin-secret': 'local-admin' }
    expect((await fetch(`${siteUrl}/metrics`, { headers: admin })).status).toBe(200)
  })

  it('/readyz tells external callers only whether the process is ready', async () => {
    const visitor = await fetch(`${system.siteUrl}/readyz`, { headers: behindProxy })
    expect([visitor.status, await visitor.json()]).toEqual([200, { status: 'ready' }])
    expect(await (await get('/readyz', {})).json()).toEqual({ status: 'ready', database: true, bus: true })
  })
})

describe('Rate limits of the public API', () => {
  const behindProxy = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_WRITES: '3', RATE_LIMIT_READS: '5' }
  const ask = (
    bffServer: ServiceProcess,
    headers: Record<string, string>,
    method = 'POST',
    path = '/api/registrations',
  ) =>
    fetchProven(bffServer.url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', ...headers },
      ...(method === 'POST' ? { body: '{}' } : {}),
    })

  it('Behind a proxy each parent has own rate limits, and a forged header gains nothing', async () => {
    const bffServer = await system.another('bff', behindProxy)
    // The proxy appends the address that it sees to what the client claims.
    const through = (client: string, claimed = '') =>
      ask(bffServer, { 'x-forwarded-for': claimed ? `${claimed}, ${client}` : client })
    for (let n = 0; n < 3; n += 1) expect((await through('198.51.100.1')).status).toBe(400)
    const limited = await through('198.51.100.1')
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await limited.json()).toMatchObject({ code: 'rate_limited' })
    for (let n = 0; n < 3; n += 1) expect((await through('198.51.100.1', `203.0.113.${n}`)).status).toBe(429)
    expect((await through('198.51.100.2')).status).toBe(400)
    for (let n = 0; n < 10; n += 1) {
      const webhook = await ask(bffServer, { 'x-forwarded-for': '198.51.100.1' }, 'POST', '/webhooks/stripe')
      expect(webhook.status).toBe(400)
    }
  })

  it('Without a trusted proxy, rate limits ignore forwarding headers', async () => {
    const bffServer = await system.another('bff', { ...behindProxy, TRUST_PROXY: 'false' })
    const statuses = []
    for (let n = 0; n < 4; n += 1) statuses.push((await ask(bffServer, { 'x-forwarded-for': `203.0.113.${n}` })).status)
    expect(statuses).toEqual([400, 400, 400, 429])
  })
})

describe('A waiver without a reference', () => {
  it('A waiver without a reference can be sent repeatedly, and no response contains the registration’s reference', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const { registrationId, checkoutUrl } = await system.register({ email })
    await system.pay(checkoutUrl)
    const { startDate } = await system.reaches(registrationId, 'confirmed')
    const waiver = { guardianName: 'Maren Holt', childName: 'Ivo', email, startDate, classType: 'basic' }
    const answers = []
    for (let n = 0; n < 2; n += 1) answers.push(await system.post('/api/waivers', waiver))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(Object.keys(body as object).toSorted()).toEqual(['signedAt', 'waiverId'])
      expect(JSON.stringify(body)).not.toContain(registrationId)
    }
    const known = await system.post('/api/waivers', { ...waiver, registrationId: registrationId.toUpperCase() })
    expect(known).toMatchObject({ status: 200, body: { registrationId } })
  })
})

describe('The evidence of a waiver', () => {
  it('The evidence of a waiver has the peer’s address, not the one that a header claims', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const { registrationId, checkoutUrl } = await system.register({ email })
    await system.pay(checkoutUrl)
    const { startDate } = await system.reaches(registrationId, 'confirmed')
    const signed = await fetch(`${system.siteUrl}/api/waivers`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': 'robokids-web',
        'x-forwarded-for': '203.0.113.9',
        'user-agent': 'a test',
      },
      body: JSON.stringify({
        registrationId,
        guardianName: 'Maren Holt',
        childName: 'Ivo',
        email,
        startDate,
        classType: 'basic',
      }),
    })
    expect(signed.status).toBe(200)
    const [evidence] = await system.sql(
      'enrollment',
    )`select ip_address, user_agent from waivers where registration_id = ${registrationId}`
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1']).toContain(evidence?.['ip_address'])
    expect(evidence?.['user_agent']).toBe('a test')
    await eventually(async () => (await system.mailsTo(email)).length === 2)
  })
})
