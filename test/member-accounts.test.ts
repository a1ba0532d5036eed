import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutResponseSchema } from '@robokids/contracts/auth'
import { foundMembershipSchema, subscriptionActivated, subscriptionCancelled } from '@robokids/contracts/billing'
import { codeIssued, userUpdated } from '@robokids/contracts/identity'
import { freePort } from '@robokids/local/processes'
import { webhookSecret } from '@robokids/local/services'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { Browser } from './src/browser.ts'
import { sampleMember } from '@robokids/test/samples'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { createSimulator, type Simulator } from '../deploy/stripe-simulator/src/app.ts'
import { billing } from '../services/billing/src/app.ts'
import { enrollment } from '../services/enrollment/src/app.ts'
import { identity } from '../services/identity/src/app.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const { password } = sampleMember('')
const classDate = '2031-03-07'

let bed: TestBed
let simulator: Simulator
let site: string
beforeAll(async () => {
  bed = await testBed()
  const port = await freePort()
  site = `http://localhost:${port}`
  simulator = await createSimulator({
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/stripe`, secret: webhookSecret }],
    retryDelaysMs: [100, 200, 400, 800, 1600],
  })
  const identityService = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
  })
  const enrollmentService = await bed.start(enrollment)
  const sql = postgres(enrollmentService.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`
    insert into class_sessions (id, season, class_type, date, start_time, duration_minutes, time_zone, starts_at, capacity)
    values (${randomUUIDv7()}, 'test', 'membership', ${classDate}, '16:00', 75, 'America/Los_Angeles',
      ${`${classDate}T23:00:00Z`}, 1000)`
  await sql.end({ timeout: 1 })
  const billingService = await bed.start(billing, {
    STRIPE_SECRET_KEY: 'sk_test_members',
    STRIPE_API_URL: simulator.url,
    STRIPE_WEBHOOK_SECRETS: webhookSecret,
    SITE_URL: site,
    RECONCILE_EVERY_MS: '3600000',
  })
  await bed.start(bff, {
    PORT: String(port),
    SITE_URL: site,
    IDENTITY_URL: identityService.url,
    IDENTITY_ISSUER_URL: identityService.context.config.ISSUER_URL,
    ENROLLMENT_URL: enrollmentService.url,
    BILLING_URL: billingService.url,
    ...bffKeys,
    PROOF_DERIVATIONS: '2',
  })
})
afterAll(async () => {
  await bed.stop()
  await simulator.stop()
})

class Visitor extends Browser {
  constructor() {
    super(site)
  }

  async signUp(email: string): Promise<void> {
    const before = codesTo(email).length
    await this.ask('POST', '/api/auth/sign-up', sampleMember(email))
    const code = await codeTo(email, before)
    const answer = await this.ask('POST', '/api/auth/confirm-sign-up', { email, code })
    expect(answer.body).toEqual({ signedIn: true })
  }

  async moveTo(email: string): Promise<void> {
    await this.ask('PATCH', '/api/profile', { email })
    const confirmation = { attribute: 'email', code: await codeTo(email) }
    expect((await this.ask('POST', '/api/profile/verification/confirm', confirmation)).status).toBe(200)
  }

  /** @returns the page where it is paid */
  async checkout(email: string): Promise<string> {
    const { body } = await this.ask('POST', '/api/createStripeSession', { email, plan: 'monthly', classDate })
    return membershipCheckoutResponseSchema.parse(body).url
  }

  /** @returns the membership's id */
  async join(email: string): Promise<string> {
    const url = await this.checkout(email)
    await pay(url)
    const { data } = await bed.bus.seen(subscriptionActivated, (fact) => fact.email === email)
    return data.attemptId
  }

  async memberships() {
    const { membership, others = [] } = foundMembershipSchema.parse((await this.ask('GET', '/api/membership')).body)
    return [...(membership ? [membership] : []), ...others]
  }
}

const sealer = sealingKeysSchema.parse(localSealingKeys)
const codesTo = (destination: string) => bed.bus.all(codeIssued, (code) => code.destination === destination)
/** The next code to an address that had that many before. */
async function codeTo(destination: string, before = 0): Promise<string> {
  const { data } = await eventually(() => codesTo(destination).at(before))
  return sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString() ?? ''
}

async function pay(url: string): Promise<string> {
  const answer = await fetch(`${simulator.url}/_sim/checkout/${new URL(url).pathname.split('/').at(-1)}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ card: '4242424242424242' }),
  })
  return ((await answer.json()) as { status: string }).status
}

