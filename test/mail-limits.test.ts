import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { codeIssued } from '@robokids/contracts/identity'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleMember } from '@robokids/test/samples'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { StubService } from '../bff/test/fixture.ts'
import { identity } from '../services/identity/src/app.ts'
import { Browser } from './src/browser.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const sku = 'product:ai-teddy-bear'
/** Per network; a /48 may do eight times as many. */
const maxSignUps = 3
/** Per account and per network; a /48 may do eight times as many. */
const maxAlerts = 12
/** Per account, per network and per mailbox. */
const maxMessages = 4

let bed: TestBed
let bffUrl: string
let services: StubService
beforeAll(async () => {
  bed = await testBed()
  const identityService = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
    ADDRESS_REQUESTS_AN_HOUR: String(maxSignUps),
  })
  services = await StubService.start()
  services.answer(({ url }, response) => {
    const products = [{ sku, name: 'AI Teddy Bear', state: 'coming_soon', amount: 15_000, currency: 'usd' }]
    const known: Record<string, object> = {
      '/products': { products },
      '/notices': { asked: true },
      '/messages': { reference: 'M-0F3A9C1B' },
    }
    response.writeHead(known[url ?? ''] ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(known[url ?? ''] ?? {}))
  })
  const bffService = await bed.start(bff, {
    SITE_URL: site,
    IDENTITY_URL: identityService.url,
    IDENTITY_ISSUER_URL: identityService.context.config.ISSUER_URL,
    ...bffKeys,
    PROOF_DERIVATIONS: '1',
    TRUST_PROXY: 'loopback',
    RATE_LIMIT_NOTICES: String(maxAlerts),
    RATE_LIMIT_MESSAGES: String(maxMessages),
    BILLING_URL: services.url,
    NOTIFICATIONS_URL: services.url,
  })
  bffUrl = bffService.url
})
afterAll(async () => {
  await bed.stop()
  await services.stop()
})

let blocks = 0
/** Returns an unused network block. */
const newBlock = () => `2001:db8:${(blocks += 1).toString(16)}`

class Visitor extends Browser {
  constructor(address = `${newBlock()}::1`) {
    super(site, bffUrl)
    this.address = address
  }

  from(address = `${newBlock()}::1`): this {
    this.address = address
    return this
  }

  /** Sends a request without proof of work. */
  async bare(path: string, body: object): Promise<unknown> {
    const answer = await fetch(bffUrl + path, {
      method: 'POST',
      headers: {
        'x-api-key': 'robokids-web',
        'content-type': 'application/json',
        'x-forwarded-for': this.address ?? '',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      body: JSON.stringify(body),
    })
    return ((await answer.json()) as { code?: string }).code ?? answer.status
  }

  message = async (email: string) => {
    const message = { id: randomUUIDv7(), name: 'Maren Holt', email, topic: 'kit', message: 'Where is it?' }
    return (await this.post('/api/contact', message)).status
  }

  requestAlert = async (email: string) => (await this.post('/api/shop/notices', { sku, email })).status
}

const newAddress = () => `maren.${randomUUID()}@example.com`
const sealer = sealingKeysSchema.parse(localSealingKeys)
/** Returns the codes sent to a mailbox, ignoring plus tags. */
const codesTo = (email: string) => {
  const [name = ''] = email.split('@')
  return bed.bus.all(codeIssued, ({ destination }) => destination.startsWith(name))
}

async function member() {
  const [visitor, email] = [new Visitor(), newAddress()]
  await visitor.post('/api/auth/sign-up', sampleMember(email))
  const { data } = await eventually(() => codesTo(email).at(-1))
  const code = sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString()
  expect((await visitor.post('/api/auth/confirm-sign-up', { email, code })).body).toEqual({ signedIn: true })
  return { visitor, email }
}

describe('Proof of work', () => {
  it.each([
    ['notice', '/api/shop/notices', (email: string) => ({ sku, email })],
    [
      'waitlist',
      '/api/waitlist',
      (email: string) => ({
        id: randomUUIDv7(),
        guardianName: 'Maren Holt',
        email,
        childName: 'Ivo',
        childAge: 9,
        startDate: '2030-01-04',
        classType: 'basic',
      }),
    ],
    ['sign-up', '/api/auth/sign-up', sampleMember],
    ['code', '/api/auth/resend-code', (email: string) => ({ email })],
    ['password', '/api/auth/forgot-password', (email: string) => ({ email })],
  ])(
    'A signed-in user needs a proof of work for a mail (%s) to another address than their own',
    async (form, path, body) => {
      const { visitor, email } = await member()
      expect(await visitor.bare(path, body(newAddress()))).toBe('proof_required')
      expect(await visitor.bare(path, body(`${email}.example`))).toBe('proof_required')
      expect(await visitor.bare(path, body(email.toUpperCase()))).not.toBe('proof_required')
      const ahead = (await visitor.get(`/api/proof?form=${form}`)).body
      expect(proofChallengeSchema.parse(ahead).challenge).not.toBeNull()
      expect(proofChallengeSchema.parse((await visitor.get('/api/proof?form=order')).body).challenge).toBeNull()
    },
  )
})

describe('Accounts', () => {
  const order = () => ({ orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] })

  it('An account can ask for thirty payment pages in ten minutes without proof of work, and needs one from then on', async () => {
    const { visitor } = await member()
    const { visitor: other } = await member()
    for (let time = 0; time < 30; time += 1) {
      expect(await visitor.bare('/api/checkout', order())).not.toBe('proof_required')
    }
    expect(await visitor.bare('/api/checkout', order())).toBe('proof_required')
    expect((await visitor.post('/api/checkout', order())).body['code']).toBe('upstream_unavailable')
    expect(await other.bare('/api/checkout', order())).not.toBe('proof_required')
  })
})

