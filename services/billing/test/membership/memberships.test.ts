import { randomUUIDv7 } from 'node:crypto'
import type { MembershipPlan } from '@robokids/contracts/auth'
import {
  foundMembershipSchema,
  membershipCheckoutSchema,
  membershipOutcomeSchema,
  membershipRefunded,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionEnded,
  type MembershipCheckout,
} from '@robokids/contracts/billing'
import { emailKey } from '@robokids/contracts/fields'
import { userDeleted, userUpdated } from '@robokids/contracts/identity'
import { memberCreditChanged } from '@robokids/contracts/member-classes'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { newEvent, outbox } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { membershipAttempts, membershipConsents, memberships } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import {
  adminHeaders,
  browserId,
  cards,
  codeOf,
  messageOf,
  sessionIdOf,
  BillingFixture,
  type Answer,
  type SimEvent,
} from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
})
afterAll(async () => {
  await fixture.close()
})

interface MembershipRequest {
  email: string
  plan: MembershipPlan
  classDate: string
  /** The signed-in account. */
  ownerId?: string | null
  familyTimeZone?: string
}
/** A new person. */
const newcomer = (differences: Partial<MembershipRequest> = {}): MembershipRequest => ({
  email: `Maren+${randomUUIDv7()}@Example.com`,
  plan: 'monthly',
  classDate: '2027-01-08',
  ...differences,
})

const ask = (request: unknown, url?: string): Promise<Answer> =>
  fixture.call('POST', '/membership-checkouts', request, {}, url)
async function checkout(request: MembershipRequest, url?: string): Promise<MembershipCheckout> {
  const answer = await ask(request, url)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutSchema.parse(answer.body)
}

const ofAddress = (email: string) => (data: { email: string }) => emailKey(data.email) === emailKey(email)
const published = (email: string) => bed.bus.all(subscriptionActivated, ofAddress(email))
const db = () => fixture.service.context.db
const attemptsOf = (email: string) =>
  db()
    .select()
    .from(membershipAttempts)
    .where(eq(membershipAttempts.emailKey, emailKey(email)))
const membershipsOf = (email: string) =>
  db()
    .select()
    .from(memberships)
    .where(eq(memberships.emailKey, emailKey(email)))

/** Stripe's objects of an address, ignoring case. */
async function atProvider(email: string) {
  const all = await fixture.stripe.checkout.sessions.list({ limit: 100 }).autoPagingToArray({ limit: 10_000 })
  const sessions = all.filter((session) => emailKey(session.customer_email ?? '') === emailKey(email))
  const bought = sessions.filter((session) => session.subscription !== null)
  const subscriptions = await Promise.all(
    bought.map((session) => fixture.stripe.subscriptions.retrieve(session.subscription as string)),
  )
  return {
    sessions,
    open: sessions.filter((session) => session.status === 'open').length,
    active: subscriptions.filter((one) => one.status === 'active').length,
    subscriptions,
    paid: bought.reduce((sum, session) => sum + (session.amount_total ?? 0), 0),
  }
}

async function joined(request = newcomer()) {
  const made = await checkout(request)
  await fixture.pay(made)
  await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
  return { request, made }
}

/** Resolves when no membership of an address is waiting to be ended. */
const ended = (email: string) =>
  eventually(async () => (await membershipsOf(email)).every(({ endRequest }) => endRequest === null), 15_000)

