import { randomUUIDv7 } from 'node:crypto'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import { membershipCheckoutResponseSchema } from '@robokids/contracts/auth'
import {
  membershipOutcomeSchema,
  membershipRefunded,
  subscriptionActivated,
  type MembershipOutcome,
} from '@robokids/contracts/billing'
import { availableSlotsSchema, memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import { emailKey } from '@robokids/contracts/fields'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { membershipTerms } from '@robokids/contracts/offers'
import { freePort } from '@robokids/local/processes'
import { fetchProven } from '@robokids/local/prove'
import { webhookSecret } from '@robokids/local/services'
import { localSealingKeys } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { browserCookie } from '@robokids/test/browser'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { createSimulator, type Simulator } from '../deploy/stripe-simulator/src/app.ts'
import { billing } from '../services/billing/src/app.ts'
import { enrollment } from '../services/enrollment/src/app.ts'

let bed: TestBed
let simulator: Simulator
let siteUrl: string
let billingService: { url: string; stop(): Promise<void> }
let enrollmentSql: postgres.Sql
let billingSql: postgres.Sql
let restartBilling: () => Promise<void>
beforeAll(async () => {
  bed = await testBed()
  const port = await freePort()
  siteUrl = `http://localhost:${port}`
  ours.origin = siteUrl
  simulator = await createSimulator({
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/stripe`, secret: webhookSecret }],
    retryDelaysMs: [100, 200, 400, 800, 1600, 3200],
    redirectWaitMs: 2_000,
  })
  const enrollmentService = await bed.start(enrollment)
  enrollmentSql = postgres(enrollmentService.databaseUrl, { max: 2, onnotice: () => {} })
  const billingEnv = {
    PORT: String(await freePort()),
    DATABASE_URL: await bed.database(),
    STRIPE_SECRET_KEY: 'sk_test_memberships',
    STRIPE_API_URL: simulator.url,
    STRIPE_WEBHOOK_SECRETS: webhookSecret,
    SITE_URL: siteUrl,
    RECONCILE_EVERY_MS: '3600000',
  }
  billingService = await bed.start(billing, billingEnv)
  billingSql = postgres(billingEnv.DATABASE_URL, { max: 1, onnotice: () => {} })
  restartBilling = async () => {
    billingService = await bed.start(billing, billingEnv)
  }
  await bed.start(bff, {
    PORT: String(port),
    SITE_URL: siteUrl,
    ENROLLMENT_URL: enrollmentService.url,
    BILLING_URL: billingService.url,
    IDENTITY_CLIENT_SECRET: 'local-client-secret',
    SESSION_KEYS: localSealingKeys,
    PROOF_SECRET: 'local-proof-secret',
    PROOF_DERIVATIONS: '2',
  })
})
afterEach(async () => {
  await control('webhooks/config')
  await fetch(`${simulator.url}/_sim/faults`, { method: 'DELETE' })
})
afterAll(async () => {
  await enrollmentSql.end({ timeout: 1 })
  await billingSql.end({ timeout: 1 })
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

const cookie = browserCookie()

async function ask(body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetchProven(`${siteUrl}/api/createStripeSession`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', origin: siteUrl, cookie, ...headers },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as { code?: string; message?: string; url?: string } }
}

async function checkout(request: MembershipRequest): Promise<string> {
  const answer = await ask(request)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutResponseSchema.parse(answer.body).url
}

/** Pays on the payment page. */
async function pay(url: string, card = '4242424242424242') {
  const id = new URL(url).pathname.split('/').at(-1)
  return (await control(`checkout/${id}/pay`, { card })) as { status: string; redirectUrl: string | null }
}

interface MembershipRequest {
  email: string
  plan: 'monthly' | 'yearly'
  classDate: string
  consent?: { version: string; text: string }
  familyTimeZone?: string
  agreed?: AgreementTerms | undefined
}

/** Each test has its own date, with a members' session and a level's. */
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

const newRequest = (classDate: string, plan: MembershipRequest['plan'] = 'monthly'): MembershipRequest => ({
  email: `Maren.${randomUUIDv7()}@Example.com`,
  plan,
  classDate,
})

async function slotsLeft(classDate: string): Promise<number | undefined> {
  const answer = await fetch(`${siteUrl}/api/availableSlots`)
  return availableSlotsSchema.parse(await answer.json()).slots.find((slot) => slot.classDate === classDate)
    ?.availableSlots
}

const ours = { 'x-api-key': 'robokids-web', origin: '' }

async function outcomeOf(reference: string): Promise<MembershipOutcome> {
  const answer = await fetch(`${siteUrl}/api/membership-checkouts/${reference}`)
  return membershipOutcomeSchema.parse(await answer.json())
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
    const request = { ...newRequest(classDate, plan), familyTimeZone: 'America/New_York' }
    expect(await ask({ ...request, familyTimeZone: '<b>' })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    })
    const url = await checkout(request)
    expect(await (await fetch(url)).text()).toContain(price)
    expect(await slotsLeft(classDate)).toBe(9)

    const declined = await pay(url, '4000000000009995')
    expect(declined).toMatchObject({ status: 'declined', redirectUrl: null })
    const { status, redirectUrl } = await pay(url)
    expect(status).toBe('paid')
    const back = new URL(redirectUrl ?? '')
    expect(back.origin + back.pathname).toBe(`${siteUrl}/success`)
    expect([...back.searchParams.keys()]).toEqual(['reference'])

    const { data } = await bed.bus.seen(subscriptionActivated, ({ email }) => email === request.email)
    const reference = back.searchParams.get('reference') ?? ''
    expect(data).toMatchObject({ ...request, amount, attemptId: reference })
    const seat = await bed.bus.seen(memberSeated, ({ attemptId }) => attemptId === reference)
    expect(seat.data).toMatchObject({ classDate, startTime: '16:00', familyTimeZone: 'America/New_York' })
    await eventually(async () => (await outcomeOf(reference)).status === 'confirmed')
    expect(await outcomeOf(reference)).toMatchObject({ plan, classDate, amount, refusal: null, refunded: 0 })
    expect(JSON.stringify(await outcomeOf(reference))).not.toContain('Maren')
    expect(await slotsLeft(classDate)).toBe(9)
  })

  it('Two tabs make one member with one seat, charged once', async () => {
    const classDate = await newDate()
    const other = await newDate()
    const request = newRequest(classDate)
    const before = await atProvider()
    const tabs = [await checkout(request), await checkout({ ...request, email: request.email.toLowerCase() })]
    expect(tabs[1]).toBe(tabs[0])
    const changed = await checkout({ ...request, email: request.email.toUpperCase(), classDate: other })
    const outcomes = await Promise.all([...tabs, changed].map((url) => pay(url)))
    expect(outcomes.map(({ status }) => status)).toEqual(['expired', 'expired', 'paid'])
    await seated(other, 9)
    expect(await slotsLeft(classDate)).toBe(10)
    expect(await atProvider()).toEqual({ active: before.active + 1, captured: before.captured + 700 })

    const again = await ask(request)
    expect(again).toMatchObject({
      status: 409,
      body: {
        code: 'already_member',
        message: 'This email already has a membership. Please log in to see it.',
      },
    })
  })

  it('Duplicated and reordered webhooks seat a member once', async () => {
    const classDate = await newDate()
    const request = newRequest(classDate)
    const url = await checkout(request)
    await control('webhooks/config', { paused: true, duplicate: 2, reverse: true })
    await pay(url)
    await control('webhooks/release')
    await seated(classDate, 9)
    await simulator.deliveriesIdle()
    const [event] = activations(request.email)
    expect(activations(request.email)).toHaveLength(1)
    if (event) await bed.bus.republish(event)
    await pay(await checkout(newRequest(classDate)))
    await seated(classDate, 8)
  })

  it('A payment made while billing was down seats the member', async () => {
    const classDate = await newDate()
    const request = newRequest(classDate)
    const url = await checkout(request)
    await billingService.stop()
    expect((await pay(url)).status).toBe('paid')
    expect((await ask(newRequest(classDate))).status).toBe(503)
    await restartBilling()
    await bed.bus.seen(subscriptionActivated, ({ email }) => email === request.email)
    await seated(classDate, 9)
    expect(activations(request.email)).toHaveLength(1)
  })

  it('A full or unavailable date is rejected with a message before anything can be paid', async () => {
    const full = await newDate(1)
    await pay(await checkout(newRequest(full)))
    await seated(full, 0)
    expect(await ask(newRequest(full))).toMatchObject({
      status: 409,
      body: { code: 'class_full', message: 'This class is full. Please choose another date.' },
    })
    for (const classDate of ['2025-10-03', '2199-01-01']) {
      expect(await ask(newRequest(classDate))).toMatchObject({
        status: 400,
        body: {
          code: 'class_not_offered',
          message: 'This class date is not offered. Please choose another date.',
          issues: [{ path: 'classDate' }],
        },
      })
    }
  })

  it('The last seat is held during a checkout, and released with it', async () => {
    const classDate = await newDate(1)
    const first = newRequest(classDate)
    const url = await checkout(first)
    expect(await ask(newRequest(classDate))).toMatchObject({ status: 409, body: { code: 'class_full' } })
    await control(`checkout/${new URL(url).pathname.split('/').at(-1)}/expire`)
    await seated(classDate, 1)
    await pay(await checkout(newRequest(classDate)))
    await seated(classDate, 0)
  })

  /** Another family keeps requesting the last seat while `work` runs. @returns the statuses that it got */
  async function whileContended(classDate: string, work: () => Promise<void>): Promise<Set<number>> {
    const rival = newRequest(classDate)
    const answers = new Set<number>()
    let over = false
    const settled = work().finally(() => {
      over = true
    })
    while (!over) answers.add((await ask(rival)).status)
    await settled
    return answers
  }

  it('A family that changes the plan keeps the last seat, in one tab or two, while others keep trying', async () => {
    const classDate = await newDate(1)
    const request = newRequest(classDate)
    await checkout(request)
    const answers = await whileContended(classDate, async () => {
      for (const plan of ['yearly', 'monthly'] as const) await checkout({ ...request, plan })
      const tabs = (['yearly', 'monthly', 'yearly'] as const).map((plan) => ask({ ...request, plan }))
      expect((await Promise.all(tabs)).map(({ status }) => status)).toEqual([200, 200, 200])
    })
    expect(answers).toEqual(new Set([409]))
    expect((await pay(await checkout(request))).status).toBe('paid')
    await bed.bus.seen(memberSeated, ({ email }) => email === request.email)
    expect(await slotsLeft(classDate)).toBe(0)
  })

  it('A family that returns after its checkout expired keeps the last seat, before any webhook says so', async () => {
    const classDate = await newDate(1)
    const request = newRequest(classDate)
    const url = await checkout(request)
    await control('webhooks/config', { paused: true })
    await control(`checkout/${new URL(url).pathname.split('/').at(-1)}/expire`)
    const answers = await whileContended(classDate, async () => {
      expect(await checkout(request)).not.toBe(url)
    })
    expect(answers).toEqual(new Set([409]))
    await control('webhooks/release')
    await simulator.deliveriesIdle()
    expect((await pay(await checkout(request))).status).toBe('paid')
    await bed.bus.seen(memberSeated, ({ email }) => email === request.email)
  })

  it('A failed change of date keeps the first seat, and its checkout can be paid', async () => {
    const [first, second] = [await newDate(1), await newDate(1)]
    const request = newRequest(first)
    const url = await checkout(request)
    const session = new URL(url).pathname.split('/').at(-1)
    await control('faults', {
      kind: 'error',
      method: 'POST',
      path: `/v1/checkout/sessions/${session}/expire`,
      times: 20,
    })
    expect((await ask({ ...request, classDate: second })).status).toBe(503)
    expect([await slotsLeft(first), await slotsLeft(second)]).toEqual([0, 1])
    expect(await ask(newRequest(first))).toMatchObject({ status: 409, body: { code: 'class_full' } })
    expect((await pay(url)).status).toBe('paid')
    await bed.bus.seen(memberSeated, ({ email }) => email === request.email)
    expect([await slotsLeft(first), await slotsLeft(second)]).toEqual([0, 1])
  })

  it('Changing the date never leaves the family without a seat', async () => {
    const [first, second] = [await newDate(1), await newDate(1)]
    const request = newRequest(first)
    await checkout(request)
    const url = await checkout({ ...request, classDate: second })
    await seated(first, 1)
    expect(await slotsLeft(second)).toBe(0)
    expect((await pay(url)).status).toBe('paid')
    await bed.bus.seen(memberSeated, ({ email, classDate }) => email === request.email && classDate === second)
    expect([await slotsLeft(first), await slotsLeft(second)]).toEqual([1, 0])
  })

  it('A membership whose seat is gone ends, is refunded once, and says so', async () => {
    const classDate = await newDate(1)
    const late = newRequest(classDate)
    const url = await checkout(late)
    // The hold has expired, and another family took the seat.
    await enrollmentSql`delete from member_holds where split_part(email_key, ' ', 1) = ${emailKey(late.email)}`
    await enrollmentSql`update class_sessions set held = 0 where date = ${classDate} and class_type = 'membership'`
    await pay(await checkout(newRequest(classDate)))
    await seated(classDate, 0)
    const before = await atProvider()
    const reference = new URL((await pay(url)).redirectUrl ?? '').searchParams.get('reference') ?? ''
    const { data } = await bed.bus.seen(membershipRefunded, ({ email }) => email === late.email)
    expect(data).toMatchObject({ reason: 'seat_gone', rejection: 'class_full', refunded: 700, refundedTotal: 700 })
    await eventually(async () => (await atProvider()).active === before.active)
    const [rejection] = bed.bus.all(memberRejected, ({ email }) => email === late.email)
    if (rejection) await bed.bus.republish(rejection)
    expect(await outcomeOf(reference)).toMatchObject({ status: 'refused', refusal: 'class_full', refunded: 700 })
    expect(await slotsLeft(classDate)).toBe(0)
    // A later event as a marker: once it is handled, so is the copy.
    const other = await newDate()
    await pay(await checkout(newRequest(other)))
    await seated(other, 9)
    expect(bed.bus.all(membershipRefunded, ({ email }) => email === late.email)).toHaveLength(1)
    // The address can book another date.
    await pay(await checkout({ ...late, classDate: other }))
    await seated(other, 8)
  })

  it('The consent is stored with its exact words, and consent to other words is rejected', async () => {
    const request = newRequest(await newDate())
    const { plans } = (await (await fetch(`${siteUrl}/api/membership-plans`)).json()) as {
      plans: { plan: string; termsVersion: string; terms: string }[]
    }
    const monthly = plans.find(({ plan }) => plan === 'monthly')
    expect(monthly?.terms).toContain('$7.00 is charged to my card today and then every month, until I cancel.')
    const consent = { version: monthly?.termsVersion, text: monthly?.terms }
    expect((await ask({ ...request, consent }, { 'user-agent': 'A browser' })).status).toBe(200)
    const kept = await billingSql`
      select consents.* from membership_consents as consents
      join membership_attempts as attempts on attempts.id = attempt_id where email = ${request.email}`
    expect(kept).toMatchObject([{ ...consent, ip_address: '127.0.0.1', user_agent: 'A browser' }])
    for (const changed of [
      { ...consent, text: `${consent.text} And more.` },
      { ...consent, version: '2020-01-01' },
    ]) {
      expect(await ask({ ...request, consent: changed })).toMatchObject({
        status: 409,
        body: { code: 'terms_changed' },
      })
    }
  })

  const setPrice = (amount: number) =>
    fetch(`${billingService.url}/admin/prices`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-secret': 'local-admin' },
      body: JSON.stringify({ sku: 'membership:monthly', amount }),
    })
  /** The terms that a page shows and sends with the consent. */
  const agreement = (amount: number, classDate: string) => ({
    consent: { version: renewalTermsVersion, text: renewalTerms('monthly', { amount, currency: 'usd' }) },
    agreed: membershipTerms({ plan: 'monthly', amount, classDate, termsVersion: renewalTermsVersion }),
  })

  it('Agreeing to the current price opens a page with that price, even if one with the old price is open', async () => {
    const classDate = await newDate(1)
    const request = newRequest(classDate)
    const first = await checkout({ ...request, ...agreement(700, classDate) })
    try {
      expect((await setPrice(900)).status).toBe(200)
      const second = await checkout({ ...request, ...agreement(900, classDate) })
      expect((await pay(first)).status).toBe('expired')
      expect((await pay(second)).status).toBe('paid')
      const { data } = await bed.bus.seen(subscriptionActivated, ({ email }) => email === request.email)
      expect(data.amount).toBe(900)
      await bed.bus.seen(memberSeated, ({ email }) => email === request.email)
    } finally {
      await setPrice(700)
    }
  })

  it.each(['the price before', 'a price that never was'])(
    'Agreeing to %s is answered with the current offer, which is then accepted',
    async (which) => {
      const classDate = await newDate(1)
      const request = newRequest(classDate)
      try {
        await setPrice(900)
        const refused = await ask({ ...request, ...agreement(which === 'the price before' ? 700 : 1, classDate) })
        expect(refused).toMatchObject({ status: 409, body: { code: 'terms_changed' } })
        const { agreement: offered } = errorBodySchema.parse(refused.body)
        expect(offered?.terms).toEqual(agreement(900, classDate).agreed)
        expect(await slotsLeft(classDate)).toBe(1)
        const url = await checkout({ ...request, ...agreement(900, classDate), agreed: offered?.terms })
        expect((await pay(url)).status).toBe('paid')
      } finally {
        await setPrice(700)
      }
    },
  )

  it('The seat stays with the open page when another date was agreed to at an outdated price', async () => {
    const [first, second] = [await newDate(1), await newDate(1)]
    const request = newRequest(first)
    const url = await checkout({ ...request, ...agreement(700, first) })
    try {
      await setPrice(900)
      const moved = { ...request, classDate: second }
      expect(await ask({ ...moved, ...agreement(700, second) })).toMatchObject({ status: 409 })
      expect([await slotsLeft(first), await slotsLeft(second)]).toEqual([0, 1])
      expect(await ask(newRequest(first))).toMatchObject({ status: 409, body: { code: 'class_full' } })
      const next = await checkout({ ...moved, ...agreement(900, second) })
      await seated(first, 1)
      expect((await pay(url)).status).toBe('expired')
      expect((await pay(next)).status).toBe('paid')
      await bed.bus.seen(memberSeated, ({ email, classDate }) => email === request.email && classDate === second)
    } finally {
      await setPrice(700)
    }
  })

  it('The response for an unknown reference says only that it is unknown', async () => {
    for (const reference of ['x', randomUUIDv7(), '../memberships']) {
      const answer = await fetch(`${siteUrl}/api/membership-checkouts/${encodeURIComponent(reference)}`)
      expect([reference, answer.status]).toEqual([reference, 404])
    }
  })

  it('Membership routes need a sign-in and our own origin', async () => {
    expect((await fetch(`${siteUrl}/api/membership`)).status).toBe(401)
    for (const path of ['cancel', 'resume', 'portal']) {
      const answer = await fetch(`${siteUrl}/api/membership/${path}`, { method: 'POST', headers: ours })
      expect([path, answer.status]).toEqual([path, 401])
      const foreign = { ...ours, origin: 'https://elsewhere.example' }
      expect((await fetch(`${siteUrl}/api/membership/${path}`, { method: 'POST', headers: foreign })).status).toBe(403)
    }
  })

  it('Bad input is answered with 400, and other sites are rejected', async () => {
    const request = newRequest(await newDate())
    for (const change of [
      { plan: 'weekly' },
      { email: 'maren' },
      { classDate: '2031-02-30' },
      { classDate: '../../x' },
    ]) {
      expect(await ask({ ...request, ...change })).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    }
    expect((await ask(null)).status).toBe(400)
    expect((await ask(request, { origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await ask(request, { 'x-api-key': 'guess' })).status).toBe(401)
  })
})
