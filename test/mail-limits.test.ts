import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { codeIssued } from '@robokids/contracts/identity'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleMember } from '@robokids/test/samples'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { StubService } from '../bff/test/front.ts'
import { identity } from '../services/identity/src/app.ts'
import { Browser } from './src/browser.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const sku = 'product:ai-teddy-bear'
/** Of one network. A /48 has eight times as many. */
const most = 3
/** Of an account, and of one network; of a /48 eight times as many. */
const mostNotices = 12
/** Of an account, of one network and about one mailbox. */
const mostMessages = 4

let bed: TestBed
let door: string
let services: StubService
beforeAll(async () => {
  bed = await testBed()
  const desk = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
    ADDRESS_REQUESTS_AN_HOUR: String(most),
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
  const front = await bed.start(bff, {
    SITE_URL: site,
    IDENTITY_URL: desk.url,
    IDENTITY_ISSUER_URL: desk.context.config.ISSUER_URL,
    ...bffKeys,
    PROOF_DERIVATIONS: '1',
    TRUST_PROXY: 'loopback',
    RATE_LIMIT_NOTICES: String(mostNotices),
    RATE_LIMIT_MESSAGES: String(mostMessages),
    BILLING_URL: services.url,
    NOTIFICATIONS_URL: services.url,
  })
  door = front.url
})
afterAll(async () => {
  await bed.stop()
  await services.stop()
})

let blocks = 0
/** A block that nobody else has been in. */
const newBlock = () => `2001:db8:${(blocks += 1).toString(16)}`

class Visitor extends Browser {
  constructor(address = `${newBlock()}::1`) {
    super(site, door)
    this.address = address
  }

  from(address = `${newBlock()}::1`): this {
    this.address = address
    return this
  }