describe('Back-in-stock alerts', () => {
  it('Back-in-stock alerts are limited per hour and mailbox, across plus tags and networks', async () => {
    const email = newAddress()
    const tagged = (tag: number) => email.replace('@', `+${tag}@`)
    for (let tag = 0; tag < 10; tag += 1) expect(await new Visitor().requestAlert(tagged(tag))).toBe(200)
    expect(await new Visitor().requestAlert(tagged(10))).toBe(429)
    expect(await new Visitor().requestAlert(email)).toBe(429)
    expect(await new Visitor().requestAlert(newAddress())).toBe(200)
  })

  it('Back-in-stock alerts, codes and sign-ups for others share one limit per account, across networks', async () => {
    const { visitor } = await member()
    for (let time = 0; time < maxAlerts; time += 1) expect(await visitor.from().requestAlert(newAddress())).toBe(200)
    expect(await visitor.from().requestAlert(newAddress())).toBe(429)
    const others = [
      await visitor.from().post('/api/auth/sign-up', sampleMember(newAddress())),
      await visitor.from().post('/api/auth/resend-code', { email: newAddress() }),
      await visitor.from().post('/api/auth/forgot-password', { email: newAddress() }),
    ]
    expect(others.map(({ status, body }) => [status, body['code']])).toEqual(others.map(() => [429, 'rate_limited']))
  })

  it('Back-in-stock alerts are limited per network block', async () => {
    const block = newBlock()
    const statuses: number[] = []
    for (let time = 0; time <= 8 * maxAlerts; time += 1) {
      statuses.push(await new Visitor(`${block}:${time}::1`).requestAlert(newAddress()))
    }
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]))
    expect(statuses.at(-1)).toBe(429)
    expect(await new Visitor().requestAlert(newAddress())).toBe(200)
  })
})

describe('Places in line', () => {
  it('Joining waitlists is limited per hour and mailbox, across plus tags and networks, since each sends a mail', async () => {
    const email = newAddress()
    const join = async (address: string) => {
      const family = { id: randomUUIDv7(), guardianName: 'Maren Holt', email: address, childName: 'Ivo', childAge: 9 }
      const body = { ...family, startDate: '2030-01-04', classType: 'basic' }
      return (await new Visitor().post('/api/waitlist', body)).body['code']
    }
    // Enrollment does not run here.
    for (let tag = 0; tag < 10; tag += 1) {
      expect(await join(email.replace('@', `+${tag}@`))).toBe('upstream_unavailable')
    }
    expect(await join(email)).toBe('rate_limited')
    expect(await join(newAddress())).toBe('upstream_unavailable')
  })
})