const newAddress = () => `maren.${randomUUIDv7()}@example.com`
const ended = (id: string) => bed.bus.seen(subscriptionCancelled, ({ attemptId }) => attemptId === id)

describe('Members', () => {
  it('A member keeps the membership when changing the address, and the next account at the old address does not see it', async () => {
    const [maren, successor] = [new Visitor(), new Visitor()]
    const address = newAddress()
    await maren.signUp(address)
    // Bought in another browser; the profile was never opened since.
    const id = await new Visitor().join(address)
    await maren.moveTo(newAddress())
    await eventually(async () => (await maren.memberships()).map(({ membershipId }) => membershipId).includes(id))
    await successor.signUp(address)
    expect(await successor.memberships()).toEqual([])
    expect((await successor.ask('POST', '/api/membership/cancel', { membershipId: id })).status).toBe(404)
    expect((await maren.ask('POST', '/api/membership/cancel')).body).toMatchObject({ membershipId: id })
    await ended(id)
  })

  it('A member sees and can end two memberships, one of which came with an address', async () => {
    const maren = new Visitor()
    const [address, other] = [newAddress(), newAddress()]
    await maren.signUp(address)
    const first = await maren.join(address)
    const second = await new Visitor().join(other)
    await maren.moveTo(other)
    await eventually(async () => (await maren.memberships()).length === 2)
    expect((await maren.memberships()).map(({ membershipId }) => membershipId)).toEqual([first, second])
    const end = await maren.ask('POST', '/api/membership/cancel', { membershipId: second })
    expect(end.body).toMatchObject({ membershipId: second, nextCharge: null })
    expect((await maren.memberships()).map(({ endsAt }) => endsAt !== null)).toEqual([false, true])
    const back = await maren.ask('POST', '/api/membership/resume', { membershipId: second })
    expect(back.body).toMatchObject({ membershipId: second, endsAt: null })
    expect(await maren.ask('POST', '/api/membership/cancel', { membershipId: randomUUIDv7() })).toMatchObject({
      status: 404,
      body: { code: 'membership_not_found' },
    })
    expect((await maren.ask('POST', '/api/membership/cancel', { membershipId: 'x' })).status).toBe(400)
    // Another change of address works too.
    const last = newAddress()
    await maren.moveTo(last)
    await bed.bus.seen(userUpdated, ({ email, emailVerified }) => email === last && emailVerified)
    expect(await maren.memberships()).toHaveLength(2)
  })

  it('A signed-in member cannot join twice with another address, and is led to the billing portal', async () => {
    const maren = new Visitor()
    const address = newAddress()
    await maren.signUp(address)
    const open = await maren.checkout(newAddress())
    const page = await maren.checkout(newAddress())
    expect([await pay(open), await pay(page)]).toEqual(['expired', 'paid'])
    await eventually(async () => (await maren.memberships()).length === 1)
    const again = await maren.ask('POST', '/api/createStripeSession', { email: address, plan: 'yearly', classDate })
    expect(again.body).toMatchObject({ url: expect.stringContaining('/p/session/') })
    // Nobody else is led there, or learns that there is a member.
    const stranger = await new Visitor().ask('POST', '/api/createStripeSession', {
      email: address,
      plan: 'yearly',
      classDate,
    })
    expect(stranger).toMatchObject({
      status: 200,
      body: { url: expect.stringMatching(/\/membership-checkouts\/[^/]+\/pay\//) },
    })
  })

  it('A member who deletes the account is not charged again, even if a page is paid only afterwards', async () => {
    const maren = new Visitor()
    const address = newAddress()
    await maren.signUp(address)
    const [paid, open] = [await new Visitor().join(address), await new Visitor().checkout(newAddress())]
    expect((await maren.ask('DELETE', '/api/profile', { password })).status).toBe(200)
    await ended(paid)
    // An unrelated page is not closed.
    expect(await pay(open)).toBe('paid')
  })
})
