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
  Till,
  type Answer,
  type SimEvent,
} from '../till.ts'

let bed: TestBed
let till: Till
beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
  await till.webhooks({})
})
afterAll(async () => {
  await till.close()
})

interface Wish {
  email: string
  plan: MembershipPlan
  classDate: string
  /** Who is signed in. */
  ownerId?: string | null
  familyTimeZone?: string
}
/** Somebody whom nobody has seen before. */
const newcomer = (differences: Partial<Wish> = {}): Wish => ({
  email: `Maren+${randomUUIDv7()}@Example.com`,
  plan: 'monthly',
  classDate: '2027-01-08',
  ...differences,
})

const ask = (wish: unknown, url?: string): Promise<Answer> => till.call('POST', '/membership-checkouts', wish, {}, url)
async function checkout(wish: Wish, url?: string): Promise<MembershipCheckout> {
  const answer = await ask(wish, url)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutSchema.parse(answer.body)
}

const ofAddress = (email: string) => (data: { email: string }) => emailKey(data.email) === emailKey(email)
const told = (email: string) => bed.bus.all(subscriptionActivated, ofAddress(email))
const db = () => till.service.context.db
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

/** What there is of an address at the provider, whatever the case of its letters. */
async function atProvider(email: string) {
  const all = await till.stripe.checkout.sessions.list({ limit: 100 }).autoPagingToArray({ limit: 10_000 })
  const sessions = all.filter((session) => emailKey(session.customer_email ?? '') === emailKey(email))
  const bought = sessions.filter((session) => session.subscription !== null)
  const subscriptions = await Promise.all(
    bought.map((session) => till.stripe.subscriptions.retrieve(session.subscription as string)),
  )
  return {
    sessions,
    open: sessions.filter((session) => session.status === 'open').length,
    active: subscriptions.filter((one) => one.status === 'active').length,
    subscriptions,
    paid: bought.reduce((sum, session) => sum + (session.amount_total ?? 0), 0),
  }
}

async function joined(wish = newcomer()) {
  const made = await checkout(wish)
  await till.pay(made)
  await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
  return { wish, made }
}

/** Resolves when nothing of an address waits to be ended any more. */
const ended = (email: string) =>
  eventually(async () => (await membershipsOf(email)).every(({ endRequest }) => endRequest === null), 15_000)

