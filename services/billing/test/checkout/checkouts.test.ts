import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkoutCreated,
  checkoutExpired,
  checkoutSchema,
  paymentCompleted,
  paymentFailed,
} from '@robokids/contracts/billing'
import { registrationCancelled, registrationExpired } from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { recordDecline } from '../../src/checkout/record-decline.ts'
import { checkoutAttempts } from '../../src/schema.ts'
import { cards, codeOf, messageOf, purchase, sessionIdOf, BillingFixture } from '../fixture.ts'

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

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

describe('POST /checkouts', () => {
  it('opens a session for exactly the price of the registration', async () => {
    const facts = purchase({ classType: 'custom', levelTitle: 'Level X Custom Innovation Lab', children: twoChildren })
    const before = Temporal.Now.instant()
    const checkout = await fixture.checkout(facts)
    expect(checkout).toMatchObject({
      registrationId: facts.registrationId,
      status: 'open',
      amount: 200_000,
      currency: 'usd',
      payment: null,
      refunds: [],
      lastDecline: null,
    })
    const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf(checkout), { expand: ['line_items'] })
    const metadata = { registrationId: facts.registrationId, attemptId: checkout.attemptId }
    expect(session).toMatchObject({
      mode: 'payment',
      amount_total: 200_000,
      currency: 'usd',
      customer: null,
      customer_email: facts.email,
      client_reference_id: facts.registrationId,
      allowed_payment_method_types: ['card'],
      metadata,
      success_url: `https://robokids.example/robokids/success?reference=${facts.registrationId}`,
      cancel_url: `https://robokids.example/robokids-payment?reference=${facts.registrationId}`,
    })
    expect(session.line_items?.data).toMatchObject([
      {
        description: 'Level X Custom Innovation Lab: Friday, January 8, 2027',
        quantity: 2,
        price: { unit_amount: 100_000 },
      },
    ])
    expect(new Date(session.expires_at * 1000).toISOString()).toBe(checkout.expiresAt.replace('Z', '.000Z'))
    const minutes = before.until(Temporal.Instant.from(checkout.expiresAt)).total('minutes')
    expect(minutes).toBeGreaterThan(30.9)
    expect(minutes).toBeLessThan(31.2)
    const created = await bed.bus.seen(checkoutCreated, of(facts.registrationId))
    expect(created.data).toMatchObject({ ...metadata, amount: 200_000, currency: 'usd', expiresAt: checkout.expiresAt })

    await fixture.pay(checkout)
    const intent = await fixture.stripe.paymentIntents.list({ limit: 100 })
    expect(intent.data.find((one) => one.metadata['registrationId'] === facts.registrationId)?.metadata).toEqual(
      metadata,
    )
  })

  it('returns the same session while it is open', async () => {
    const facts = purchase()
    const first = await fixture.checkout(facts)
    expect(await fixture.checkout(facts)).toEqual(first)
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('creates one session for concurrent requests in two processes', async () => {
    const other = await fixture.startSecondProcess()
    const facts = purchase()
    await fixture.fault({ kind: 'delay', method: 'POST', path: '/v1/checkout/sessions', times: 1, delayMs: 700 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        fixture.checkout(facts, index % 2 === 0 ? fixture.service.url : other.url),
      ),
    )
    expect(new Set(answers.map((answer) => answer.checkoutUrl)).size).toBe(1)
    expect(new Set(answers.map((answer) => answer.attemptId)).size).toBe(1)
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
    await other.stop()
  })

  it('creates one session although the connection broke after Stripe had created it', async () => {
    const facts = purchase()
    await fixture.fault({ kind: 'reset', method: 'POST', path: '/v1/checkout/sessions', times: 1, when: 'after' })
    expect((await fixture.checkout(facts)).status).toBe('open')
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('repeats the same attempt byte for byte after a crash between Stripe’s response and the commit', async () => {
    const facts = purchase({ classType: 'advanced' })
    const made = await fixture.checkout(facts)
    await forgetSession(made.attemptId)
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'creating', checkoutUrl: null })
    await fixture.setPrice('class:advanced', 76_000)
    expect(await fixture.checkout(facts)).toEqual(made)
    await fixture.setPrice('class:advanced', 75_000)
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('finds the payment of a session after a crash', async () => {
    const facts = purchase()
    const made = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(made)
    await forgetSession(made.attemptId)
    expect(await fixture.checkout(facts)).toMatchObject({
      status: 'paid',
      attemptId: made.attemptId,
      checkoutUrl: null,
    })
  })

  it('creates a new attempt if the old one was never sent and is too old', async () => {
    const facts = purchase()
    await fixture.fault({ kind: 'reset', method: 'POST', path: '/v1/checkout/sessions', times: 4, when: 'before' })
    await fixture.call('POST', '/checkouts', { purchase: facts })
    await fixture.sim('DELETE', '/faults')
    const stuck = await fixture.read(facts.registrationId)
    const [row] = await fixture.service.context.db
      .select()
      .from(checkoutAttempts)
      .where(eq(checkoutAttempts.id, stuck.attemptId))
    const parameters = { ...row!.parameters, expires_at: row!.parameters.expires_at - 120 }
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ parameters })
      .where(eq(checkoutAttempts.id, stuck.attemptId))
    const checkout = await fixture.checkout(facts)
    expect(checkout.status).toBe('open')
    expect(checkout.attemptId).not.toBe(stuck.attemptId)
    const attempts = await attemptsOf(facts.registrationId)
    expect(attempts.map((attempt) => attempt.status)).toEqual(['failed', 'open'])
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('creates a new attempt if Stripe has saved a server error under the key', async () => {
    const facts = purchase()
    await fixture.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 1,
      when: 'after',
      status: 500,
    })
    const checkout = await fixture.checkout(facts)
    expect(checkout.status).toBe('open')
    await fixture.pay(checkout)
    expect((await eventually(async () => paidOf(await fixture.read(facts.registrationId)))).amount).toBe(40_000)
    expect(await attemptsOf(facts.registrationId)).toMatchObject([{ status: 'failed' }, { status: 'paid' }])
  })

  it('opens a new session at the current price once the old one has expired', async () => {
    const facts = purchase()
    const old = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.sim('POST', `/checkout/${sessionIdOf(old)}/expire`)
    await fixture.setPrice('class:basic', 42_000)
    const renewed = await fixture.checkout(facts)
    await fixture.setPrice('class:basic', 40_000)
    expect(renewed).toMatchObject({ status: 'open', amount: 42_000 })
    expect(renewed.attemptId).not.toBe(old.attemptId)
    const expired = await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    expect(expired.data.attemptId).toBe(old.attemptId)
  })

  it('returns a paid registration as paid, without a checkout URL', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    // It has no payment recorded so far, and fetches the session.
    expect(await fixture.checkout(facts)).toMatchObject({
      status: 'paid',
      checkoutUrl: null,
      payment: { amount: 40_000 },
    })
    expect(await fixture.checkout(facts)).toMatchObject({ status: 'paid', checkoutUrl: null })
    expect(await fixture.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('keeps the agreed price of an open checkout while others get the new one', async () => {
    const first = purchase({ classType: 'intermediate' })
    const checkout = await fixture.checkout(first)
    expect((await fixture.setPrice('class:intermediate', 52_000)).status).toBe(200)
    await fixture.pay(checkout)
    const paid = await eventually(async () => paidOf(await fixture.read(first.registrationId)))
    expect(paid.amount).toBe(50_000)
    expect(await fixture.checkout(purchase({ classType: 'intermediate' }))).toMatchObject({ amount: 52_000 })
    await fixture.setPrice('class:intermediate', 50_000)
  })

  it('opens a session for an email whose Stripe customer was deleted', async () => {
    const email = 'maren.holt@example.com'
    await fixture.sell(purchase({ email }))
    const customers = await fixture.stripe.customers.list({ email, limit: 100 })
    for (const customer of customers.data) await fixture.stripe.customers.del(customer.id)
    const sold = await fixture.sell(purchase({ email }))
    expect(sold.status).toBe('paid')
  })

  it('rejects invalid registrations and classes not on sale, and writes nothing', async () => {
    const unsold = purchase({ classType: 'membership' })
    const answer = await fixture.call('POST', '/checkouts', { purchase: unsold })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'class_not_offered'])
    for (const body of [{ purchase: { ...purchase(), registrationId: 'x' } }, { purchase: {} }, {}]) {
      const refused = await fixture.call('POST', '/checkouts', body)
      expect([refused.status, codeOf(refused), JSON.stringify(body)]).toEqual([
        400,
        'validation_failed',
        JSON.stringify(body),
      ])
    }
    const unknown = { registrationId: randomUUIDv7() }
    const missing = await fixture.call('POST', '/checkouts', { purchase: unknown })
    expect([missing.status, codeOf(missing)]).toEqual([404, 'registration_not_found'])
    expect((await fixture.call('GET', `/checkouts/${unknown.registrationId}`)).status).toBe(404)
    expect((await fixture.call('GET', `/checkouts/${unsold.registrationId}`)).status).toBe(404)
  })

  it('charges for the facts from enrollment, whatever the caller sends', async () => {
    const facts = purchase({
      classType: 'advanced',
      children: ['Ivo', 'Noa'].map((childName) => ({ childName, childAge: 9 })),
    })
    const honest = await fixture.checkout(purchase({ ...facts, registrationId: randomUUIDv7() }))
    const claimed = { ...purchase(), registrationId: facts.registrationId, email: 'another@example.com' }
    const answer = await fixture.call('POST', '/checkouts', { purchase: claimed })
    const { amount, unitAmount, paidSeats } = checkoutSchema.parse(answer.body)
    expect({ amount, unitAmount, paidSeats }).toEqual({
      amount: honest.amount,
      unitAmount: honest.unitAmount,
      paidSeats: honest.paidSeats,
    })
    const [session] = await fixture.sessions(facts.registrationId)
    expect(session?.customer_email).toBe(facts.email)
  })

  it('answers 503 if enrollment is unavailable, and opens nothing', async () => {
    const alone = await fixture.startSecondProcess({ ENROLLMENT_URL: 'http://127.0.0.1:9' })
    const facts = purchase()
    const answer = await fixture.call('POST', '/checkouts', { purchase: facts }, {}, alone.url)
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    expect(await fixture.sessions(facts.registrationId)).toEqual([])
    expect((await fixture.checkout(facts)).status).toBe('open')
  })

  it('answers 400 if Stripe rejects the email', async () => {
    const facts = purchase({ email: 'nobody' })
    const answer = await fixture.call('POST', '/checkouts', { purchase: facts })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    // It can be paid with the corrected address.
    expect((await fixture.checkout({ ...facts, email: 'somebody@example.com' })).status).toBe('open')
  })

  it('answers 503 during an outage of Stripe, and recovers', async () => {
    const facts = purchase()
    await fixture.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 3,
      when: 'before',
      status: 503,
    })
    const answer = await fixture.call('POST', '/checkouts', { purchase: facts })
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    expect(messageOf(answer)).toBe('We can’t reach our payment provider right now. Please try again in a moment.')
    expect((await fixture.checkout(facts)).status).toBe('open')
  })

  it('answers 503 if Stripe’s response never ends', async () => {
    const endless = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drip))
    }).listen(0, '127.0.0.1')
    await once(endless, 'listening')
    const { port } = endless.address() as AddressInfo
    const waiting = await fixture.startSecondProcess({
      STRIPE_API_URL: `http://127.0.0.1:${port}`,
      STRIPE_TIMEOUT_MS: '200',
    })
    const answer = await fixture.call('POST', '/checkouts', { purchase: purchase() }, {}, waiting.url)
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    await waiting.stop()
    endless.close()
  })

  it('sets the expiry of a session by Stripe’s clock', async () => {
    const away = await BillingFixture.startIsolated()
    away.service.context.clock.set(Temporal.Instant.from('2025-09-01T12:00:00Z'))
    away.simulator.advanceClock(3 * 60 * 60)
    const checkout = await away.checkout(purchase())
    expect(checkout.status).toBe('open')
    const session = await away.stripe.checkout.sessions.retrieve(sessionIdOf(checkout))
    expect(session.expires_at - away.simulator.now()).toBeGreaterThan(30 * 60)
    await away.close()
  })

  it('completes accepted requests before it stops', async () => {
    const slow = await BillingFixture.startIsolated({ simulator: { sessionCreateDelayMs: 1_000 } })
    const facts = Array.from({ length: 20 }, () => purchase())
    const answers = facts.map((one) => slow.call('POST', '/checkouts', { purchase: one }))
    await eventually(async () => (await slow.service.context.db.$count(checkoutAttempts)) === 20)
    const stopped = slow.service.stop()
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual(facts.map(() => 200))
    await stopped
    const again = await slow.startSecondProcess()
    await Promise.all(facts.map((one) => slow.checkout(one, again.url)))
    expect(await slow.stripe.checkout.sessions.list({ limit: 100 })).toMatchObject({ data: { length: 20 } })
    await again.stop()
    await slow.close()
  })
})