  /** Without any proof of work. */
  async bare(path: string, body: object): Promise<unknown> {
    const answer = await fetch(door + path, {
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

  notice = async (email: string) => (await this.post('/api/shop/notices', { sku, email })).status
}

const somebody = () => `maren.${randomUUID()}@example.com`
const sealer = sealingKeysSchema.parse(localSealingKeys)
/** The codes that went to a mailbox, whatever follows a plus. */
const codesTo = (email: string) => {
  const [name = ''] = email.split('@')
  return bed.bus.all(codeIssued, ({ destination }) => destination.startsWith(name))
}

async function member() {
  const [visitor, email] = [new Visitor(), somebody()]
  await visitor.post('/api/auth/sign-up', sampleMember(email))
  const { data } = await eventually(() => codesTo(email).at(-1))
  const code = sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString()
  expect((await visitor.post('/api/auth/confirm-sign-up', { email, code })).body).toEqual({ signedIn: true })
  return { visitor, email }
}

describe('a proof of work', () => {
  it.each([
    ['notice', '/api/shop/notices', (email: string) => ({ sku, email })],
    ['sign-up', '/api/auth/sign-up', sampleMember],
    ['code', '/api/auth/resend-code', (email: string) => ({ email })],
    ['password', '/api/auth/forgot-password', (email: string) => ({ email })],
  ])('is asked of who is signed in for a mail (%s) to another address than their own', async (form, path, body) => {
    const { visitor, email } = await member()
    expect(await visitor.bare(path, body(somebody()))).toBe('proof_required')
    expect(await visitor.bare(path, body(`${email}.example`))).toBe('proof_required')
    expect(await visitor.bare(path, body(email.toUpperCase()))).not.toBe('proof_required')
    const ahead = (await visitor.get(`/api/proof?form=${form}`)).body
    expect(proofChallengeSchema.parse(ahead).challenge).not.toBeNull()
    expect(proofChallengeSchema.parse((await visitor.get('/api/proof?form=order')).body).challenge).toBeNull()
  })
})

describe('an account', () => {
  const order = () => ({ orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] })

  it('asks for thirty payment pages in ten minutes without any proof of work, and brings one from then on', async () => {
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

describe('requests for news of a product', () => {
  it('are ten an hour about one mailbox, whatever follows a plus and wherever they come from', async () => {
    const email = somebody()
    const tagged = (tag: number) => email.replace('@', `+${tag}@`)
    for (let tag = 0; tag < 10; tag += 1) expect(await new Visitor().notice(tagged(tag))).toBe(200)
    expect(await new Visitor().notice(tagged(10))).toBe(429)
    expect(await new Visitor().notice(email)).toBe(429)
    expect(await new Visitor().notice(somebody())).toBe(200)
  })

  it('are limited by the account that asks, from wherever, also for codes and sign-ups of others', async () => {
    const { visitor } = await member()
    for (let time = 0; time < mostNotices; time += 1) expect(await visitor.from().notice(somebody())).toBe(200)
    expect(await visitor.from().notice(somebody())).toBe(429)
    const others = [
      await visitor.from().post('/api/auth/sign-up', sampleMember(somebody())),
      await visitor.from().post('/api/auth/resend-code', { email: somebody() }),
      await visitor.from().post('/api/auth/forgot-password', { email: somebody() }),
    ]
    expect(others.map(({ status, body }) => [status, body['code']])).toEqual(others.map(() => [429, 'rate_limited']))
  })

  it('are limited by the block of the networks that ask', async () => {
    const block = newBlock()
    const statuses: number[] = []
    for (let time = 0; time <= 8 * mostNotices; time += 1) {
      statuses.push(await new Visitor(`${block}:${time}::1`).notice(somebody()))
    }
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]))
    expect(statuses.at(-1)).toBe(429)
    expect(await new Visitor().notice(somebody())).toBe(200)
  })
})

describe('messages to the school', () => {
  const rounds = Array.from({ length: mostMessages })

  it('are limited by the mailbox that they name, wherever they come from', async () => {
    const email = somebody()
    for (const _ of rounds) expect(await new Visitor().message(email)).toBe(200)
    expect(await new Visitor().message(email.replace('@', '+1@'))).toBe(429)
    expect(await new Visitor().message(somebody())).toBe(200)
  })

  it('are limited by the network that they come from, and by its block', async () => {
    const network = new Visitor()
    // Each has its proof at the second try, and the first one counts as well.
    for (const _ of rounds.slice(mostMessages / 2)) expect(await network.message(somebody())).toBe(200)
    expect(await network.message(somebody())).toBe(429)

    const block = newBlock()
    const from = (one: number) => new Visitor(`${block}:${one}::1`).message(somebody())
    for (let one = 1; one <= 8 * mostMessages; one += 1) expect(await from(one)).toBe(200)
    expect(await from(8 * mostMessages + 1)).toBe(429)
    expect(await new Visitor().message(somebody())).toBe(200)
  })

  it('are limited by the account that sends them, which needs no proof of work, from wherever', async () => {
    const { visitor, email } = await member()
    const body = { id: randomUUIDv7(), name: 'Maren Holt', email, topic: 'kit', message: 'Where is it?' }
    expect(await visitor.from().bare('/api/contact', body)).toBe(200)
    for (const _ of rounds.slice(1)) expect(await visitor.from().message(somebody())).toBe(200)
    expect(await visitor.from().message(somebody())).toBe(429)
  })
})

describe('changes of a membership', () => {
  it('are limited by its account, from wherever: each has a mail sent, or the provider asked', async () => {
    const { visitor } = await member()
    const changes = ['cancel', 'resume', 'quote', 'switch', 'portal']
    const body = { plan: 'yearly', dueNow: 0, reckonedAt: 1_800_000_000 }
    const ask = async (change = '') => (await visitor.from().post(`/api/membership/${change}`, body)).status
    for (let time = 0; time < mostNotices; time += 1) expect(await ask(changes[time % 5])).not.toBe(429)
    expect(await Promise.all(changes.map(ask))).toEqual(changes.map(() => 429))
  })
})

describe('sign-ups and codes', () => {
  const signUp = (visitor: Visitor, email: string) => visitor.post('/api/auth/sign-up', sampleMember(email))

  it('are limited by the network that asks for them, and by its block', async () => {
    const block = newBlock()
    const from = async (network: number) =>
      (await signUp(new Visitor(`${block}:${network}::1`), somebody())).body['code'] ?? 'sent'
    for (let network = 1; network <= 8; network += 1)
      for (let time = 0; time < most; time += 1) expect(await from(network)).toBe('sent')
    for (const network of [1, 9]) expect(await from(network)).toBe('LimitExceededException')
    expect((await signUp(new Visitor(), somebody())).status).toBe(200)
  })

  it('send a mailbox ten mails an hour, however many of its addresses are signed up, and tell nobody', async () => {
    const email = somebody()
    const tagged = Array.from({ length: 14 }, (_, tag) => email.replace('@', `+${tag}@`))
    for (const address of tagged) expect((await signUp(new Visitor(), address)).status).toBe(200)
    expect(codesTo(email)).toHaveLength(10)
    // Asked for again by strangers as well.
    for (const address of tagged) {
      const answer = await new Visitor().post('/api/auth/resend-code', { email: address })
      expect(answer.status).toBe(200)
    }
    expect(codesTo(email)).toHaveLength(10)
    // Whose address it is by itself is not kept from their own code.
    expect((await new Visitor().post('/api/auth/forgot-password', { email })).status).toBe(200)
  })

  it('are another person’s by what follows a plus, all limits aside', async () => {
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
