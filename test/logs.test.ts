import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSystem, type System } from './src/system.ts'
import { eventually } from './src/bed.ts'

let system: System
beforeAll(async () => {
  system = await startSystem({
    all: { LOG_LEVEL: 'debug', UPSTREAM_TIMEOUT_MS: '2000', STRIPE_TIMEOUT_MS: '500' },
    identity: {},
  })
})
afterAll(() => system.stop())

/** Personal data that appears in no other text by chance. */
const family = {
  guardianName: 'Quillon Vantreeck',
  childName: 'Zebedine',
  email: `quillon.${randomUUIDv7()}@vantreeck.example.com`,
  addressLine1: '77 Whortleberry Court',
  city: 'Ypsilantium',
}

/** The lines of all processes so far. */
const lines = () =>
  Object.values(system.processes)
    .flatMap((one) => one.output().split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('The logs of requests', () => {
  it('A request is a line in each process it comes through, with one trace, and without anything it holds', async () => {
    const secrets = {
      email: `zenobia.${randomUUIDv7()}@vantreeck.example.com`,
      given_name: 'Zenobia',
      family_name: 'Vantreeck',
      phone_number: '+12025550143',
      password: 'Quagmire-4417!',
      birthdate: '1984-02-29',
      street: '77 Whortleberry Court',
      city: 'Ypsilantium',
      // Longer than any, so that no number in a line is like it by chance.
      code: '918273645546',
      token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6ZW5vYmlhIn0.c2lnbmF0dXJl',
      cookie: 'Xylographica',
    }
    const { code, token, cookie, ...account } = secrets
    const signedUp = await system.post('/api/auth/sign-up', { ...account, state: 'MI', zip: '48197' })
    expect(signedUp.status).toBe(200)
    await system.post('/api/auth/confirm-sign-up', { email: account.email, code })
    await system.post('/api/auth/sign-in', { email: account.email, password: `${account.password}x` })
    const query = new URLSearchParams({ code, token, email: account.email, phone: account.phone_number })
    const headers = {
      authorization: `Bearer ${token}`,
      cookie: `session=${cookie}`,
      'user-agent': 'Quillfeather/7',
      'x-request-id': 'a-request-of-this-test',
    }
    await fetch(`${system.siteUrl}/api/classes?${query}`, { headers })
    await fetch(`${system.siteUrl}/no/such/${account.given_name}?${query}`, { headers })

    const [request] = await eventually(() => {
      const found = lines().filter(({ msg, route }) => msg === 'request' && route === '/api/auth/sign-up')
      return found.length > 0 && found
    })
    expect(request).toMatchObject({
      service: 'bff',
      method: 'POST',
      ms: expect.any(Number),
      status: expect.any(Number),
      requestId: expect.any(String),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    const signUps = lines().filter(
      ({ msg, route, status }) => msg === 'request' && route === '/api/auth/sign-up' && status === 200,
    )
    const traced = lines().filter(({ traceId }) => traceId === signUps[0]?.['traceId'])
    expect(new Set(traced.map(({ service }) => service))).toEqual(new Set(['bff', 'identity']))
    expect(new Set(traced.map(({ requestId }) => requestId)).size).toBe(1)
    await eventually(() =>
      lines().some(({ requestId, msg }) => requestId === headers['x-request-id'] && msg === 'request'),
    )
    expect(lines().filter(({ route }) => route === '/healthz' || route === '/readyz')).toEqual([])

    const printed = Object.values(system.processes).flatMap((one) => one.output().toLowerCase().split('\n'))
    for (const secret of [
      ...Object.values(secrets),
      encodeURIComponent(account.email),
      headers['user-agent'],
      '2025550143',
    ])
      expect(printed.filter((line) => line.includes(secret.toLowerCase()))).toEqual([])
  })
})

describe('The logs of a registration that fails at each service in turn', () => {
  it('Logs contain neither the family’s data nor the references that open its pages', async () => {
    const { processes } = system
    const references: string[] = []
    const register = async (differences = {}) => {
      const id = randomUUIDv7()
      references.push(id)
      const startDate = (await system.openDates().catch(() => []))[0]?.date ?? date
      const body = {
        classType: 'basic' as const,
        startDate,
        childAge: 9,
        state: 'MI',
        zipCode: '48197',
        ...family,
        id,
        ...differences,
      }
      return system.post('/api/registrations', body)
    }
    const everyPage = async (reference: string) => {
      for (const path of ['', '/events', '?returned=true'])
        await fetch(`${system.siteUrl}/api/registrations/${reference}${path}`, {
          signal: AbortSignal.timeout(3_000),
        }).then(
          (answer) => answer.body?.cancel(),
          () => {},
        )
      await system.post(`/api/registrations/${reference}/checkout`, {})
      await system.post('/api/waivers', { ...family, registrationId: reference, startDate: date, classType: 'basic' })
      await fetch(`${system.siteUrl}/api/orders/${reference}`)
      await fetch(`${system.siteUrl}/api/member-seats/${reference}`)
    }
    const date = (await system.openDates())[0]?.date ?? ''
    const good = await register()
    expect(good.status).toBe(200)
    const { registrationId: first, checkoutUrl } = good.body as { registrationId: string; checkoutUrl: string }

    // The provider fails, then billing is down, then mails cannot be sent, then enrollment is down, then its database.
    const faults = (body: object) =>
      fetch(`${system.simulator.url}/_sim/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await faults({ kind: 'error', status: 500, times: 50 })
    const refused = await register({ email: `other.${family.email}` })
    expect(refused.status).toBe(503)
    await everyPage(references.at(-1) ?? '')
    await fetch(`${system.simulator.url}/_sim/faults`, { method: 'DELETE' })
    await processes.billing.kill()
    expect((await register({ email: `third.${family.email}` })).status).toBe(503)
    await everyPage(first)
    await processes.billing.start()
    await system.pay(checkoutUrl)
    await system.reaches(first, 'confirmed')
    await processes.enrollment.kill()
    expect((await register()).status).toBe(503)
    await everyPage(first)
    await processes.enrollment.start()
    await processes.notifications.kill()
    await system.post('/api/waivers', { ...family, registrationId: first, startDate: date, classType: 'basic' })
    await processes.notifications.start()
    await everyPage(first)
    for (const wrong of ['x', { a: family.email }, [family.guardianName]])
      await system.post('/api/registrations', { ...family, siblings: wrong })
    await eventually(async () => (await system.mailsTo(family.email)).length > 0)

    const printed = Object.values(processes)
      .map((one) => one.output())
      .join('')
    expect(printed).toContain('request failed')
    for (const words of [...Object.values(family), ...references])
      expect(printed.split('\n').filter((line) => line.toLowerCase().includes(words.toLowerCase()))).toEqual([])
  })
})