describe('POST /membership-checkouts', () => {
  it('opens a separate checkout for an address whose checkout was opened by another account, and leaves that closed', async () => {
    const request = newcomer()
    const theirs = await checkout({ ...request, ownerId: randomUUIDv7() })
    for (const ownerId of [null, randomUUIDv7()]) {
      const own = await checkout({ ...request, ownerId })
      expect(own.attemptId).not.toBe(theirs.attemptId)
      expect(await checkout({ ...request, ownerId })).toEqual(own)
    }
    const { open, sessions } = await atProvider(request.email)
    expect([open, sessions.length]).toEqual([1, 3])
  })

  it.each([
    ['monthly', 700, 'month'],
    ['yearly', 6_000, 'year'],
  ] as const)('opens a checkout of the %s plan for %i cents', async (plan, amount, interval) => {
    const request = newcomer({ plan })
    const made = await checkout(request)
    expect(made).toMatchObject({ amount, currency: 'usd' })
    const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf(made), { expand: ['line_items'] })
    expect(session).toMatchObject({
      mode: 'subscription',
      amount_total: amount,
      customer_email: request.email,
      client_reference_id: made.attemptId,
      success_url: `https://robokids.example/success?reference=${made.attemptId}`,
      cancel_url: 'https://robokids.example/membership/register',
    })
    expect(session.line_items?.data[0]?.price?.recurring?.interval).toBe(interval)
    expect(session.line_items?.data[0]?.description).toBe('Robo Kids Learning membership')
  })

  it('returns the open checkout to another tab, ignoring the case of the address', async () => {
    const request = newcomer()
    const second = await fixture.startSecondProcess()
    const variants = [request.email, request.email.toLowerCase(), request.email.toUpperCase(), ` ${request.email} `]
    const answers = await Promise.all(
      variants.map((email, index) =>
        checkout({ ...request, email }, index % 2 === 0 ? fixture.service.url : second.url),
      ),
    )
    answers.push(await checkout(request))
    expect(new Set(answers.map(({ checkoutUrl }) => checkoutUrl)).size).toBe(1)
    expect((await atProvider(request.email)).sessions).toHaveLength(1)
  })

  it.each([{ plan: 'yearly' }, { classDate: '2027-01-09' }] as const)(
    'closes the open checkout before it opens one with %o',
    async (change) => {
      const request = newcomer()
      const first = await checkout(request)
      const second = await checkout({ ...request, email: request.email.toUpperCase(), ...change })
      expect(second.checkoutUrl).not.toBe(first.checkoutUrl)
      expect((await fixture.pay(first)).status).toBe('expired')
      expect((await fixture.pay(second)).status).toBe('paid')
      await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
      expect(published(request.email)[0]?.data).toMatchObject({
        ...request,
        email: request.email.toUpperCase(),
        ...change,
      })
      expect(await atProvider(request.email)).toMatchObject({ open: 0, active: 1 })
    },
  )

  it('leaves one open checkout for concurrent requests with different plans', async () => {
    const request = newcomer()
    const plans = ['monthly', 'yearly', 'monthly', 'yearly'] as const
    const made = await Promise.all(plans.map((plan) => checkout({ ...request, plan })))
    expect((await atProvider(request.email)).open).toBe(1)
    const outcomes = await Promise.all(made.map((one) => fixture.pay(one)))
    expect(outcomes.map(({ status }) => status).filter((status) => status === 'paid')).toHaveLength(1)
    expect(await atProvider(request.email)).toMatchObject({ open: 0, active: 1 })
  })

  it('rejects a second membership whatever the plan, the date and the case of the address', async () => {
    const { request } = await joined()
    for (const change of [
      {},
      { plan: 'yearly' as const },
      { classDate: '2027-01-09' },
      { email: request.email.toLowerCase() },
    ]) {
      const answer = await ask({ ...request, ...change })
      expect([answer.status, codeOf(answer), messageOf(answer)]).toEqual([
        409,
        'already_member',
        'This email already has a membership. Please log in to see it.',
      ])
    }
    expect(await atProvider(request.email)).toMatchObject({ open: 0, active: 1, paid: 700 })
  })

  it('notices a payment in another tab before its webhook arrives', async () => {
    const request = newcomer()
    await fixture.webhooks({ dropped: true })
    await fixture.pay(await checkout(request))
    const answer = await ask({ ...request, plan: 'yearly' })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
    expect((await bed.bus.seen(subscriptionActivated, ofAddress(request.email))).data.plan).toBe('monthly')
    expect(await atProvider(request.email)).toMatchObject({ active: 1, paid: 700 })
  })

  it('answers that nothing is left to pay while a payment is processing', async () => {
    const request = newcomer()
    await checkout(request)
    await db()
      .update(membershipAttempts)
      .set({ status: 'processing' })
      .where(eq(membershipAttempts.emailKey, emailKey(request.email)))
    const answer = await ask({ ...request, plan: 'yearly' })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
    expect(messageOf(answer)).toContain('being processed')
  })

  it('opens a new checkout after the first has expired', async () => {
    const request = newcomer()
    const first = await checkout(request)
    await fixture.webhooks({ dropped: true })
    await fixture.sim('POST', `/checkout/${sessionIdOf(first)}/expire`)
    const second = await checkout(request)
    expect(second.attemptId).not.toBe(first.attemptId)
    expect((await attemptsOf(request.email)).map(({ status }) => status).toSorted()).toEqual(['expired', 'open'])
  })

  it('keeps the agreed price of an open membership checkout and charges the new price in the next one', async () => {
    const request = newcomer({ plan: 'yearly' })
    const first = await checkout(request)
    const set = (amount: number) =>
      fixture.call('POST', '/admin/prices', { sku: 'membership:yearly', amount }, adminHeaders)
    expect((await set(6_600)).status).toBe(200)
    try {
      expect((await checkout(request)).amount).toBe(6_000)
      expect((await checkout(newcomer({ plan: 'yearly' }))).amount).toBe(6_600)
    } finally {
      await set(6_000)
    }
    await fixture.pay(first)
    expect((await bed.bus.seen(subscriptionActivated, ofAddress(request.email))).data.amount).toBe(6_000)
  })

  it('creates one session although Stripe’s response was lost or Stripe was unavailable', async () => {
    const request = newcomer()
    await fixture.fault({ kind: 'reset', method: 'POST', times: 3 })
    const away = await ask(request)
    expect(away.status).toBe(503)
    expect((await attemptsOf(request.email)).map(({ status }) => status)).toEqual(['creating'])
    const made = await checkout(request)
    expect((await atProvider(request.email)).sessions.map(({ id }) => id)).toEqual([sessionIdOf(made)])
  })

  it('closes an attempt left over from a crash when another plan is requested', async () => {
    const request = newcomer()
    await fixture.fault({ kind: 'reset', method: 'POST', times: 3 })
    expect((await ask(request)).status).toBe(503)
    await checkout({ ...request, plan: 'yearly' })
    const { sessions, open } = await atProvider(request.email)
    expect([sessions.length, open]).toEqual([2, 1])
  })

  it('accepts a former member again', async () => {
    const { request } = await joined()
    const [membership] = await membershipsOf(request.email)
    await fixture.stripe.customers.del(membership?.stripeCustomerId ?? '')
    const again = await checkout({ ...request, plan: 'yearly' })
    await fixture.pay(again)
    await eventually(() => published(request.email).length === 2)
    expect((await membershipsOf(request.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'ended'])
    expect((await ask(request)).status).toBe(409)
  })

  it('accepts an email whose Stripe customer was deleted', async () => {
    const request = newcomer()
    const { id } = await fixture.stripe.customers.create({ email: request.email })
    await fixture.stripe.customers.del(id)
    expect((await fixture.pay(await checkout(request))).status).toBe('paid')
  })

  it('answers 400 to invalid requests', async () => {
    const request = newcomer()
    const wrong: [Record<string, unknown>, string][] = [
      [{ plan: 'weekly' }, 'plan'],
      [{ plan: undefined }, 'plan'],
      [{ email: 'maren' }, 'email'],
      [{ email: null }, 'email'],
      [{ classDate: '2027-02-30' }, 'classDate'],
      [{ classDate: 'tomorrow' }, 'classDate'],
    ]
    for (const [change, path] of wrong) {
      const answer = await ask({ ...request, ...change })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
      expect(answer.body).toMatchObject({ issues: [{ path }] })
    }
    for (const body of ['[]', 'null', '{', '"x"']) expect((await ask(body)).status).toBe(400)
  })

  it('retries under another idempotency key after a rejection', async () => {
    const request = newcomer()
    await fixture.fault({ kind: 'error', method: 'POST', status: 400 })
    expect((await ask(request)).status).toBe(503)
    const made = await checkout(request)
    expect((await attemptsOf(request.email)).map(({ status }) => status).toSorted()).toEqual(['failed', 'open'])
    expect((await fixture.pay(made)).status).toBe('paid')
  })
})