describe('GET /checkouts', () => {
  it('returns the checkouts of up to 500 registrations', async () => {
    const sold = await fixture.checkout(purchase())
    const others = Array.from({ length: 499 }, () => randomUUIDv7())
    const answer = await fixture.call('GET', `/checkouts?registrationIds=${[sold.registrationId, ...others].join(',')}`)
    expect(answer).toEqual({ status: 200, body: { checkouts: [sold] } })
    const tooMany = await fixture.call(
      'GET',
      `/checkouts?registrationIds=${[sold.registrationId, randomUUIDv7(), ...others].join(',')}`,
    )
    expect([tooMany.status, codeOf(tooMany)]).toEqual([400, 'validation_failed'])
  })

  it('answers 404 checkout_not_found for a registration without one', async () => {
    for (const [method, path] of [
      ['GET', `/checkouts/${randomUUIDv7()}`],
      ['POST', `/checkouts/${randomUUIDv7()}/refresh`],
    ] as const) {
      const answer = await fixture.call(method, path)
      expect([answer.status, codeOf(answer)]).toEqual([404, 'checkout_not_found'])
    }
  })
})

describe('a declined card', () => {
  it('is published while the parent can try another card, and cleared by a payment', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    expect((await fixture.pay(checkout, cards.poor)).status).toBe('declined')
    const failed = await bed.bus.seen(paymentFailed, of(facts.registrationId))
    expect(failed.data).toMatchObject({
      attemptId: checkout.attemptId,
      final: false,
      reason: 'Your card has insufficient funds.',
    })
    await eventually(
      async () => (await fixture.read(facts.registrationId)).lastDecline === 'Your card has insufficient funds.',
    )
    expect(await fixture.checkout(facts)).toMatchObject({ status: 'open', checkoutUrl: checkout.checkoutUrl })

    await fixture.pay(checkout)
    await eventually(async () => paidOf(await fixture.read(facts.registrationId)))
    const [decline] = await fixture.events(
      facts.registrationId,
      (event) => event.type === 'payment_intent.payment_failed',
    )
    await fixture.sim('POST', `/events/${decline!.id}/resend`)
    expect(
      (await fixture.deliver(fixture.event('payment_intent.payment_failed', decline!.data.object.id))).status,
    ).toBe(200)
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'paid', lastDecline: null, refunds: [] })
    expect(bed.bus.all(paymentFailed, of(facts.registrationId))).toHaveLength(1)
  })

  it('that arrives after a later one changes nothing', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.pay(checkout, cards.poor)
    const [{ charge: first } = { charge: null }] = await declinesOf(facts.registrationId)
    fixture.simulator.advanceClock(60)
    await fixture.pay(checkout, cards.declined)
    await eventually(async () => (await fixture.read(facts.registrationId)).lastDecline === 'Your card was declined.')
    // The response to a call made before the second decline.
    const old = {
      attemptId: checkout.attemptId,
      declinedId: first ?? '',
      declinedAt: Temporal.Instant.fromEpochMilliseconds((fixture.simulator.now() - 60) * 1000),
      reason: 'Your card has insufficient funds.',
    }
    await fixture.service.context.db.transaction((tx) => recordDecline(tx, fixture.service.context, old))
    expect((await fixture.read(facts.registrationId)).lastDecline).toBe('Your card was declined.')
  })

  it('of an abandoned confirmation keeps the session open for another attempt', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    expect((await fixture.pay(checkout, cards.challenge)).status).toBe('requires_action')
    expect(await fixture.checkout(facts)).toEqual(checkout)
    await fixture.pay(checkout)
    const paid = await eventually(async () => paidOf(await fixture.read(facts.registrationId)))
    const late = fixture.event('payment_intent.payment_failed', paid.stripePaymentIntentId)
    expect((await fixture.deliver(late)).status).toBe(200)
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'paid', lastDecline: null })
    const charges = await fixture.stripe.charges.list({ payment_intent: paid.stripePaymentIntentId })
    expect(charges.data.filter((charge) => charge.status === 'succeeded')).toHaveLength(1)
  })
})