describe('POST /membership-checkouts', () => {
  it('is opened anew for whoever asks for an address for which another account has one open, and that is closed', async () => {
    const wish = newcomer()
    const theirs = await checkout({ ...wish, ownerId: randomUUIDv7() })
    for (const ownerId of [null, randomUUIDv7()]) {
      const own = await checkout({ ...wish, ownerId })
      expect(own.attemptId).not.toBe(theirs.attemptId)
      expect(await checkout({ ...wish, ownerId })).toEqual(own)
    }
    const { open, sessions } = await atProvider(wish.email)
    expect([open, sessions.length]).toEqual([1, 3])
  })

  it.each([
    ['monthly', 700, 'month'],
    ['yearly', 6_000, 'year'],
  ] as const)('opens a checkout of the %s plan for %i cents', async (plan, amount, interval) => {
    const wish = newcomer({ plan })
    const made = await checkout(wish)
    expect(made).toMatchObject({ amount, currency: 'usd' })
    const session = await till.stripe.checkout.sessions.retrieve(sessionIdOf(made), { expand: ['line_items'] })
    expect(session).toMatchObject({
      mode: 'subscription',
      amount_total: amount,
      customer_email: wish.email,
      client_reference_id: made.attemptId,
      success_url: `https://robokids.example/success?reference=${made.attemptId}`,
      cancel_url: 'https://robokids.example/membership/register',
    })
    expect(session.line_items?.data[0]?.price?.recurring?.interval).toBe(interval)
    expect(session.line_items?.data[0]?.description).toBe('Robo Kids Learning membership')
  })

  it('answers the open one to another tab, at once or later, in whatever case the address is typed', async () => {
    const wish = newcomer()
    const second = await till.another()
    const variants = [wish.email, wish.email.toLowerCase(), wish.email.toUpperCase(), ` ${wish.email} `]
    const answers = await Promise.all(
      variants.map((email, index) => checkout({ ...wish, email }, index % 2 === 0 ? till.service.url : second.url)),
    )
    answers.push(await checkout(wish))
    expect(new Set(answers.map(({ checkoutUrl }) => checkoutUrl)).size).toBe(1)
    expect((await atProvider(wish.email)).sessions).toHaveLength(1)
  })

  it.each([{ plan: 'yearly' }, { classDate: '2027-01-09' }] as const)(
    'closes the open one before it opens one with %o',
    async (change) => {
      const wish = newcomer()
      const first = await checkout(wish)
      const second = await checkout({ ...wish, email: wish.email.toUpperCase(), ...change })
      expect(second.checkoutUrl).not.toBe(first.checkoutUrl)
      expect((await till.pay(first)).status).toBe('expired')
      expect((await till.pay(second)).status).toBe('paid')
      await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
      expect(told(wish.email)[0]?.data).toMatchObject({ ...wish, email: wish.email.toUpperCase(), ...change })
      expect(await atProvider(wish.email)).toMatchObject({ open: 0, active: 1 })
    },
  )

  it('leaves one that can be paid where tabs with different plans press at once', async () => {
    const wish = newcomer()
    const plans = ['monthly', 'yearly', 'monthly', 'yearly'] as const
    const made = await Promise.all(plans.map((plan) => checkout({ ...wish, plan })))
    expect((await atProvider(wish.email)).open).toBe(1)
    const outcomes = await Promise.all(made.map((one) => till.pay(one)))
    expect(outcomes.map(({ status }) => status).filter((status) => status === 'paid')).toHaveLength(1)
    expect(await atProvider(wish.email)).toMatchObject({ open: 0, active: 1 })
  })

  it('refuses a second membership, in words, whatever the plan, the date and the case', async () => {
    const { wish } = await joined()
    for (const change of [
      {},
      { plan: 'yearly' as const },
      { classDate: '2027-01-09' },
      { email: wish.email.toLowerCase() },
    ]) {
      const answer = await ask({ ...wish, ...change })
      expect([answer.status, codeOf(answer), messageOf(answer)]).toEqual([
        409,
        'already_member',
        'This email already has a membership. Please log in to see it.',
      ])
    }
    expect(await atProvider(wish.email)).toMatchObject({ open: 0, active: 1, paid: 700 })
  })

  it('notices what was paid a moment ago in another tab, before any webhook tells', async () => {
    const wish = newcomer()
    await till.webhooks({ dropped: true })
    await till.pay(await checkout(wish))
    const answer = await ask({ ...wish, plan: 'yearly' })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
    expect((await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))).data.plan).toBe('monthly')
    expect(await atProvider(wish.email)).toMatchObject({ active: 1, paid: 700 })
  })

  it('says that nothing is left to pay while a payment is being processed', async () => {
    const wish = newcomer()
    await checkout(wish)
    await db()
      .update(membershipAttempts)
      .set({ status: 'processing' })
      .where(eq(membershipAttempts.emailKey, emailKey(wish.email)))
    const answer = await ask({ ...wish, plan: 'yearly' })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
    expect(messageOf(answer)).toContain('being processed')
  })

  it('opens another one after the first has expired', async () => {
    const wish = newcomer()
    const first = await checkout(wish)
    await till.webhooks({ dropped: true })
    await till.sim('POST', `/checkout/${sessionIdOf(first)}/expire`)
    const second = await checkout(wish)
    expect(second.attemptId).not.toBe(first.attemptId)
    expect((await attemptsOf(wish.email)).map(({ status }) => status).toSorted()).toEqual(['expired', 'open'])
  })

  it('keeps what was agreed for an open one, and asks the new price for the next', async () => {
    const wish = newcomer({ plan: 'yearly' })
    const first = await checkout(wish)
    const set = (amount: number) =>
      till.call('POST', '/admin/prices', { sku: 'membership:yearly', amount }, adminHeaders)
    expect((await set(6_600)).status).toBe(200)
    try {
      expect((await checkout(wish)).amount).toBe(6_000)
      expect((await checkout(newcomer({ plan: 'yearly' }))).amount).toBe(6_600)
    } finally {
      await set(6_000)
    }
    await till.pay(first)
    expect((await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))).data.amount).toBe(6_000)
  })

  it('makes one session where the provider’s answer was lost, or it was away', async () => {
    const wish = newcomer()
    await till.fault({ kind: 'reset', method: 'POST', times: 3 })
    const away = await ask(wish)
    expect(away.status).toBe(503)
    expect((await attemptsOf(wish.email)).map(({ status }) => status)).toEqual(['creating'])
    const made = await checkout(wish)
    expect((await atProvider(wish.email)).sessions.map(({ id }) => id)).toEqual([sessionIdOf(made)])
  })

  it('closes, for another plan, what a crash left half made', async () => {
    const wish = newcomer()
    await till.fault({ kind: 'reset', method: 'POST', times: 3 })
    expect((await ask(wish)).status).toBe(503)
    await checkout({ ...wish, plan: 'yearly' })
    const { sessions, open } = await atProvider(wish.email)
    expect([sessions.length, open]).toEqual([2, 1])
  })

  it('lets somebody join again whose membership is over', async () => {
    const { wish } = await joined()
    const [membership] = await membershipsOf(wish.email)
    await till.stripe.customers.del(membership?.stripeCustomerId ?? '')
    const again = await checkout({ ...wish, plan: 'yearly' })
    await till.pay(again)
    await eventually(() => told(wish.email).length === 2)
    expect((await membershipsOf(wish.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'ended'])
    expect((await ask(wish)).status).toBe(409)
  })

  it('sells to somebody whose customer was deleted at the provider', async () => {
    const wish = newcomer()
    const { id } = await till.stripe.customers.create({ email: wish.email })
    await till.stripe.customers.del(id)
    expect((await till.pay(await checkout(wish))).status).toBe('paid')
  })

  it('answers 400 to what it cannot read', async () => {
    const wish = newcomer()
    const wrong: [Record<string, unknown>, string][] = [
      [{ plan: 'weekly' }, 'plan'],
      [{ plan: undefined }, 'plan'],
      [{ email: 'maren' }, 'email'],
      [{ email: null }, 'email'],
      [{ classDate: '2027-02-30' }, 'classDate'],
      [{ classDate: 'tomorrow' }, 'classDate'],
    ]
    for (const [change, path] of wrong) {
      const answer = await ask({ ...wish, ...change })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
      expect(answer.body).toMatchObject({ issues: [{ path }] })
    }
    for (const body of ['[]', 'null', '{', '"x"']) expect((await ask(body)).status).toBe(400)
  })

  it('tries anew, under another key, what the provider has refused', async () => {
    const wish = newcomer()
    await till.fault({ kind: 'error', method: 'POST', status: 400 })
    expect((await ask(wish)).status).toBe(503)
    const made = await checkout(wish)
    expect((await attemptsOf(wish.email)).map(({ status }) => status).toSorted()).toEqual(['failed', 'open'])
    expect((await till.pay(made)).status).toBe('paid')
  })
})