describe('concurrent requests for one address', () => {
  it('wait for each other in a short queue, and not for a disconnected client', async () => {
    const slow = await BillingFixture.startIsolated({ simulator: { sessionCreateDelayMs: 1_500 } })
    const request = newcomer()
    const post = (one: MembershipRequest) => slow.call('POST', '/membership-checkouts', one)
    const first = post(request)
    await eventually(async () => (await slow.service.context.db.$count(membershipAttempts)) === 1)
    // On its turn, it would close the first one's checkout.
    const leaving = new AbortController()
    const gone = fetch(`${slow.service.url}/membership-checkouts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, plan: 'yearly', browserId }),
      signal: leaving.signal,
    })
    const second = post(request)
    const others = Array.from({ length: 5 }, () => post(request))
    // Requests beyond the limit are rejected immediately.
    await Promise.race(others)
    leaving.abort()
    await expect(gone).rejects.toThrow('abort')
    const refused = (await Promise.all(others)).filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThanOrEqual(3)
    expect(messageOf(refused[0]!)).toBe('Your checkout is already opening. Please try again in a moment.')
    expect((await first).status).toBe(200)
    expect((await second).body).toEqual((await first).body)
    expect(await slow.stripe.checkout.sessions.list({ limit: 100 })).toMatchObject({ data: { length: 1 } })
    await slow.close()
  })

  it('are answered although Stripe delays the one before', { timeout: 40_000 }, async () => {
    const silent = await BillingFixture.startIsolated({
      env: { STRIPE_TIMEOUT_MS: '6000' },
      simulator: { sessionCreateDelayMs: 60_000 },
    })
    const request = newcomer()
    const begun = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => silent.call('POST', '/membership-checkouts', request)),
    )
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    // In sequence they would take three times as long as the first.
    expect(performance.now() - begun).toBeLessThan(25_000)
    await silent.close()
  })
})

describe('the terms of a membership', () => {
  const consentsOf = async (email: string) => {
    const attempts = await attemptsOf(email)
    return db()
      .select()
      .from(membershipConsents)
      .where(
        inArray(
          membershipConsents.attemptId,
          attempts.map(({ id }) => id),
        ),
      )
  }

  it('are agreed to on the payment page if not before, and the consent is recorded once', async () => {
    const request = newcomer()
    const made = await checkout(request)
    const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf(made))
    const terms = renewalTerms('monthly', { amount: 700, currency: 'usd' })
    expect(session.consent_collection?.terms_of_service).toBe('required')
    expect(session.custom_text.terms_of_service_acceptance?.message).toBe(terms)
    const body = { card: cards.good, terms: false }
    expect(await fixture.sim('POST', `/checkout/${session.id}/pay`, body)).toMatchObject({
      status: 'invalid',
      field: 'terms',
    })
    expect(await consentsOf(request.email)).toEqual([])
    await fixture.pay(made)
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    await fixture.deliver(fixture.event('checkout.session.completed', session.id))
    expect(await consentsOf(request.email)).toMatchObject([
      { text: terms, version: renewalTermsVersion, stripeSessionId: session.id, ipAddress: null, userAgent: null },
    ])
  })

  it('are not requested again after a consent', async () => {
    const request = newcomer()
    const text = renewalTerms('monthly', { amount: 700, currency: 'usd' })
    const consent = { version: renewalTermsVersion, text, ipAddress: '198.51.100.7', userAgent: 'A browser' }
    const made = membershipCheckoutSchema.parse((await ask({ ...request, consent })).body)
    const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf(made))
    expect(session.consent_collection).toBeNull()
    await fixture.pay(made)
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    expect(await consentsOf(request.email)).toMatchObject([{ ...consent, stripeSessionId: null }])
  })
})

describe('a paid membership', () => {
  it('is active and published once', async () => {
    const { request, made } = await joined(newcomer({ familyTimeZone: 'America/New_York' }))
    const [event] = published(request.email)
    const { sessions, subscriptions } = await atProvider(request.email)
    expect(event?.subject).toBe(made.attemptId)
    expect(event?.data).toEqual({
      attemptId: made.attemptId,
      ...request,
      subscriptionId: subscriptions[0]?.id,
      customerId: sessions[0]?.customer,
      ownerId: null,
      amount: 700,
      currency: 'usd',
      activatedAt: Temporal.Instant.fromEpochMilliseconds((subscriptions[0]?.start_date ?? 0) * 1000).toString(),
      receiptNumber: expect.stringMatching(/^RK-\d{6}$/),
      renewsAt: Temporal.Instant.fromEpochMilliseconds(
        (subscriptions[0]?.items.data[0]?.current_period_end ?? 0) * 1000,
      ).toString(),
    })
    expect(subscriptions[0]?.metadata).toEqual({ attemptId: made.attemptId })
    expect(await membershipsOf(request.email)).toMatchObject([{ status: 'active', plan: 'monthly', amount: 700 }])
  })

  it('is published once under duplicated, reordered and repeated webhooks', async () => {
    const request = newcomer()
    const made = await checkout(request)
    await fixture.webhooks({ paused: true, duplicate: 2, reverse: true })
    await fixture.pay(made)
    await fixture.release()
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
    for (const { id } of events.slice(-11)) await fixture.sim('POST', `/events/${id}/resend`)
    for (const thin of [false, true]) {
      const late = fixture.event('checkout.session.completed', sessionIdOf(made))
      const answer = await fixture.deliver(
        thin
          ? {
              id: `evt_${randomUUIDv7()}`,
              object: 'v2.core.event',
              type: 'v1.checkout.session.completed',
              livemode: false,
              related_object: { id: sessionIdOf(made) },
            }
          : late,
      )
      expect(answer).toMatchObject({ status: 200, body: { received: 'handled' } })
    }
    await fixture.simulator.deliveriesIdle()
    expect(await membershipsOf(request.email)).toHaveLength(1)
    expect(published(request.email)).toHaveLength(1)
    expect((await attemptsOf(request.email)).map(({ status }) => status)).toEqual(['paid'])
  })

  it('that ended before its first webhook is published as started and then as ended', async () => {
    const request = newcomer()
    const made = await checkout(request)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(made)
    const [subscription] = (await atProvider(request.email)).subscriptions
    await fixture.stripe.subscriptions.cancel(subscription?.id ?? '')
    // Enrollment will never publish a seat.
    const { receiptNumber } = await eventually(async () => {
      const { body } = await fixture.call('POST', `/membership-checkouts/${made.attemptId}/refresh`)
      const outcome = membershipOutcomeSchema.parse(body)
      return outcome.status === 'confirmed' && outcome
    })
    const events = await db()
      .select({ type: outbox.type })
      .from(outbox)
      .where(sql`${outbox.envelope} ->> 'subject' = ${made.attemptId}`)
      .orderBy(asc(outbox.position))
    expect(events.map(({ type }) => type)).toEqual([
      subscriptionActivated.type,
      memberCreditChanged.type,
      subscriptionEnded.type,
    ])
    const { data } = await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    expect(data.receiptNumber).toBe(receiptNumber)
  })

  it('stays paid when a late expiry webhook arrives', async () => {
    const { request, made } = await joined()
    await fixture.deliver(fixture.event('checkout.session.expired', sessionIdOf(made)))
    expect((await attemptsOf(request.email)).map(({ status }) => status)).toEqual(['paid'])
  })

  it('is active after a decline and another card', async () => {
    const request = newcomer()
    const made = await checkout(request)
    expect((await fixture.pay(made, cards.declined)).status).toBe('declined')
    expect((await checkout(request)).checkoutUrl).toBe(made.checkoutUrl)
    expect((await fixture.pay(made)).status).toBe('paid')
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
  })

  it('is recorded by reconciliation without a webhook, as is an expired checkout', async () => {
    const apart = await BillingFixture.startIsolated({ env: { RECONCILE_EVERY_MS: '100' } })
    try {
      await apart.webhooks({ dropped: true })
      const open = async (request: MembershipRequest) =>
        membershipCheckoutSchema.parse((await apart.call('POST', '/membership-checkouts', request)).body)
      const [paid, left] = [await open(newcomer()), await open(newcomer())]
      await apart.pay(paid)
      await apart.sim('POST', `/checkout/${sessionIdOf(left)}/expire`)
      await apart.bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === paid.attemptId)
      await eventually(async () => {
        const rows = await apart.service.context.db.select().from(membershipAttempts)
        return rows.find(({ id }) => id === left.attemptId)?.status === 'expired'
      })
    } finally {
      await apart.close()
    }
  })

  it('does not start and is refunded if another amount was paid', async () => {
    const request = newcomer()
    const made = await checkout(request)
    await db().update(membershipAttempts).set({ amount: 600 }).where(eq(membershipAttempts.id, made.attemptId))
    await fixture.pay(made)
    const { data } = await bed.bus.seen(membershipRefunded, ofAddress(request.email))
    expect(data).toMatchObject({ reason: 'amount_mismatch', refunded: 700, refundedTotal: 700, paidAmount: 700 })
    await ended(request.email)
    expect((await attemptsOf(request.email)).map(({ status }) => status)).toEqual(['failed'])
    expect(await membershipsOf(request.email)).toMatchObject([{ status: 'mismatch', subscriptionStatus: 'canceled' }])
    expect(published(request.email)).toEqual([])
    expect(await atProvider(request.email)).toMatchObject({ active: 0 })
  })

  it('ends and is refunded once if the address has one already', async () => {
    const request = newcomer()
    const hidden = await checkout(request)
    // As if it had never been recorded.
    await db().update(membershipAttempts).set({ status: 'failed' }).where(eq(membershipAttempts.id, hidden.attemptId))
    await fixture.pay(await checkout(request))
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    await fixture.pay(hidden)
    const { data } = await bed.bus.seen(membershipRefunded, ofAddress(request.email))
    expect(data).toMatchObject({ attemptId: hidden.attemptId, reason: 'duplicate', refunded: 700 })
    await ended(request.email)
    expect((await membershipsOf(request.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'duplicate'])
    expect(published(request.email)).toHaveLength(1)
    // Events of the ended one do not affect the other.
    const [duplicate] = (await membershipsOf(request.email)).filter(({ status }) => status === 'duplicate')
    const late = fixture.event('customer.subscription.deleted', duplicate?.stripeSubscriptionId ?? '')
    expect((await fixture.deliver(late)).status).toBe(200)
    expect((await membershipsOf(request.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'duplicate'])
    expect(await atProvider(request.email)).toMatchObject({ active: 1 })
    expect((await fixture.call('GET', `/membership-checkouts/${hidden.attemptId}`)).body).toMatchObject({
      status: 'refused',
      refusal: 'duplicate',
      refunded: 700,
    })
  })
})

describe('a webhook of a subscription', () => {
  it('does not affect the membership if it is of another subscription of the same customer', async () => {
    const { request } = await joined()
    const [membership] = await membershipsOf(request.email)
    const customer = membership?.stripeCustomerId ?? ''
    const own = await fixture.stripe.subscriptions.retrieve(membership?.stripeSubscriptionId ?? '')
    const price = own.items.data[0]?.price
    const second = await fixture.stripe.subscriptions.create({
      customer,
      default_payment_method: idOf(own.default_payment_method) ?? '',
      // A price created inline by Checkout is for that purchase only.
      items: [
        {
          price_data: {
            currency: 'usd',
            product: price?.product as string,
            recurring: { interval: 'month' },
            unit_amount: price?.unit_amount ?? 0,
          },
        },
      ],
      // As in a copy made by hand.
      metadata: own.metadata,
    })
    await fixture.stripe.subscriptions.cancel(second.id)
    await fixture.simulator.deliveriesIdle()
    expect((await fixture.deliver(fixture.event('customer.subscription.deleted', second.id))).status).toBe(200)
    expect((await fixture.deliver(fixture.event('customer.updated', customer))).status).toBe(200)
    expect(await membershipsOf(request.email)).toMatchObject([
      { status: 'active', stripeSubscriptionId: own.id, cancelAt: null, endedAt: null },
    ])
    const of = ofAddress(request.email)
    expect([bed.bus.all(subscriptionCancelled, of), bed.bus.all(subscriptionEnded, of)]).toEqual([[], []])
  })

  it('is answered 2xx and ignored if the subscription is unknown', async () => {
    const { request } = await joined()
    const [membership] = await membershipsOf(request.email)
    for (const [type, objectId] of [
      ['invoice.paid', 'in_1'],
      ['invoice.payment_failed', 'in_1'],
      ['customer.subscription.updated', 'sub_1'],
      ['customer.subscription.brand_new', membership?.stripeSubscriptionId ?? ''],
    ] as const) {
      const answer = await fixture.deliver(fixture.event(type, objectId))
      expect(answer).toEqual({ status: 200, body: { received: 'ignored' } })
    }
    const stranger = await fixture.stripe.checkout.sessions.create({
      mode: 'subscription',
      success_url: 'https://elsewhere.example',
      metadata: { attemptId: 'not one of ours' },
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: 900,
            recurring: { interval: 'week' },
            product_data: { name: 'Something else' },
          },
        },
      ],
    })
    await fixture.pay({ checkoutUrl: stranger.url })
    const answer = await fixture.deliver(fixture.event('checkout.session.completed', stranger.id))
    expect(answer.status).toBe(200)
    expect(await membershipsOf(request.email)).toMatchObject([{ status: 'active' }])
  })
})

describe('the account of a member', () => {
  it('moves the membership to the last verified address under duplicated and reordered events', async () => {
    const start = Temporal.Now.instant()
    for (const { keys, copies } of fc.sample(
      fc.record({ keys: fc.infiniteStream(fc.nat()), copies: fc.integer({ min: 1, max: 3 }) }),
      15,
    )) {
      const { request } = await joined()
      const userId = randomUUIDv7()
      await fixture.call('POST', '/memberships/find', { userId, email: request.email })
      // Back and forth: an older change can be to the membership's current address.
      const [second, third] = [newcomer().email, newcomer().email]
      const changes = [second, request.email, third, second, third].map((email, index) => ({
        ...newEvent(userUpdated, userId, {
          poolId: 'us-west-1_RoboKids',
          userId,
          username: 'user_1',
          email,
          emailVerified: true,
          givenName: 'Maren',
          changed: ['email_verified'],
          previousEmail: null,
        }),
        time: start.add({ seconds: index }).toString({ fractionalSecondDigits: 3 }),
      }))
      const deliveryOrders = Array.from({ length: copies }, () => changes)
        .flat()
        .map((event) => ({ event, key: keys.next().value as number }))
        .toSorted((a, b) => a.key - b.key)
      await Promise.all(deliveryOrders.map(({ event }) => bed.bus.republish(event)))
      await eventually(async () => {
        const { rows } = await db().execute(sql`
          select from inbox where event_id in ${changes.map(({ id }) => id)}`)
        return rows.length === changes.length
      })
      expect((await membershipsOf(third)).map(({ email }) => email)).toEqual([third])
    }
  })

  it('can be deleted: the membership ends with the paid period, and until then can be claimed by a new account of that address', async () => {
    const request = newcomer()
    await fixture.pay(await checkout(request))
    await bed.bus.seen(subscriptionActivated, ofAddress(request.email))
    const find = async (userId: string) => {
      const { body } = await fixture.call('POST', '/memberships/find', { userId, email: request.email })
      return foundMembershipSchema.parse(body).membership
    }
    const [first, second] = [randomUUIDv7(), randomUUIDv7()]
    expect(await find(first)).toMatchObject({ status: 'active', endsAt: null })
    expect(await find(second)).toBeNull()
    await bed.bus.publish(userDeleted, first, {
      poolId: 'us-west-1_RoboKids',
      userId: first,
      username: 'user_1',
      email: request.email,
      emailVerified: true,
      givenName: 'Maren',
    })
    const left = await eventually(async () => {
      const found = await find(second)
      return found?.endsAt && found
    })
    expect(left).toMatchObject({ status: 'active' })
    expect(await find(first)).toBeNull()
  })

  it('can be deleted if Stripe no longer has the subscription: the membership has ended', async () => {
    const { request } = await joined()
    const userId = randomUUIDv7()
    await fixture.call('POST', '/memberships/find', { userId, email: request.email })
    await db()
      .update(memberships)
      .set({ stripeSubscriptionId: `sub_${randomUUIDv7()}` })
      .where(eq(memberships.emailKey, emailKey(request.email)))
    await bed.bus.publish(userDeleted, userId, {
      poolId: 'us-west-1_RoboKids',
      userId,
      username: 'user_1',
      email: request.email,
      emailVerified: true,
      givenName: 'Maren',
    })
    await bed.bus.seen(subscriptionEnded, ofAddress(request.email))
    expect(await membershipsOf(request.email)).toMatchObject([{ status: 'ended', endRequest: null }])
  })
})
