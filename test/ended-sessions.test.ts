import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { codeIssued } from '@robokids/contracts/identity'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleFamily, sampleMember } from '@robokids/test/samples'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { StubService } from '../bff/test/front.ts'
import { identity } from '../services/identity/src/app.ts'
import { Browser } from './src/browser.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const { password } = sampleMember('')
const newPassword = `${password}-new`

let bed: TestBed
let door: string
/** Another BFF, which tells the first one nothing. */
let otherDoor: string
let moveClocks: (by: Temporal.DurationLike) => void
/** Identity as the first BFF reaches it: what it was asked, and whether it answers. */
let desk: StubService
let isDeskAway = false
let calls: string[] = []
/** The other services: what they were asked. */
let services: StubService
let asked: { path: string; body: Record<string, unknown> }[] = []

beforeAll(async () => {
  bed = await testBed()
  const real = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
  })
  desk = await StubService.start()
  desk.answer((request, response) => {
    void (async () => {
      const body = await text(request)
      const { 'x-amz-target': target, 'content-type': type } = request.headers
      const operation = String(target).split('.')[1] ?? ''
      calls.push(operation)
      if (isDeskAway) return response.writeHead(503).end()
      const headers = { 'x-amz-target': String(target), 'content-type': String(type) }
      const init = request.method === 'POST' ? { method: 'POST', headers, body } : {}
      const answer = await fetch(real.url + String(request.url), init)
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      return response.end(await answer.text())
    })()
  })
  services = await StubService.start()
  services.answer((request, response) => {
    void (async () => {
      const path = request.url ?? ''
      const body = JSON.parse((await text(request)) || '{}') as Record<string, unknown>
      if (path !== '/unpaid-seats') asked.push({ path, body })
      const hold = { classDate: '2031-01-04', heldUntil: '2031-01-01T00:00:00.000Z' }
      const products = [{ sku: 'product:ai-teddy-bear', name: 'Bear', state: 'sold_out', price: null }]
      const known: Record<string, object> = { '/member-seats': hold, '/products': { products } }
      const refusal = { code: 'registration_closed', message: 'Closed.', requestId: 'stub' }
      response.writeHead(known[path] ? 200 : 409, { 'content-type': 'application/json' })
      response.end(JSON.stringify(known[path] ?? refusal))
    })()
  })
  const settings = {
    SITE_URL: site,
    IDENTITY_ISSUER_URL: real.context.config.ISSUER_URL,
    ...bffKeys,
    PROOF_DERIVATIONS: '2',
    ENROLLMENT_URL: services.url,
    BILLING_URL: services.url,
    NOTIFICATIONS_URL: services.url,
  }
  const first = await bed.start(bff, { ...settings, IDENTITY_URL: desk.url })
  const second = await bed.start(bff, { ...settings, IDENTITY_URL: real.url })
  door = first.url
  otherDoor = second.url
  moveClocks = (by) => {
    for (const { context } of [real, first, second]) context.clock.advance(by)
  }
})
afterAll(async () => {
  await bed.stop()
  await desk.stop()
  await services.stop()
})
beforeEach(() => {
  calls = []
  asked = []
})
afterEach(() => {
  isDeskAway = false
})

const sealer = sealingKeysSchema.parse(localSealingKeys)

/** A browser in which somebody is signed in. */
class Visitor extends Browser {
  constructor() {
    super(site, door)
  }

  copy = () => this.copyTo(new Visitor())

