import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { codeIssued } from '@robokids/contracts/identity'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleFamily, sampleMember } from '@robokids/test/samples'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { StubService } from '../bff/test/fixture.ts'
import { identity } from '../services/identity/src/app.ts'
import { Browser } from './src/browser.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const { password } = sampleMember('')
const newPassword = `${password}-new`

let bed: TestBed
let bffUrl: string
/** Another BFF, with another identity on the same database. */
let otherBffUrl: string
/** Ends an account's sign-ins directly at identity, by the token in a browser's cookie. */
let endSessionsOf: (visitor: Visitor) => Promise<void>
let moveClocks: (by: Temporal.DurationLike) => void
/** Identity as the first BFF reaches it: the calls that it received, and whether it answers. */
let identityStub: StubService
let isIdentityDown = false
let calls: string[] = []
/** The other services, and the requests that they received. */
let services: StubService
let asked: { path: string; body: Record<string, unknown> }[] = []

beforeAll(async () => {
  bed = await testBed()
  const identitySettings = {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
  }
  const real = await bed.start(identity, identitySettings)
  const otherIdentity = await bed.start(identity, { ...identitySettings, DATABASE_URL: real.databaseUrl })
  identityStub = await StubService.start()
  identityStub.answer((request, response) => {
    void (async () => {
      const body = await text(request)
      const { 'x-amz-target': target, 'content-type': type } = request.headers
      const operation = String(target).split('.')[1] ?? ''
      calls.push(operation)
      if (isIdentityDown) return response.writeHead(503).end()
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
  const first = await bed.start(bff, { ...settings, IDENTITY_URL: identityStub.url })
  const second = await bed.start(bff, { ...settings, IDENTITY_URL: otherIdentity.url })
  bffUrl = first.url
  otherBffUrl = second.url
  endSessionsOf = async ({ cookies }) => {
    const content = sealer.open(cookies.get('robokids-session') ?? '', 'robokids-session')?.toString() ?? '{}'
    const { accessToken } = JSON.parse(content) as { accessToken: string }
    const answer = await fetch(real.url, {
      method: 'POST',
      headers: {
        'x-amz-target': 'AWSCognitoIdentityProviderService.GlobalSignOut',
        'content-type': 'application/x-amz-json-1.1',
      },
      body: JSON.stringify({ AccessToken: accessToken }),
    })
    if (!answer.ok) throw new Error(`GlobalSignOut was answered ${answer.status}: ${await answer.text()}`)
  }
  moveClocks = (by) => {
    for (const { context } of [real, otherIdentity, first, second]) context.clock.advance(by)
  }
})
afterAll(async () => {
  await bed.stop()
  await identityStub.stop()
  await services.stop()
})
beforeEach(() => {
  calls = []
  asked = []
})
afterEach(() => {
  isIdentityDown = false
})

const sealer = sealingKeysSchema.parse(localSealingKeys)

/** A signed-in browser. */
class Visitor extends Browser {
  constructor() {
    super(site, bffUrl)
  }

  copy = () => this.copyTo(new Visitor())

  /** Sends a request without proof of work. */
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
  const sentCodes = () => bed.bus.all(codeIssued, (data) => data.destination === email)
  const { data } = await eventually(() => sentCodes().at(-1))
  const code = sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString()
  expect((await visitor.post('/api/auth/confirm-sign-up', { email, code })).body).toEqual({ signedIn: true })
  const { user } = (await visitor.get('/api/auth/session')).body as { user: { userId: string } }
  return { visitor, email, userId: user.userId }
}

/** Each way in which a session ends for a browser that still has its cookie. */
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
  /** The services' paths that are given the owner. */
  upstream?: RegExp
  /** Whether a signed-in user needs no proof of work. */
  isSpared?: boolean
  /** The purchase that only its account may replace. */
  replaces?: boolean
  /** Whether it is rejected, rather than done anonymously, when the session has ended. */
  needsItsAccount?: boolean
}
const reference = randomUUIDv7()
const replaces = randomUUIDv7()
const waiver = { guardianName: 'Maren Holt', childName: 'Ada', childAge: 9, classType: 'membership', startDate: '' }

/** Every route that asks for the owner of a request. */
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

/** The owner that a service was sent: the account, or null or undefined for an anonymous request. */
function ownerSentTo({ path, body }: { path: string; body: Record<string, unknown> }): unknown {
  return new URL(path, site).searchParams.get('ownerId') ?? body['ownerId'] ?? null
}

/** Sends the request from this browser, with a proof of work if one is required. */
async function use(visitor: Visitor, { method, path, body, upstream = /./ }: Route) {
  asked = []
  const bare = await visitor.copy().bare(method, path, body)
  const wasAsked = bare.body['code'] === 'proof_required'
  const status = wasAsked ? (await visitor.copy().ask(method, path, body)).status : bare.status
  const serviceCalls = asked.filter((one) => upstream.test(one.path))
  return {
    wasAsked,
    status,
    owners: serviceCalls.map(ownerSentTo),
    replaced: serviceCalls.map((one) => one.body['replaces']),
  }
}

it('A session that was ended where no BFF saw it counts as anonymous within a minute', async () => {
  const { visitor } = await member()
  const challenge = async () => (await visitor.copy().get('/api/proof?form=order')).body['challenge']
  expect(await challenge()).toBeNull()
  await endSessionsOf(visitor)
  expect(await challenge()).toBeNull()
  moveClocks({ seconds: 61 })
  expect(await challenge()).not.toBeNull()
})

it('A sign-in that was begun at one BFF is completed at another one, whose session counts at both', async () => {
  const { email } = await member()
  const visitor = new Visitor()
  const begun = await visitor.post('/api/auth/sign-in', { email, preferred: 'EMAIL_OTP' })
  expect(begun.body['step']).toBe('CONFIRM_SIGN_IN_WITH_EMAIL_CODE')
  const { data } = await eventually(() => bed.bus.all(codeIssued, (code) => code.destination === email)[1])
  visitor.bffUrl = otherBffUrl
  const answer = sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString()
  expect((await visitor.post('/api/auth/sign-in/answer', { answer })).body).toEqual({ step: 'DONE' })
  for (const url of [bffUrl, otherBffUrl]) {
    visitor.bffUrl = url
    expect((await visitor.get('/api/profile')).status).toBe(200)
  }
})

it('A page of an account that has been signed out cannot buy a membership', async () => {
  const { visitor, userId } = await member()
  const [, route] = routes.find(([name]) => name.endsWith('createStripeSession')) ?? []
  await visitor.post('/api/auth/sign-out', {})
  // Its response has cleared the cookie, like that of a request for a proof before the form is sent again.
  visitor.userId = userId
  asked = []
  const refused = await visitor.post(route?.path ?? '', route?.body)
  expect([refused.status, refused.body['code']]).toEqual([401, 'sign_in_required'])
  expect(asked).toEqual([])
})

describe.each(ends)('A session that %s', (_how, end) => {
  it.each(routes)(
    'An ended session counts as anonymous for %s, at once if it was ended at the same BFF',
    async (_name, route) => {
      const { visitor, email, userId } = await member()
      const alive = await use(visitor, route)
      expect(alive.wasAsked).toBe(false)
      if (route.upstream) expect(alive.owners).toEqual([userId])
      expect((await end(visitor, email)).status).toBe(200)
      const over = await use(visitor, route)
      expect(over.wasAsked).toBe(route.isSpared === true)
      if (route.upstream) expect(over.owners).toEqual(route.needsItsAccount ? [] : [null])
      // For what needs an account, the error is the usual one.
      expect((await visitor.copy().get('/api/profile')).status).toBe(401)
      expect((await visitor.copy().get('/api/membership')).status).toBe(401)
    },
  )

  it('An ended session needs a proof of work like an anonymous browser, and its cookie is cleared', async () => {
    const { visitor, email } = await member()
    const challenge = async () => (await visitor.get('/api/proof?form=order')).body
    expect(proofChallengeSchema.parse(await challenge()).challenge).toBeNull()
    await end(visitor, email)
    expect(proofChallengeSchema.parse(await challenge()).challenge).not.toBeNull()
    expect(visitor.cookies.has('robokids-session')).toBe(false)
  })

  it('An ended session counts as anonymous at once if it was ended at another BFF', async () => {
    const { visitor, email } = await member()
    const challenge = async () => (await visitor.copy().get('/api/proof?form=order')).body['challenge']
    expect(await challenge()).toBeNull()
    const elsewhere = visitor.copy()
    elsewhere.bffUrl = otherBffUrl
    await end(elsewhere, email)
    await eventually(async () => (await challenge()) !== null)
    expect((await visitor.copy().get('/api/profile')).status).toBe(401)
  })
})

describe('The owner of a request', () => {
  it('A session is checked with identity once per minute, however many requests it makes', async () => {
    const { visitor } = await member()
    calls = []
    for (const [, route] of [...routes, ...routes]) await visitor.bare(route.method, route.path, route.body)
    expect(calls).toEqual(['GetUser'])
    moveClocks({ seconds: 61 })
    await Promise.all(routes.map(([, route]) => visitor.bare(route.method, route.path, route.body)))
    expect(calls).toEqual(['GetUser', 'GetUser'])
  })

  it('An ended session is cached for the same time', async () => {
    const { visitor, email } = await member()
    const [, [, signOutEverywhere]] = ends as [(typeof ends)[0], (typeof ends)[0]]
    await signOutEverywhere(visitor, email)
    calls = []
    for (const [, route] of routes) await visitor.copy().bare(route.method, route.path, route.body)
    expect(calls).toEqual(['GetUser'])
  })

  it('A request without a session causes no call to identity', async () => {
    for (const [, route] of routes) await new Visitor().post(route.path, route.body)
    expect(calls).toEqual([])
  })

  it.each(routes.filter(([, { upstream }]) => upstream))(
    'The owner is not taken from a cookie while identity is down, except to pay, for %s',
    async (_name, route) => {
      const { visitor, userId } = await member()
      isIdentityDown = true
      const { wasAsked, status, owners, replaced } = await use(visitor, route)
      expect(wasAsked).toBe(route.isSpared === true)
      if (route.path === '/api/waivers') expect({ status, owners }).toEqual({ status: 503, owners: [] })
      else expect(owners).toEqual([route.isSpared ? userId : null])
      expect(replaced.every((one) => one === undefined)).toBe(true)
    },
  )

  it.each(routes.filter(([, { replaces: may }]) => may))(
    'The owner is checked with identity before a purchase is replaced by %s',
    async (_n, route) => {
      const { visitor } = await member()
      expect((await use(visitor, route)).replaced).toEqual([replaces])
    },
  )

  it('The owner is not taken from a cookie whose renewal was rejected, even if identity is down a moment later', async () => {
    const { visitor, userId } = await member()
    const [, order] = routes.find(([, { path }]) => path === '/api/checkout') ?? []
    if (!order) throw new Error('there is no such route')
    moveClocks({ hours: 2 })
    isIdentityDown = true
    expect((await use(visitor, order)).owners).toEqual([userId])
    isIdentityDown = false
    await visitor.copy().post('/api/auth/sign-out', {})
    expect((await use(visitor, order)).owners).toEqual([null])
    isIdentityDown = true
    expect((await use(visitor, order)).owners).toEqual([null])
  })
})