describe('an ended registration', () => {
  it('has its open session closed', async () => {
    const expired = purchase()
    const cancelled = purchase()
    for (const facts of [expired, cancelled]) await fixture.checkout(facts)
    const checkout = await fixture.read(expired.registrationId)
    await bed.bus.publish(registrationExpired, expired.registrationId, expired)
    await bed.bus.publish(registrationCancelled, cancelled.registrationId, { ...cancelled, reason: 'requested' })
    for (const facts of [expired, cancelled]) {
      await bed.bus.seen(checkoutExpired, of(facts.registrationId))
      expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'expired', checkoutUrl: null })
    }
    expect((await fixture.pay(checkout)).status).toBe('expired')
  })

  it('is completed if the payment was faster', async () => {
    const facts = purchase()
    const checkout = await fixture.checkout(facts)
    await fixture.webhooks({ dropped: true })
    await fixture.pay(checkout)
    await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(paymentCompleted, of(facts.registrationId))
    expect(bed.bus.all(checkoutExpired, of(facts.registrationId))).toEqual([])
  })

  it('has a session left over from an interrupted creation closed', async () => {
    const facts = purchase()
    await forgetSession((await fixture.checkout(facts)).attemptId)
    await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    expect(await fixture.sessions(facts.registrationId)).toMatchObject([{ status: 'expired' }])
  })

  it('keeps a session that was opened after it was held again, although the event of its end is late', async () => {
    const facts = purchase()
    const first = await fixture.checkout(facts)
    const expiry = await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    const renewed = await fixture.checkout(facts)
    expect(renewed.attemptId).not.toBe(first.attemptId)
    await bed.bus.republish({ ...expiry, id: randomUUIDv7() })
    const marker = purchase()
    await fixture.checkout(marker)
    await bed.bus.publish(registrationExpired, marker.registrationId, marker)
    await bed.bus.seen(checkoutExpired, of(marker.registrationId))
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'open', attemptId: renewed.attemptId })
  })

  it('has its session closed despite a hundred that cannot be closed', async () => {
    const apart = await BillingFixture.startIsolated()
    const { db } = apart.service.context
    const facts = purchase()
    const { attemptId } = await apart.checkout(facts)
    const [made] = await db.select().from(checkoutAttempts).where(eq(checkoutAttempts.id, attemptId))
    const stuck = Array.from({ length: 120 }, (_, index) => ({
      ...made!,
      id: randomUUIDv7(),
      purchaseId: randomUUIDv7(),
      stripeSessionId: `cs_test_stuck_${index}`,
      closeRequestedAt: Temporal.Now.instant().subtract({ hours: 1 }),
    }))
    for (const method of ['GET', 'POST'])
      await apart.fault({
        kind: 'error',
        method,
        path: '/v1/checkout/sessions/cs_test_stuck_*',
        times: 10_000,
        status: 400,
      })
    await db.insert(checkoutAttempts).values(stuck)
    await apart.bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await eventually(async () => {
      apart.service.wakeAll()
      return (await apart.read(facts.registrationId)).status === 'expired'
    }, 60_000)
    await apart.close()
  })

  it('keeps its session untouched if it ended because of a full refund', async () => {
    const facts = purchase()
    await fixture.checkout(facts)
    await bed.bus.publish(registrationCancelled, facts.registrationId, { ...facts, reason: 'refunded' })
    const marker = purchase()
    await fixture.checkout(marker)
    await bed.bus.publish(registrationCancelled, marker.registrationId, { ...marker, reason: 'requested' })
    await bed.bus.seen(checkoutExpired, of(marker.registrationId))
    expect((await fixture.read(facts.registrationId)).status).toBe('open')
  })
})

const twoChildren = [
  { childName: 'Ivo', childAge: 8 },
  { childName: 'Noa', childAge: 10 },
]

/** The declined charges of a registration's payment, oldest first. */
async function declinesOf(registrationId: string) {
  const events = await fixture.events(registrationId, ({ type }) => type === 'charge.failed')
  return events.map(({ data }) => ({ charge: data.object.id }))
}

function paidOf<T extends { payment: unknown }>(checkout: T) {
  return checkout.payment as NonNullable<T['payment']>
}

/** Resets an attempt to its state after a crash between Stripe's response and the commit. */
async function forgetSession(attemptId: string): Promise<void> {
  await fixture.service.context.db
    .update(checkoutAttempts)
    .set({ status: 'creating', stripeSessionId: null, checkoutUrl: null })
    .where(eq(checkoutAttempts.id, attemptId))
}

async function attemptsOf(registrationId: string) {
  return fixture.service.context.db
    .select()
    .from(checkoutAttempts)
    .where(eq(checkoutAttempts.purchaseId, registrationId))
    .orderBy(checkoutAttempts.id)
}
