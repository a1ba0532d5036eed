import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { challengeSchema, proofChallengeSchema, type Challenge, type ProofForm } from '@robokids/contracts/proof'
import { prove } from '@robokids/local/prove'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleFamily } from '@robokids/test/samples'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startBff, StubService } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterEach(() => {
  vi.useRealTimers()
})
afterAll(() => bed.stop())

const email = 'maren@example.com'
const birthdate = '1984-02-03'
const person = { given_name: 'Maren', family_name: 'Holt', birthdate, phone_number: '6505550100' }
const place = { street: '14 Alder Way', city: 'San Mateo', state: 'CA', zip: '94401' }

/** The forms that take a seat, create a payment page or send a mail. */
const forms: [ProofForm, string, object][] = [
  ['registration', '/api/registrations', { ...sampleFamily(), classType: 'basic', startDate: '2030-01-04' }],
  ['payment', `/api/registrations/${randomUUIDv7()}/checkout`, {}],
  ['membership', '/api/createStripeSession', { email, plan: 'monthly', classDate: '2030-01-04' }],
  ['order', '/api/checkout', { orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] }],
  ['sign-up', '/api/auth/sign-up', { email, password: 'Correct-horse-7', ...person, ...place }],
  ['code', '/api/auth/resend-code', { email }],
  ['password', '/api/auth/forgot-password', { email }],
  ['sign-in', '/api/auth/sign-in', { email }],
  ['notice', '/api/shop/notices', { email, sku: 'product:ai-teddy-bear' }],
  ['contact', '/api/contact', { id: randomUUIDv7(), name: 'Maren', email, topic: 'kit', message: 'Where is it?' }],
]

interface Seats {
  held: number
  left: number
}

/** Starts a BFF with services that record and reject all requests. */
async function startFixture(settings: Record<string, string> = {}, seats: Seats = { held: 0, left: 10 }) {
  const requests: string[] = []
  const service = await StubService.start()
  onTestFinished(() => service.stop())
  service.answer((request, response) => {
    const path = request.url ?? ''
    const isSeatCount = path === '/unpaid-seats'
    if (!isSeatCount) requests.push(path)
    response.writeHead(isSeatCount ? 200 : 409, { 'content-type': 'application/json' })
    const sessions = ['basic', 'membership'].map((classType) => ({ classType, ...seats }))
    const refusal = { code: 'registration_closed', message: 'Closed.', requestId: 'stub' }
    response.end(JSON.stringify(isSeatCount ? { sessions } : refusal))
  })
  const urls = { ENROLLMENT_URL: service.url, BILLING_URL: service.url, NOTIFICATIONS_URL: service.url }
  const { url } = await startBff(bed, { ...urls, IDENTITY_URL: service.url, TRUST_PROXY: 'loopback', ...settings })
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', ...headers },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const challengeFor = async (form: ProofForm, headers: Record<string, string> = {}): Promise<Challenge | null> => {
    const answer = await fetch(`${url}/api/proof?form=${form}`, { headers })
    return proofChallengeSchema.parse(await answer.json()).challenge
  }
  return { requests, post, challengeFor }
}

const isRejected = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  status === 403 && body['code'] === 'proof_required'

const proofOf = async (challenge: Challenge | null) => prove(challengeSchema.parse(challenge))

function sessionCookie(): string {
  const now = Date.now()
  const session = { accessToken: 'a.b.c', refreshToken: 'x', userId: randomUUID(), username: 'user', email: '' }
  const content = JSON.stringify({ ...session, since: now, until: now + 3_600_000 })
  return `robokids-session=${sealingKeysSchema.parse(localSealingKeys).seal(content, 'robokids-session')}`
}

describe.each(forms)('a proof of work for %s', (form, path, body) => {
  it('is required with a challenge, and its solution is accepted once', async () => {
    const { post, requests } = await startFixture()
    const refused = await post(path, body)
    expect(refused).toMatchObject({ status: 403, body: { code: 'proof_required' } })
    expect(requests).toEqual([])
    const challenge = challengeSchema.parse(refused.body['challenge'])
    expect(challenge.parameters.data.form).toBe(form)
    const proof = await prove(challenge)
    expect(isRejected(await post(path, body, proof))).toBe(false)
    expect(requests.length).toBeGreaterThan(0)
    const again = await post(path, body, proof)
    expect(isRejected(again)).toBe(true)
    expect(challengeSchema.parse(again.body['challenge']).signature).not.toBe(challenge.signature)
  })

  it('can be solved in advance, and is not accepted for another form', async () => {
    const { post, challengeFor } = await startFixture()
    const proof = await proofOf(await challengeFor(form))
    for (const [other, otherPath, otherBody] of forms) {
      if (other !== form) expect(isRejected(await post(otherPath, otherBody, proof))).toBe(true)
    }
    expect(isRejected(await post(path, body, proof))).toBe(false)
  })
})