describe('Contact messages', () => {
  const rounds = Array.from({ length: maxMessages })

  it('Contact messages are limited per mailbox, across networks', async () => {
    const email = newAddress()
    for (const _ of rounds) expect(await new Visitor().message(email)).toBe(200)
    expect(await new Visitor().message(email.replace('@', '+1@'))).toBe(429)
    expect(await new Visitor().message(newAddress())).toBe(200)
  })

  it('Contact messages are limited per network and per block', async () => {
    const network = new Visitor()
    // Each is sent twice, the second time with proof, and the first one counts as well.
    for (const _ of rounds.slice(maxMessages / 2)) expect(await network.message(newAddress())).toBe(200)
    expect(await network.message(newAddress())).toBe(429)

    const block = newBlock()
    const from = (one: number) => new Visitor(`${block}:${one}::1`).message(newAddress())
    for (let one = 1; one <= 8 * maxMessages; one += 1) expect(await from(one)).toBe(200)
    expect(await from(8 * maxMessages + 1)).toBe(429)
    expect(await new Visitor().message(newAddress())).toBe(200)
  })

  it('Contact messages are limited per account, across networks, and need no proof of work', async () => {
    const { visitor, email } = await member()
    const body = { id: randomUUIDv7(), name: 'Maren Holt', email, topic: 'kit', message: 'Where is it?' }
    expect(await visitor.from().bare('/api/contact', body)).toBe(200)
    for (const _ of rounds.slice(1)) expect(await visitor.from().message(newAddress())).toBe(200)
    expect(await visitor.from().message(newAddress())).toBe(429)
  })
})

describe('Membership changes', () => {
  it('Membership changes are limited per account, across networks, since each sends a mail or calls the provider', async () => {
    const { visitor } = await member()
    const changes = ['cancel', 'resume', 'quote', 'switch', 'portal']
    const body = { plan: 'yearly', dueNow: 0, reckonedAt: 1_800_000_000 }
    const ask = async (change = '') => (await visitor.from().post(`/api/membership/${change}`, body)).status
    for (let time = 0; time < maxAlerts; time += 1) expect(await ask(changes[time % 5])).not.toBe(429)
    expect(await Promise.all(changes.map(ask))).toEqual(changes.map(() => 429))
  })
})

describe('Sign-ups and codes', () => {
  const signUp = (visitor: Visitor, email: string) => visitor.post('/api/auth/sign-up', sampleMember(email))

  it('Sign-ups and codes are limited per network and per block', async () => {
    const block = newBlock()
    const from = async (network: number) =>
      (await signUp(new Visitor(`${block}:${network}::1`), newAddress())).body['code'] ?? 'sent'
    for (let network = 1; network <= 8; network += 1)
      for (let time = 0; time < maxSignUps; time += 1) expect(await from(network)).toBe('sent')
    for (const network of [1, 9]) expect(await from(network)).toBe('LimitExceededException')
    expect((await signUp(new Visitor(), newAddress())).status).toBe(200)
  })

  it('Sign-ups send one mailbox ten mails per hour, across plus tags, and no response reveals that', async () => {
    const email = newAddress()
    const tagged = Array.from({ length: 14 }, (_, tag) => email.replace('@', `+${tag}@`))
    for (const address of tagged) expect((await signUp(new Visitor(), address)).status).toBe(200)
    expect(codesTo(email)).toHaveLength(10)
    // Also when strangers ask for them again.
    for (const address of tagged) {
      const answer = await new Visitor().post('/api/auth/resend-code', { email: address })
      expect(answer.status).toBe(200)
    }
    expect(codesTo(email)).toHaveLength(10)
    // The plain address still gets its own code.
    expect((await new Visitor().post('/api/auth/forgot-password', { email })).status).toBe(200)
  })

  it('An address that differs by its plus tag is another account, apart from the limits', async () => {
    const { visitor, email } = await member()
    const other = new Visitor()
    const answer = await other.post('/api/auth/sign-in', {
      email: email.replace('@', '+1@'),
      password: sampleMember('').password,
    })
    expect(answer.status).toBe(401)
    expect((await visitor.get('/api/profile')).body).toMatchObject({ email })
  })
})
