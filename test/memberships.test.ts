import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutAnswerSchema } from '@robokids/contracts/auth'
import { subscriptionActivated } from '@robokids/contracts/billing'
import { availableSlotsSchema } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import { freePort } from '@robokids/local/processes'
import { webhookSecret } from '@robokids/local/settings'
import { localSealingKeys } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { createSimulator, type Simulator } from '../deploy/stripe-simulator/src/app.ts'
import { billing } from '../services/billing/src/app.ts'
import { enrollment } from '../services/enrollment/src/app.ts'

let bed: TestBed
let simulator: Simulator
let siteUrl: string
let till: { url: string; stop(): Promise<void> }
let enrollmentSql: postgres.Sql
let restartTill: () => Promise<void>
beforeAll(async () => {
  bed = await testBed()
  const port = await freePort()
  siteUrl = `http://localhost:${port}`
  simulator = await createSimulator({
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/stripe`, secret: webhookSecret }],
    retryDelaysMs: [100, 200, 400, 800, 1600, 3200],
    redirectWaitMs: 2_000,
  })
  const school = await bed.start(enrollment)
  enrollmentSql = postgres(school.databaseUrl, { max: 2, onnotice: () => {} })
  const tillEnv = {
    PORT: String(await freePort()),
    DATABASE_URL: await bed.database(),
    STRIPE_SECRET_KEY: 'sk_test_memberships',
    STRIPE_API_URL: simulator.url,
    STRIPE_WEBHOOK_SECRETS: webhookSecret,
    SITE_URL: siteUrl,
    RECONCILE_EVERY_MS: '3600000',
  }
  till = await bed.start(billing, tillEnv)
  restartTill = async () => {
    till = await bed.start(billing, tillEnv)
  }
  await bed.start(bff, {
    PORT: String(port),
    SITE_URL: siteUrl,
    ENROLLMENT_URL: school.url,
    BILLING_URL: till.url,
    IDENTITY_CLIENT_SECRET: 'local-client-secret',
    SESSION_KEYS: localSealingKeys,
  })
})
afterEach(() => control('webhooks/config'))
afterAll(async () => {
  await enrollmentSql.end({ timeout: 1 })
  await bed.stop()
  await simulator.stop()
})

async function control(path: string, body: object = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(`${simulator.url}/_sim/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, unknown>
}

async function ask(body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${siteUrl}/api/createStripeSession`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', origin: siteUrl, ...headers },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as { code?: string; message?: string; url?: string } }
}

async function checkout(wish: Wish): Promise<string> {
  const answer = await ask(wish)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutAnswerSchema.parse(answer.body).url
}

/** What the parent does on the payment page. */
async function pay(url: string, card = '4242424242424242') {
  const id = new URL(url).pathname.split('/').at(-1)
  return (await control(`checkout/${id}/pay`, { card })) as { status: string; redirectUrl: string | null }
}

interface Wish {
  email: string
  plan: 'monthly' | 'yearly'
  classDate: string
}

/** Each test has a date for itself: the members' session of it, and a level's. */
let day = Temporal.PlainDate.from('2031-01-01')
async function newDate(capacity = 10): Promise<string> {
  day = day.add({ days: 1 })
  const classDate = day.toString()
  for (const classType of ['membership', 'basic']) {
    await enrollmentSql`
      insert into class_sessions (id, season, class_type, date, start_time, duration_minutes, time_zone, starts_at, capacity)
      values (${randomUUIDv7()}, 'test', ${classType}, ${classDate}, '16:00', 75, 'America/Los_Angeles',
        ${`${classDate}T23:00:00Z`}, ${capacity})`
  }
  return classDate
}

const newcomer = (classDate: string, plan: Wish['plan'] = 'monthly'): Wish => ({
  email: `Maren+${randomUUIDv7()}@Example.com`,
  plan,
  classDate,
})

async function slotsLeft(classDate: string): Promise<number | undefined> {
  const answer = await fetch(`${siteUrl}/api/availableSlots`)
  return availableSlotsSchema.parse(await answer.json()).slots.find((slot) => slot.classDate === classDate)
    ?.availableSlots
}

const activations = (email: string) =>
  bed.bus.all(subscriptionActivated, (data) => emailKey(data.email) === emailKey(email))
const seated = (classDate: string, left: number) => eventually(async () => (await slotsLeft(classDate)) === left)

async function atProvider(): Promise<{ active: number; captured: number }> {
  const answer = await fetch(`${simulator.url}/_sim/state`)
  const state = (await answer.json()) as {
    subscriptions: { active?: number }
    charges: { amountCaptured: number }
  }
  return { active: state.subscriptions.active ?? 0, captured: state.charges.amountCaptured }
}

describe('POST /api/createStripeSession', () => {
  it.each([
    ['monthly', '$7.00 per month', 700],
    ['yearly', '$60.00 per year', 6_000],
  ] as const)('leads through the payment page of the %s plan to /success and a seat', async (plan, price, amount) => {
    const classDate = await newDate()
    const wish = newcomer(classDate, plan)
    const url = await checkout(wish)
    expect(await (await fetch(url)).text()).toContain(price)
    expect(await slotsLeft(classDate)).toBe(10)

    const declined = await pay(url, '4000000000009995')
    expect(declined).toMatchObject({ status: 'declined', redirectUrl: null })
    const { status, redirectUrl } = await pay(url)
    expect(status).toBe('paid')
    const back = new URL(redirectUrl ?? '')
    expect(back.origin + back.pathname).toBe(`${siteUrl}/success`)
    expect([...back.searchParams.keys()]).toEqual(['reference'])

    const { data } = await bed.bus.seen(subscriptionActivated, ({ email }) => email === wish.email)
    expect(data).toMatchObject({ ...wish, amount, attemptId: back.searchParams.get('reference') })
    await seated(classDate, 9)
  })

  it('makes one member with one seat, charged once, of two tabs', async () => {
    const classDate = await newDate()
    const other = await newDate()
    const wish = newcomer(classDate)
    const before = await atProvider()
    const tabs = [await checkout(wish), await checkout({ ...wish, email: wish.email.toLowerCase() })]
    expect(tabs[1]).toBe(tabs[0])
    const changed = await checkout({ ...wish, email: wish.email.toUpperCase(), classDate: other })
    const outcomes = await Promise.all([...tabs, changed].map((url) => pay(url)))
    expect(outcomes.map(({ status }) => status)).toEqual(['expired', 'expired', 'paid'])
    await seated(other, 9)
    expect(await slotsLeft(classDate)).toBe(10)
    expect(await atProvider()).toEqual({ active: before.active + 1, captured: before.captured + 700 })

    const again = await ask(wish)
    expect(again).toMatchObject({
      status: 409,
      body: {
        code: 'already_member',
        message: 'This email already has a membership. Please log in to see it.',
      },
    })
  })

  it('seats a member once where every notice comes twice and in reverse order', async () => {
    const classDate = await newDate()
    const wish = newcomer(classDate)
    const url = await checkout(wish)
    await control('webhooks/config', { paused: true, duplicate: 2, reverse: true })
    await pay(url)
    await control('webhooks/release')
    await seated(classDate, 9)
    await simulator.deliveriesIdle()
    const [event] = activations(wish.email)
    expect(activations(wish.email)).toHaveLength(1)
    if (event) await bed.bus.republish(event)
    await pay(await checkout(newcomer(classDate)))
    await seated(classDate, 8)
  })

  it('seats a member who paid while billing was away', async () => {
    const classDate = await newDate()
    const wish = newcomer(classDate)
    const url = await checkout(wish)
    await till.stop()
    expect((await pay(url)).status).toBe('paid')
    expect((await ask(newcomer(classDate))).status).toBe(503)
    await restartTill()
    await seated(classDate, 9)
    expect(activations(wish.email)).toHaveLength(1)
  })

  it('refuses a date that is full or not offered before anything can be paid, in words', async () => {
    const full = await newDate(1)
    await pay(await checkout(newcomer(full)))
    await seated(full, 0)
    expect(await ask(newcomer(full))).toMatchObject({
      status: 409,
      body: { code: 'class_full', message: 'This class is full. Please choose another date.' },
    })
    for (const classDate of ['2025-10-03', '2199-01-01']) {
      expect(await ask(newcomer(classDate))).toMatchObject({
        status: 400,
        body: {
          code: 'class_not_offered',
          message: 'This class date is not offered. Please choose another date.',
          issues: [{ path: 'classDate' }],
        },
      })
    }
  })

  it('never oversells the last seat, though two pay for it', async () => {
    const classDate = await newDate(1)
    const wishes = [newcomer(classDate), newcomer(classDate)]
    const urls = await Promise.all(wishes.map((wish) => checkout(wish)))
    for (const url of urls) expect((await pay(url)).status).toBe('paid')
    for (const { email } of wishes) await bed.bus.seen(subscriptionActivated, (data) => data.email === email)
    const outcomes = () => enrollmentSql<{ outcome: string }[]>`
      select outcome from member_seats where class_date = ${classDate} order by outcome`
    await eventually(async () => (await outcomes()).length === 2)
    expect((await outcomes()).map(({ outcome }) => outcome)).toEqual(['class_full', 'seated'])
    expect(await slotsLeft(classDate)).toBe(0)
  })

  it('answers 400 to bad input, and nothing to other sites', async () => {
    const wish = newcomer(await newDate())
    for (const change of [
      { plan: 'weekly' },
      { email: 'maren' },
      { classDate: '2031-02-30' },
      { classDate: '../../x' },
    ]) {
      expect(await ask({ ...wish, ...change })).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    }
    expect((await ask(null)).status).toBe(400)
    expect((await ask(wish, { origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await ask(wish, { 'x-api-key': 'guess' })).status).toBe(401)
  })
})