describe('a proof of work', () => {
  const [[, path, body]] = forms as [(typeof forms)[0], ...typeof forms]

  it('is not required of a request that fails validation', async () => {
    const { post } = await startFixture()
    expect(await post(path, { ...body, zipCode: '1' })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', issues: [{ path: 'zipCode' }] },
    })
  })

  it('is required if the session is forged or identity is unavailable', async () => {
    const { post, challengeFor } = await startFixture()
    for (const cookie of [sessionCookie(), 'robokids-session=forged']) {
      expect(await challengeFor('registration', { cookie })).not.toBeNull()
      expect(isRejected(await post(path, body, { cookie }))).toBe(true)
    }
  })

  it('is not required of a sign-in with a password, which sends no mail', async () => {
    const { post } = await startFixture()
    expect(isRejected(await post('/api/auth/sign-in', { email, password: 'wrong' }))).toBe(false)
  })

  it('is valid for twenty minutes', async () => {
    const { post, challengeFor } = await startFixture()
    const [late, inTime] = [
      await proofOf(await challengeFor('registration')),
      await proofOf(await challengeFor('registration')),
    ]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 19 * 60_000 })
    expect(isRejected(await post(path, body, inTime))).toBe(false)
    vi.setSystemTime(Date.now() + 2 * 60_000)
    const refused = await post(path, body, late)
    expect(isRejected(refused)).toBe(true)
    expect(isRejected(await post(path, body, await proofOf(refused.body['challenge'] as Challenge)))).toBe(false)
  })

  it('is rejected if it is wrong, made up, made easier or signed by somebody else', async () => {
    const { post, challengeFor } = await startFixture()
    const challenge = challengeSchema.parse(await challengeFor('registration'))
    const header = (content: unknown) => ({ 'x-proof': Buffer.from(JSON.stringify(content)).toString('base64') })
    const { 'x-proof': good = '' } = await prove(challenge)
    const { solution } = JSON.parse(Buffer.from(good, 'base64').toString()) as { solution: { derivedKey: string } }
    const { parameters, signature } = challenge
    const flipped = solution.derivedKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const bad = [
      header({ challenge, solution: { ...solution, derivedKey: flipped } }),
      header({ challenge, solution: { counter: 1, derivedKey: '' } }),
      header({ challenge: { signature, parameters: { ...parameters, cost: 1 } }, solution }),
      header({
        challenge: { signature, parameters: { ...parameters, expiresAt: parameters.expiresAt + 1 } },
        solution,
      }),
      header({ challenge: { ...challenge, signature: '00' }, solution }),
      header({ challenge }),
      header(null),
      { 'x-proof': 'no base64 of ours' },
      { 'x-proof': '' },
    ]
    for (const headers of bad) expect(isRejected(await post(path, body, headers))).toBe(true)
    const foreign = await startFixture({ PROOF_SECRET: 'the-secret-of-somebody-else' })
    expect(isRejected(await post(path, body, await proofOf(await foreign.challengeFor('registration'))))).toBe(true)
    expect(isRejected(await post(path, body, { 'x-proof': good }))).toBe(false)
  })

  it('is accepted once under concurrent requests', async () => {
    const { post, challengeFor } = await startFixture()
    const proof = await proofOf(await challengeFor('registration'))
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(path, body, proof)))
    expect(answers.filter(isRejected)).toHaveLength(7)
  })

  it('is accepted by another BFF with the same secret, and then by no other one again', async () => {
    const [one, other] = [await startFixture(), await startFixture()]
    const proof = await proofOf(await other.challengeFor('registration'))
    expect(isRejected(await one.post(path, body, proof))).toBe(false)
    expect(isRejected(await other.post(path, body, proof))).toBe(true)
    const next = await proofOf(await one.challengeFor('registration'))
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? one : other).post(path, body, next)))
    expect(answers.filter(isRejected)).toHaveLength(7)
  })
})

describe('the difficulty of a challenge', () => {
  const levelOf = (challenge: Challenge | null) => challengeSchema.parse(challenge).parameters.data.level

  it('rises for a network with many requests, and for its block, but not for others', async () => {
    const { challengeFor } = await startFixture({ RATE_LIMIT_READS: '100000' })
    const from = (address: string) => challengeFor('notice', { 'x-forwarded-for': address })
    const levels: number[] = []
    for (let nth = 0; nth < 90; nth += 1) levels.push(levelOf(await from('198.51.100.1')))
    expect([levels[0], levels[19], levels[20], levels[79], levels[80]]).toEqual([0, 0, 1, 1, 2])
    // Somebody else in the same block, with their own address.
    expect(levelOf(await from('198.51.100.2'))).toBe(1)
    expect(levelOf(await from('203.0.113.1'))).toBe(0)
    expect(levelOf(await from('2001:db8::1'))).toBe(0)
  })

  it.each([
    [{ held: 0, left: 1 }, 0],
    [{ held: 1, left: 0 }, 0],
    [{ held: 4, left: 6 }, 0],
    [{ held: 5, left: 5 }, 1],
    [{ held: 9, left: 1 }, 2],
  ])('rises if a class has many unpaid seats: %j is level %i', async (seats, level) => {
    const { challengeFor } = await startFixture({}, seats)
    expect(levelOf(await challengeFor('registration'))).toBe(level)
    expect(levelOf(await challengeFor('membership'))).toBe(level)
    expect(levelOf(await challengeFor('notice'))).toBe(0)
  })

  it('must match the current demand, unless the challenge was issued a moment ago', async () => {
    const seats = { held: 0, left: 10 }
    const { post, challengeFor } = await startFixture({}, seats)
    const [[form, path, body]] = forms as [(typeof forms)[0], ...typeof forms]
    const untilDemand = async (now: Seats, level: number) => {
      Object.assign(seats, now)
      let others = 0
      await eventually(async () => {
        const somebody = { 'x-forwarded-for': `203.0.${(others += 1)}.9` }
        return levelOf(await challengeFor('payment', somebody)) === level
      })
    }
    const three = [await challengeFor(form), await challengeFor(form), await challengeFor(form)]
    const [first, second, third] = await Promise.all(three.map((challenge) => proofOf(challenge)))
    await untilDemand({ held: 5, left: 5 }, 1)
    expect(isRejected(await post(path, body, first))).toBe(false)
    await untilDemand({ held: 9, left: 1 }, 2)
    expect(isRejected(await post(path, body, second))).toBe(false)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    const refused = await post(path, body, third)
    expect(isRejected(refused)).toBe(true)
    expect(isRejected(await post(path, body, await proofOf(refused.body['challenge'] as Challenge)))).toBe(false)
  })
})
