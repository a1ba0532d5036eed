import { randomUUIDv7 } from 'node:crypto'
import { registrationViewSchema } from '@robokids/contracts/bff'
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

describe('a page', () => {
  it.each(['/', '/robokidslanding', '/robokidspage3', '/robokids/success?reference=x', '/waiver'])(
    '%s is served, and asked for again each time',
    async (path) => {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(await answer.text()).toContain('<div id="root">')
    },
  )

  it('that does not exist is a page all the same, with status 404', async () => {
    const answer = await get('/no/such/page')
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('<div id="root">')
  })

  it('/admin leads home', async () => {
    const answer = await get('/admin')
    expect([answer.status, answer.headers.get('location')]).toEqual([301, '/'])
  })

  it('carries the security headers', async () => {
    const { headers } = await get('/')
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
  })
})

describe('a file', () => {
  it('with a hash in its name is kept for ever', async () => {
    const document = await (await get('/')).text()
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(document)?.[1] ?? ''
    const answer = await get(script, {})
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  })

  it('of an earlier build is 404, and no page', async () => {
    const answer = await get('/assets/gone-123.js')
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).not.toContain('text/html')
  })

  it.each(['/assets/../package.json', '/..%2f..%2fpackage.json', '/%2e%2e/package.json', '/.built-from'])(
    '%s is not ours to give',
    async (path) => {
      const answer = await get(path, {})
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    },
  )

  it('the waiver is served with the hash of its bytes', async () => {
    const answer = await get('/waiver.pdf', {})
    expect(answer.headers.get('content-type')).toContain('application/pdf')
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer())).toString('hex')
    expect(answer.headers.get('x-document-sha256')).toBe(digest)
  })
})

/** Reads `state` events from a stream. */
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

describe('GET /api/registrations/:reference/events', () => {
  it('tells what is true at once, and each change as it comes', async () => {
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

describe('the limits at the door', () => {
  const behindProxy = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_WRITES: '3', RATE_LIMIT_READS: '5' }
  const ask = (door: ServiceProcess, headers: Record<string, string>, method = 'POST', path = '/api/registrations') =>
    fetch(door.url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', ...headers },
      ...(method === 'POST' ? { body: '{}' } : {}),
    })

  it('are kept for each parent apart behind a proxy, and a forged header buys no new one', async () => {
    const door = await system.another('bff', behindProxy)
    // The proxy appends the address that it sees to whatever the client claims.
    const through = (client: string, claimed = '') =>
      ask(door, { 'x-forwarded-for': claimed ? `${claimed}, ${client}` : client })
    for (let n = 0; n < 3; n += 1) expect((await through('198.51.100.1')).status).toBe(400)
    const limited = await through('198.51.100.1')
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await limited.json()).toMatchObject({ code: 'rate_limited' })
    for (let n = 0; n < 3; n += 1) expect((await through('198.51.100.1', `203.0.113.${n}`)).status).toBe(429)
    expect((await through('198.51.100.2')).status).toBe(400)
    for (let n = 0; n < 10; n += 1) {
      const webhook = await ask(door, { 'x-forwarded-for': '198.51.100.1' }, 'POST', '/webhooks/stripe')
      expect(webhook.status).toBe(400)
    }
  })

  it('do not believe a forwarding header where no proxy is trusted', async () => {
    const door = await system.another('bff', { ...behindProxy, TRUST_PROXY: 'false' })
    const statuses = []
    for (let n = 0; n < 4; n += 1) statuses.push((await ask(door, { 'x-forwarded-for': `203.0.113.${n}` })).status)
    expect(statuses).toEqual([400, 400, 400, 429])
  })
})

describe('the evidence of a waiver', () => {
  it('holds the address of the peer, not the one that a header claims', async () => {
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