describe('requests for one address', () => {
  it('wait for each other, but neither in a long line nor for somebody who has left', async () => {
    const slow = await Till.apart({ simulator: { sessionCreateDelayMs: 1_500 } })
    const wish = newcomer()
    const post = (one: Wish) => slow.call('POST', '/membership-checkouts', one)
    const first = post(wish)
    await eventually(async () => (await slow.service.context.db.$count(membershipAttempts)) === 1)
    // Whose turn would be to close the first one's checkout.
    const leaving = new AbortController()
    const gone = fetch(`${slow.service.url}/membership-checkouts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...wish, plan: 'yearly', browserId }),
      signal: leaving.signal,
    })
    const second = post(wish)
    const others = Array.from({ length: 5 }, () => post(wish))
    // Those who are refused hear so at once.
    await Promise.race(others)
    leaving.abort()
    await expect(gone).rejects.toThrow('abort')
    const refused = (await Promise.all(others)).filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThanOrEqual(3)
    expect(messageOf(refused[0]!)).toBe('Your checkout is being opened already. Please try again in a moment.')
    expect((await first).status).toBe(200)
    expect((await second).body).toEqual((await first).body)
    expect(await slow.stripe.checkout.sessions.list({ limit: 100 })).toMatchObject({ data: { length: 1 } })
    await slow.close()
  })

  it('are answered where the one before them is held up by the provider', { timeout: 40_000 }, async () => {
    const silent = await Till.apart({ env: { STRIPE_TIMEOUT_MS: '6000' }, simulator: { sessionCreateDelayMs: 60_000 } })
    const wish = newcomer()
    const begun = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => silent.call('POST', '/membership-checkouts', wish)),
    )
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    // One after the other they would take three times as long as the first.
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

  it('are agreed to on the payment page where they were not before: nobody pays without, and it is kept once', async () => {
    const wish = newcomer()
    const made = await checkout(wish)
    const session = await till.stripe.checkout.sessions.retrieve(sessionIdOf(made))
    const terms = renewalTerms('monthly', { amount: 700, currency: 'usd' })
    expect(session.consent_collection?.terms_of_service).toBe('required')
    expect(session.custom_text.terms_of_service_acceptance?.message).toBe(terms)
    const body = { card: cards.good, terms: false }
    expect(await till.sim('POST', `/checkout/${session.id}/pay`, body)).toMatchObject({
      status: 'invalid',
      field: 'terms',
    })
    expect(await consentsOf(wish.email)).toEqual([])
    await till.pay(made)
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    await till.deliver(till.event('checkout.session.completed', session.id))
    expect(await consentsOf(wish.email)).toMatchObject([
      { text: terms, version: renewalTermsVersion, stripeSessionId: session.id, ipAddress: null, userAgent: null },
    ])
  })

  it('are not asked for again of somebody who agreed to them before', async () => {
    const wish = newcomer()
    const text = renewalTerms('monthly', { amount: 700, currency: 'usd' })
    const consent = { version: renewalTermsVersion, text, ipAddress: '198.51.100.7', userAgent: 'A browser' }
    const made = membershipCheckoutSchema.parse((await ask({ ...wish, consent })).body)
    const session = await till.stripe.checkout.sessions.retrieve(sessionIdOf(made))
    expect(session.consent_collection).toBeNull()
    await till.pay(made)
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    expect(await consentsOf(wish.email)).toMatchObject([{ ...consent, stripeSessionId: null }])
  })
})

describe('a membership that is paid', () => {
  it('is active, and told of once', async () => {
    const { wish, made } = await joined(newcomer({ familyTimeZone: 'America/New_York' }))
    const [event] = told(wish.email)
    const { sessions, subscriptions } = await atProvider(wish.email)
    expect(event?.subject).toBe(made.attemptId)
    expect(event?.data).toEqual({
      attemptId: made.attemptId,
      ...wish,
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
    expect(await membershipsOf(wish.email)).toMatchObject([{ status: 'active', plan: 'monthly', amount: 700 }])
  })

  it('is one where every notice comes twice, in reverse order, and is sent again later', async () => {
    const wish = newcomer()
    const made = await checkout(wish)
    await till.webhooks({ paused: true, duplicate: 2, reverse: true })
    await till.pay(made)
    await till.release()
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    const { events } = (await till.sim('GET', '/events')) as { events: SimEvent[] }
    for (const { id } of events.slice(-11)) await till.sim('POST', `/events/${id}/resend`)
    for (const thin of [false, true]) {
      const late = till.event('checkout.session.completed', sessionIdOf(made))
      const answer = await till.deliver(
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
    await till.simulator.deliveriesIdle()
    expect(await membershipsOf(wish.email)).toHaveLength(1)
    expect(told(wish.email)).toHaveLength(1)
    expect((await attemptsOf(wish.email)).map(({ status }) => status)).toEqual(['paid'])
  })

  it('that had ended before anybody heard of it begins before it ends, in what is told', async () => {
    const wish = newcomer()
    const made = await checkout(wish)
    await till.webhooks({ dropped: true })
    await till.pay(made)
    const [subscription] = (await atProvider(wish.email)).subscriptions
    await till.stripe.subscriptions.cancel(subscription?.id ?? '')
    // Enrollment will never tell of a seat.
    const { receiptNumber } = await eventually(async () => {
      const { body } = await till.call('POST', `/membership-checkouts/${made.attemptId}/refresh`)
      const outcome = membershipOutcomeSchema.parse(body)
      return outcome.status === 'confirmed' && outcome
    })
    const events = await db()
      .select({ type: outbox.type })
      .from(outbox)
      .where(sql`${outbox.envelope} ->> 'subject' = ${made.attemptId}`)
      .orderBy(asc(outbox.position))
    expect(events.map(({ type }) => type)).toEqual([subscriptionActivated.type, subscriptionEnded.type])
    const { data } = await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    expect(data.receiptNumber).toBe(receiptNumber)
  })

  it('stays paid where a notice of its expiry comes late', async () => {
    const { wish, made } = await joined()
    await till.deliver(till.event('checkout.session.expired', sessionIdOf(made)))
    expect((await attemptsOf(wish.email)).map(({ status }) => status)).toEqual(['paid'])
  })

  it('is active after a decline and another card', async () => {
    const wish = newcomer()
    const made = await checkout(wish)
    expect((await till.pay(made, cards.declined)).status).toBe('declined')
    expect((await checkout(wish)).checkoutUrl).toBe(made.checkoutUrl)
    expect((await till.pay(made)).status).toBe('paid')
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
  })

  it('is found by reconciliation where no notice ever came, and so is what expired', async () => {
    const apart = await Till.apart({ env: { RECONCILE_EVERY_MS: '100' } })
    try {
      await apart.webhooks({ dropped: true })
      const open = async (wish: Wish) =>
        membershipCheckoutSchema.parse((await apart.call('POST', '/membership-checkouts', wish)).body)
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

  it('does not begin, and its money goes back, where something else was paid than was agreed', async () => {
    const wish = newcomer()
    const made = await checkout(wish)
    await db().update(membershipAttempts).set({ amount: 600 }).where(eq(membershipAttempts.id, made.attemptId))
    await till.pay(made)
    const { data } = await bed.bus.seen(membershipRefunded, ofAddress(wish.email))
    expect(data).toMatchObject({ reason: 'amount_mismatch', refunded: 700, refundedTotal: 700, paidAmount: 700 })
    await ended(wish.email)
    expect((await attemptsOf(wish.email)).map(({ status }) => status)).toEqual(['failed'])
    expect(await membershipsOf(wish.email)).toMatchObject([{ status: 'mismatch', subscriptionStatus: 'canceled' }])
    expect(told(wish.email)).toEqual([])
    expect(await atProvider(wish.email)).toMatchObject({ active: 0 })
  })

  it('ends, with its money back once, where the address has one already', async () => {
    const wish = newcomer()
    const hidden = await checkout(wish)
    // As though nobody had ever learned of it.
    await db().update(membershipAttempts).set({ status: 'failed' }).where(eq(membershipAttempts.id, hidden.attemptId))
    await till.pay(await checkout(wish))
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    await till.pay(hidden)
    const { data } = await bed.bus.seen(membershipRefunded, ofAddress(wish.email))
    expect(data).toMatchObject({ attemptId: hidden.attemptId, reason: 'duplicate', refunded: 700 })
    await ended(wish.email)
    expect((await membershipsOf(wish.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'duplicate'])
    expect(told(wish.email)).toHaveLength(1)
    // What is told of the one that has ended says nothing about the other.
    const [duplicate] = (await membershipsOf(wish.email)).filter(({ status }) => status === 'duplicate')
    const late = till.event('customer.subscription.deleted', duplicate?.stripeSubscriptionId ?? '')
    expect((await till.deliver(late)).status).toBe(200)
    expect((await membershipsOf(wish.email)).map(({ status }) => status).toSorted()).toEqual(['active', 'duplicate'])
    expect(await atProvider(wish.email)).toMatchObject({ active: 1 })
    expect((await till.call('GET', `/membership-checkouts/${hidden.attemptId}`)).body).toMatchObject({
      status: 'refused',
      refusal: 'duplicate',
      refunded: 700,
    })
  })
})

describe('what else is told of a subscription', () => {
  it('says nothing about the membership where it is another one of the same customer, made and cancelled elsewhere', async () => {
    const { wish } = await joined()
    const [membership] = await membershipsOf(wish.email)
    const customer = membership?.stripeCustomerId ?? ''
    const own = await till.stripe.subscriptions.retrieve(membership?.stripeSubscriptionId ?? '')
    const price = own.items.data[0]?.price
    const second = await till.stripe.subscriptions.create({
      customer,
      default_payment_method: idOf(own.default_payment_method) ?? '',
      // A price that Checkout made inline is for that purchase alone.
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
      // As a copy would have it that was made by hand.
      metadata: own.metadata,
    })
    await till.stripe.subscriptions.cancel(second.id)
    await till.simulator.deliveriesIdle()
    expect((await till.deliver(till.event('customer.subscription.deleted', second.id))).status).toBe(200)
    expect((await till.deliver(till.event('customer.updated', customer))).status).toBe(200)
    expect(await membershipsOf(wish.email)).toMatchObject([
      { status: 'active', stripeSubscriptionId: own.id, cancelAt: null, endedAt: null },
    ])
    const of = ofAddress(wish.email)
    expect([bed.bus.all(subscriptionCancelled, of), bed.bus.all(subscriptionEnded, of)]).toEqual([[], []])
  })

  it('is answered 2xx and left alone', async () => {
    const { wish } = await joined()
    const [membership] = await membershipsOf(wish.email)
    for (const [type, objectId] of [
      ['invoice.paid', 'in_1'],
      ['invoice.payment_failed', 'in_1'],
      ['customer.subscription.updated', 'sub_1'],
      ['customer.subscription.brand_new', membership?.stripeSubscriptionId ?? ''],
    ] as const) {
      const answer = await till.deliver(till.event(type, objectId))
      expect(answer).toEqual({ status: 200, body: { received: 'ignored' } })
    }
    const stranger = await till.stripe.checkout.sessions.create({
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
    await till.pay({ checkoutUrl: stranger.url })
    const answer = await till.deliver(till.event('checkout.session.completed', stranger.id))
    expect(answer.status).toBe(200)
    expect(await membershipsOf(wish.email)).toMatchObject([{ status: 'active' }])
  })
})

describe('the account of a member', () => {
  it('leaves the membership at the address that was proven last, in whatever order and however often its changes come', async () => {
    const start = Temporal.Now.instant()
    for (const { keys, copies } of fc.sample(
      fc.record({ keys: fc.infiniteStream(fc.nat()), copies: fc.integer({ min: 1, max: 3 }) }),
      15,
    )) {
      const { wish } = await joined()
      const userId = randomUUIDv7()
      await till.call('POST', '/memberships/find', { userId, email: wish.email })
      // There and back again: an older change can be to the address that the membership has.
      const [second, third] = [newcomer().email, newcomer().email]
      const changes = [second, wish.email, third, second, third].map((email, index) => ({
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
      const arrivals = Array.from({ length: copies }, () => changes)
        .flat()
        .map((event) => ({ event, key: keys.next().value as number }))
        .toSorted((a, b) => a.key - b.key)
      await Promise.all(arrivals.map(({ event }) => bed.bus.republish(event)))
      await eventually(async () => {
        const { rows } = await db().execute(sql`
          select from inbox where event_id in ${changes.map(({ id }) => id)}`)
        return rows.length === changes.length
      })
      expect((await membershipsOf(third)).map(({ email }) => email)).toEqual([third])
    }
  })

  it('can be deleted: the membership ends with its paid time, and until then waits for an account of that address', async () => {
    const wish = newcomer()
    await till.pay(await checkout(wish))
    await bed.bus.seen(subscriptionActivated, ofAddress(wish.email))
    const find = async (userId: string) => {
      const { body } = await till.call('POST', '/memberships/find', { userId, email: wish.email })
      return foundMembershipSchema.parse(body).membership
    }
    const [first, second] = [randomUUIDv7(), randomUUIDv7()]
    expect(await find(first)).toMatchObject({ status: 'active', endsAt: null })
    expect(await find(second)).toBeNull()
    await bed.bus.publish(userDeleted, first, {
      poolId: 'us-west-1_RoboKids',
      userId: first,
      username: 'user_1',
      email: wish.email,
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

  it('can be deleted where the provider does not have the subscription any more: it has ended, and nothing is left to do', async () => {
    const { wish } = await joined()
    const userId = randomUUIDv7()
    await till.call('POST', '/memberships/find', { userId, email: wish.email })
    await db()
      .update(memberships)
      .set({ stripeSubscriptionId: `sub_${randomUUIDv7()}` })
      .where(eq(memberships.emailKey, emailKey(wish.email)))
    await bed.bus.publish(userDeleted, userId, {
      poolId: 'us-west-1_RoboKids',
      userId,
      username: 'user_1',
      email: wish.email,
      emailVerified: true,
      givenName: 'Maren',
    })
    await bed.bus.seen(subscriptionEnded, ofAddress(wish.email))
    expect(await membershipsOf(wish.email)).toMatchObject([{ status: 'ended', endRequest: null }])
  })
})