  /** Without any proof of work. */
  async bare(method: string, path: string, body?: object) {
    const answer = await fetch(this.bffUrl + path, {
      method,
      headers: {
        'x-api-key': 'robokids-web',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
}

async function member() {
  const visitor = new Visitor()
  const email = `maren.${randomUUID()}@example.com`
  await visitor.post('/api/auth/sign-up', sampleMember(email))
  const mine = () => bed.bus.all(codeIssued, (data) => data.destination === email)
  const { data } = await eventually(() => mine().at(-1))
  const code = sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString()
  expect((await visitor.post('/api/auth/confirm-sign-up', { email, code })).body).toEqual({ signedIn: true })
  const { user } = (await visitor.get('/api/auth/session')).body as { user: { userId: string } }
  return { visitor, email, userId: user.userId }
}

/** Each way in which a session ends for a browser that has kept its cookie. */
const ends: [string, (own: Visitor, email: string) => Promise<{ status: number }>][] = [
  ['was signed out', (own) => own.copy().post('/api/auth/sign-out', {})],
  ['was signed out everywhere', (own) => own.copy().post('/api/auth/sign-out', { everywhere: true })],
  ['has lost its account', (own) => own.copy().ask('DELETE', '/api/profile', { password })],
  [
    'was ended by a new password in another browser',
    async (own, email) => {
      const other = new Visitor()
      other.bffUrl = own.bffUrl
      expect((await other.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
      const passwords = { previousPassword: password, proposedPassword: newPassword }
      return other.post('/api/auth/change-password', passwords)
    },
  ],
]

interface Route {
  method: 'GET' | 'POST'
  path: string
  body?: object
  /** Where it is asked of a service whose it is. */
  upstream?: RegExp
  /** Whether somebody who is signed in needs no proof of work. */
  isSpared?: boolean
  /** What an account alone may have done with it. */
  replaces?: boolean
  /** Whether it is refused, rather than done for nobody, where whoever was signed in is not any more. */
  needsItsAccount?: boolean
}
const reference = randomUUIDv7()
const replaces = randomUUIDv7()
const waiver = { guardianName: 'Maren Holt', childName: 'Ada', childAge: 9, classType: 'membership', startDate: '' }

/** Every route that asks whose a request is. */
const routes: [string, Route][] = (
  [
    {
      method: 'POST',
      path: '/api/registrations',
      body: { ...sampleFamily(), classType: 'basic', startDate: '2031-01-04', replaces },
      upstream: /^\/registrations(\/judge)?$/,
      isSpared: true,
      replaces: true,
    },
    {
      method: 'POST',
      path: '/api/checkout',
      body: { orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }], replaces },
      upstream: /^\/orders$/,
      isSpared: true,
      replaces: true,
    },
    {
      method: 'POST',
      path: '/api/createStripeSession',
      body: { email: 'maren@example.com', plan: 'monthly', classDate: '2031-01-04' },
      upstream: /^\/membership-checkouts$/,
      isSpared: true,
      needsItsAccount: true,
    },
    { method: 'POST', path: `/api/registrations/${reference}/checkout`, body: {}, isSpared: true },
    {
      method: 'POST',
      path: '/api/waivers',
      body: { ...waiver, registrationId: reference, replaces },
      upstream: /^\/waivers$/,
    },
    { method: 'GET', path: `/api/member-seats/${reference}`, upstream: /^\/member-seats\// },
  ] satisfies Route[]
).map((route) => [`${route.method} ${route.path}`, route])

/** Whose the services were told that it is: the account, null or nothing for nobody. */
function toldOwner({ path, body }: { path: string; body: Record<string, unknown> }): unknown {
  return new URL(path, site).searchParams.get('ownerId') ?? body['ownerId'] ?? null
}

/** Does it as this browser, with a proof where one is asked for. */
async function use(visitor: Visitor, { method, path, body, upstream = /./ }: Route) {
  asked = []
  const bare = await visitor.copy().bare(method, path, body)
  const wasAsked = bare.body['code'] === 'proof_required'
  const status = wasAsked ? (await visitor.copy().ask(method, path, body)).status : bare.status
  const told = asked.filter((one) => upstream.test(one.path))
  return { wasAsked, status, owners: told.map(toldOwner), replaced: told.map((one) => one.body['replaces']) }
}

it('No membership is sold from the page of an account that has been signed out meanwhile', async () => {
  const { visitor, userId } = await member()
  const [, route] = routes.find(([name]) => name.endsWith('createStripeSession')) ?? []
  await visitor.post('/api/auth/sign-out', {})
  // Its answer has cleared the cookie, as that of a request for a proof does before the form is sent again.
  visitor.userId = userId
  asked = []
  const refused = await visitor.post(route?.path ?? '', route?.body)
  expect([refused.status, refused.body['code']]).toEqual([401, 'sign_in_required'])
  expect(asked).toEqual([])
})

describe.each(ends)('a session that %s', (_how, end) => {
  it.each(routes)('is nobody’s for %s, at once where it was ended', async (_name, route) => {
    const { visitor, email, userId } = await member()
    const alive = await use(visitor, route)
    expect(alive.wasAsked).toBe(false)
    if (route.upstream) expect(alive.owners).toEqual([userId])
    expect((await end(visitor, email)).status).toBe(200)
    const over = await use(visitor, route)
    expect(over.wasAsked).toBe(route.isSpared === true)
    if (route.upstream) expect(over.owners).toEqual(route.needsItsAccount ? [] : [null])
    // What it would need an account for, it is told as ever.
    expect((await visitor.copy().get('/api/profile')).status).toBe(401)
    expect((await visitor.copy().get('/api/membership')).status).toBe(401)
  })

  it('is asked for a proof like a stranger, and its cookie is taken back', async () => {
    const { visitor, email } = await member()
    const challenge = async () => (await visitor.get('/api/proof?form=order')).body
    expect(proofChallengeSchema.parse(await challenge()).challenge).toBeNull()
    await end(visitor, email)
    expect(proofChallengeSchema.parse(await challenge()).challenge).not.toBeNull()
    expect(visitor.cookies.has('robokids-session')).toBe(false)
  })

  it('is nobody’s within a minute where it was ended at another BFF', async () => {
    const { visitor, email } = await member()
    const challenge = async () => (await visitor.copy().get('/api/proof?form=order')).body['challenge']
    expect(await challenge()).toBeNull()
    const elsewhere = visitor.copy()
    elsewhere.bffUrl = otherDoor
    await end(elsewhere, email)
    moveClocks({ seconds: 61 })
    expect(await challenge()).not.toBeNull()
  })
})

describe('whose a request is', () => {
  it('is asked of identity once a minute, however much a session does', async () => {
    const { visitor } = await member()
    calls = []
    for (const [, route] of [...routes, ...routes]) await visitor.bare(route.method, route.path, route.body)
    expect(calls).toEqual(['GetUser'])
    moveClocks({ seconds: 61 })
    await Promise.all(routes.map(([, route]) => visitor.bare(route.method, route.path, route.body)))
    expect(calls).toEqual(['GetUser', 'GetUser'])
  })

  it('is remembered as long where it is nobody’s any more', async () => {
    const { visitor, email } = await member()
    const [, [, signOutEverywhere]] = ends as [(typeof ends)[0], (typeof ends)[0]]
    await signOutEverywhere(visitor, email)
    calls = []
    for (const [, route] of routes) await visitor.copy().bare(route.method, route.path, route.body)
    expect(calls).toEqual(['GetUser'])
  })

  it('is not asked of identity for who is not signed in', async () => {
    for (const [, route] of routes) await new Visitor().post(route.path, route.body)
    expect(calls).toEqual([])
  })

  it.each(routes.filter(([, { upstream }]) => upstream))(
    'is not taken from a cookie while identity is away, but to pay, for %s',
    async (_name, route) => {
      const { visitor, userId } = await member()
      isDeskAway = true
      const { wasAsked, status, owners, replaced } = await use(visitor, route)
      expect(wasAsked).toBe(route.isSpared === true)
      if (route.path === '/api/waivers') expect({ status, owners }).toEqual({ status: 503, owners: [] })
      else expect(owners).toEqual([route.isSpared ? userId : null])
      expect(replaced.every((one) => one === undefined)).toBe(true)
    },
  )

  it.each(routes.filter(([, { replaces: may }]) => may))(
    'is confirmed before something gives way to %s',
    async (_n, route) => {
      const { visitor } = await member()
      expect((await use(visitor, route)).replaced).toEqual([replaces])
    },
  )

  it('is not taken from a cookie whose renewal was refused, also where identity is away a moment later', async () => {
    const { visitor, userId } = await member()
    const [, order] = routes.find(([, { path }]) => path === '/api/checkout') ?? []
    if (!order) throw new Error('there is no such route')
    moveClocks({ hours: 2 })
    isDeskAway = true
    expect((await use(visitor, order)).owners).toEqual([userId])
    isDeskAway = false
    await visitor.copy().post('/api/auth/sign-out', {})
    expect((await use(visitor, order)).owners).toEqual([null])
    isDeskAway = true
    expect((await use(visitor, order)).owners).toEqual([null])
  })
})
