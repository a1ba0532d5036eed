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
import { cards, codeOf, messageOf, purchase, sessionIdOf, Till } from '../till.ts'

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

const of = (registrationId: string) => (data: { registrationId: string }) => data.registrationId === registrationId

describe('POST /checkouts', () => {
  it('opens a session for exactly what the registration costs', async () => {
    const facts = purchase({ classType: 'custom', levelTitle: 'Level X Custom Innovation Lab', children: twoChildren })
    const before = Temporal.Now.instant()
    const checkout = await till.checkout(facts)
    expect(checkout).toMatchObject({
      registrationId: facts.registrationId,
      status: 'open',
      amount: 200_000,
      currency: 'usd',
      payment: null,
      refunds: [],
      lastDecline: null,
    })
    const session = await till.stripe.checkout.sessions.retrieve(sessionIdOf(checkout), { expand: ['line_items'] })
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

    await till.pay(checkout)
    const intent = await till.stripe.paymentIntents.list({ limit: 100 })
    expect(intent.data.find((one) => one.metadata['registrationId'] === facts.registrationId)?.metadata).toEqual(
      metadata,
    )
  })

  it('answers the same session as long as it is open', async () => {
    const facts = purchase()
    const first = await till.checkout(facts)
    expect(await till.checkout(facts)).toEqual(first)
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('makes one session of many requests at once, in two processes', async () => {
    const other = await till.another()
    const facts = purchase()
    await till.fault({ kind: 'delay', method: 'POST', path: '/v1/checkout/sessions', times: 1, delayMs: 700 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => till.checkout(facts, index % 2 === 0 ? till.service.url : other.url)),
    )
    expect(new Set(answers.map((answer) => answer.checkoutUrl)).size).toBe(1)
    expect(new Set(answers.map((answer) => answer.attemptId)).size).toBe(1)
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
    await other.stop()
  })

  it('makes one session where the connection breaks after the provider has made it', async () => {
    const facts = purchase()
    await till.fault({ kind: 'reset', method: 'POST', path: '/v1/checkout/sessions', times: 1, when: 'after' })
    expect((await till.checkout(facts)).status).toBe('open')
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('goes on with the same attempt, word for word, where the process died after the provider had made its session', async () => {
    const facts = purchase({ classType: 'advanced' })
    const made = await till.checkout(facts)
    await forgetSession(made.attemptId)
    expect(await till.read(facts.registrationId)).toMatchObject({ status: 'creating', checkoutUrl: null })
    await till.setPrice('class:advanced', 76_000)
    expect(await till.checkout(facts)).toEqual(made)
    await till.setPrice('class:advanced', 75_000)
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('finds the payment of a session that the process died over', async () => {
    const facts = purchase()
    const made = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(made)
    await forgetSession(made.attemptId)
    expect(await till.checkout(facts)).toMatchObject({ status: 'paid', attemptId: made.attemptId, checkoutUrl: null })
  })

  it('makes a new attempt where the old one was never executed and is too old by now', async () => {
    const facts = purchase()
    await till.fault({ kind: 'reset', method: 'POST', path: '/v1/checkout/sessions', times: 4, when: 'before' })
    await till.call('POST', '/checkouts', { purchase: facts })
    await till.sim('DELETE', '/faults')
    const stuck = await till.read(facts.registrationId)
    const [row] = await till.service.context.db
      .select()
      .from(checkoutAttempts)
      .where(eq(checkoutAttempts.id, stuck.attemptId))
    const parameters = { ...row!.parameters, expires_at: row!.parameters.expires_at - 120 }
    await till.service.context.db
      .update(checkoutAttempts)
      .set({ parameters })
      .where(eq(checkoutAttempts.id, stuck.attemptId))
    const checkout = await till.checkout(facts)
    expect(checkout.status).toBe('open')
    expect(checkout.attemptId).not.toBe(stuck.attemptId)
    const attempts = await attemptsOf(facts.registrationId)
    expect(attempts.map((attempt) => attempt.status)).toEqual(['failed', 'open'])
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('makes a new attempt where the provider has saved a server error under the key', async () => {
    const facts = purchase()
    await till.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 1,
      when: 'after',
      status: 500,
    })
    const checkout = await till.checkout(facts)
    expect(checkout.status).toBe('open')
    await till.pay(checkout)
    expect((await eventually(async () => paidOf(await till.read(facts.registrationId)))).amount).toBe(40_000)
    expect(await attemptsOf(facts.registrationId)).toMatchObject([{ status: 'failed' }, { status: 'paid' }])
  })

  it('opens a new session at the price of the day once the old one has expired', async () => {
    const facts = purchase()
    const old = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.sim('POST', `/checkout/${sessionIdOf(old)}/expire`)
    await till.setPrice('class:basic', 42_000)
    const renewed = await till.checkout(facts)
    await till.setPrice('class:basic', 40_000)
    expect(renewed).toMatchObject({ status: 'open', amount: 42_000 })
    expect(renewed.attemptId).not.toBe(old.attemptId)
    const expired = await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    expect(expired.data.attemptId).toBe(old.attemptId)
  })

  it('answers paid, and nowhere to pay, for what is paid', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    // It has heard of no payment so far, and asks.
    expect(await till.checkout(facts)).toMatchObject({ status: 'paid', checkoutUrl: null, payment: { amount: 40_000 } })
    expect(await till.checkout(facts)).toMatchObject({ status: 'paid', checkoutUrl: null })
    expect(await till.sessions(facts.registrationId)).toHaveLength(1)
  })

  it('keeps the agreed price of an open checkout, and gives others the new one', async () => {
    const first = purchase({ classType: 'intermediate' })
    const checkout = await till.checkout(first)
    expect((await till.setPrice('class:intermediate', 52_000)).status).toBe(200)
    await till.pay(checkout)
    const paid = await eventually(async () => paidOf(await till.read(first.registrationId)))
    expect(paid.amount).toBe(50_000)
    expect(await till.checkout(purchase({ classType: 'intermediate' }))).toMatchObject({ amount: 52_000 })
    await till.setPrice('class:intermediate', 50_000)
  })

  it('serves an email whose customer was deleted at the provider', async () => {
    const email = 'maren.holt@example.com'
    await till.sell(purchase({ email }))
    const customers = await till.stripe.customers.list({ email, limit: 100 })
    for (const customer of customers.data) await till.stripe.customers.del(customer.id)
    const sold = await till.sell(purchase({ email }))
    expect(sold.status).toBe('paid')
  })

  it('refuses what cannot be sold or read, and writes nothing', async () => {
    const unsold = purchase({ classType: 'membership' })
    const answer = await till.call('POST', '/checkouts', { purchase: unsold })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'class_not_offered'])
    for (const body of [{ purchase: { ...purchase(), registrationId: 'x' } }, { purchase: {} }, {}]) {
      const refused = await till.call('POST', '/checkouts', body)
      expect([refused.status, codeOf(refused), JSON.stringify(body)]).toEqual([
        400,
        'validation_failed',
        JSON.stringify(body),
      ])
    }
    const unknown = { registrationId: randomUUIDv7() }
    const missing = await till.call('POST', '/checkouts', { purchase: unknown })
    expect([missing.status, codeOf(missing)]).toEqual([404, 'registration_not_found'])
    expect((await till.call('GET', `/checkouts/${unknown.registrationId}`)).status).toBe(404)
    expect((await till.call('GET', `/checkouts/${unsold.registrationId}`)).status).toBe(404)
  })

  it('asks the price of what enrollment says, whatever whoever asks makes of it', async () => {
    const facts = purchase({
      classType: 'advanced',
      children: ['Ivo', 'Noa'].map((childName) => ({ childName, childAge: 9 })),
    })
    const honest = await till.checkout(purchase({ ...facts, registrationId: randomUUIDv7() }))
    const claimed = { ...purchase(), registrationId: facts.registrationId, email: 'another@example.com' }
    const answer = await till.call('POST', '/checkouts', { purchase: claimed })
    const { amount, unitAmount, paidSeats } = checkoutSchema.parse(answer.body)
    expect({ amount, unitAmount, paidSeats }).toEqual({
      amount: honest.amount,
      unitAmount: honest.unitAmount,
      paidSeats: honest.paidSeats,
    })
    const [session] = await till.sessions(facts.registrationId)
    expect(session?.customer_email).toBe(facts.email)
  })

  it('answers 503 where enrollment cannot be asked, and nothing can be paid', async () => {
    const alone = await till.another({ ENROLLMENT_URL: 'http://127.0.0.1:9' })
    const facts = purchase()
    const answer = await till.call('POST', '/checkouts', { purchase: facts }, {}, alone.url)
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    expect(await till.sessions(facts.registrationId)).toEqual([])
    expect((await till.checkout(facts)).status).toBe('open')
  })

  it('answers 400 where the provider does not take the email for one', async () => {
    const facts = purchase({ email: 'nobody' })
    const answer = await till.call('POST', '/checkouts', { purchase: facts })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    // Corrected, it can be paid.
    expect((await till.checkout({ ...facts, email: 'somebody@example.com' })).status).toBe('open')
  })

  it('answers 503 while the provider is away, and works when it is back', async () => {
    const facts = purchase()
    await till.fault({
      kind: 'error',
      method: 'POST',
      path: '/v1/checkout/sessions',
      times: 3,
      when: 'before',
      status: 503,
    })
    const answer = await till.call('POST', '/checkouts', { purchase: facts })
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    expect(messageOf(answer)).toBe('Payments cannot be reached right now. Please try again in a moment.')
    expect((await till.checkout(facts)).status).toBe('open')
  })

  it('answers 503 where the provider begins an answer and never ends it', async () => {
    const endless = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drip))
    }).listen(0, '127.0.0.1')
    await once(endless, 'listening')
    const { port } = endless.address() as AddressInfo
    const waiting = await till.another({ STRIPE_API_URL: `http://127.0.0.1:${port}`, STRIPE_TIMEOUT_MS: '200' })
    const answer = await till.call('POST', '/checkouts', { purchase: purchase() }, {}, waiting.url)
    expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
    await waiting.stop()
    endless.close()
  })

  it('goes by the provider’s clock for when a session ends', async () => {
    const away = await Till.apart()
    away.service.context.clock.set(Temporal.Instant.from('2025-09-01T12:00:00Z'))
    away.simulator.advanceClock(3 * 60 * 60)
    const checkout = await away.checkout(purchase())
    expect(checkout.status).toBe('open')
    const session = await away.stripe.checkout.sessions.retrieve(sessionIdOf(checkout))
    expect(session.expires_at - away.simulator.now()).toBeGreaterThan(30 * 60)
    await away.close()
  })

  it('answers what it accepted before it stops', async () => {
    const slow = await Till.apart({ simulator: { sessionCreateDelayMs: 1_000 } })
    const facts = Array.from({ length: 20 }, () => purchase())
    const answers = facts.map((one) => slow.call('POST', '/checkouts', { purchase: one }))
    await eventually(async () => (await slow.service.context.db.$count(checkoutAttempts)) === 20)
    const stopped = slow.service.stop()
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual(facts.map(() => 200))
    await stopped
    const again = await slow.another()
    await Promise.all(facts.map((one) => slow.checkout(one, again.url)))
    expect(await slow.stripe.checkout.sessions.list({ limit: 100 })).toMatchObject({ data: { length: 20 } })
    await again.stop()
    await slow.close()
  })
})

describe('GET /checkouts', () => {
  it('answers those of up to 500 registrations', async () => {
    const sold = await till.checkout(purchase())
    const others = Array.from({ length: 499 }, () => randomUUIDv7())
    const answer = await till.call('GET', `/checkouts?registrationIds=${[sold.registrationId, ...others].join(',')}`)
    expect(answer).toEqual({ status: 200, body: { checkouts: [sold] } })
    const tooMany = await till.call(
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
      const answer = await till.call(method, path)
      expect([answer.status, codeOf(answer)]).toEqual([404, 'checkout_not_found'])
    }
  })
})

describe('a declined card', () => {
  it('is told of while the parent can try another, and forgotten once it is paid', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    expect((await till.pay(checkout, cards.poor)).status).toBe('declined')
    const failed = await bed.bus.seen(paymentFailed, of(facts.registrationId))
    expect(failed.data).toMatchObject({
      attemptId: checkout.attemptId,
      final: false,
      reason: 'Your card has insufficient funds.',
    })
    await eventually(
      async () => (await till.read(facts.registrationId)).lastDecline === 'Your card has insufficient funds.',
    )
    expect(await till.checkout(facts)).toMatchObject({ status: 'open', checkoutUrl: checkout.checkoutUrl })

    await till.pay(checkout)
    await eventually(async () => paidOf(await till.read(facts.registrationId)))
    const [decline] = await till.events(facts.registrationId, (event) => event.type === 'payment_intent.payment_failed')
    await till.sim('POST', `/events/${decline!.id}/resend`)
    expect((await till.deliver(till.event('payment_intent.payment_failed', decline!.data.object.id))).status).toBe(200)
    expect(await till.read(facts.registrationId)).toMatchObject({ status: 'paid', lastDecline: null, refunds: [] })
    expect(bed.bus.all(paymentFailed, of(facts.registrationId))).toHaveLength(1)
  })

  it('that is heard of after a later one changes nothing', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.pay(checkout, cards.poor)
    const [{ charge: first } = { charge: null }] = await declinesOf(facts.registrationId)
    till.simulator.advanceClock(60)
    await till.pay(checkout, cards.declined)
    await eventually(async () => (await till.read(facts.registrationId)).lastDecline === 'Your card was declined.')
    // The answer to a question that was asked before the second decline.
    const old = {
      attemptId: checkout.attemptId,
      declinedId: first ?? '',
      declinedAt: Temporal.Instant.fromEpochMilliseconds((till.simulator.now() - 60) * 1000),
      words: 'Your card has insufficient funds.',
    }
    await till.service.context.db.transaction((tx) => recordDecline(tx, till.service.context, old))
    expect((await till.read(facts.registrationId)).lastDecline).toBe('Your card was declined.')
  })

  it('of a bank’s question left open keeps the session open for another day', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    expect((await till.pay(checkout, cards.challenge)).status).toBe('requires_action')
    expect(await till.checkout(facts)).toEqual(checkout)
    await till.pay(checkout)
    const paid = await eventually(async () => paidOf(await till.read(facts.registrationId)))
    const late = till.event('payment_intent.payment_failed', paid.stripePaymentIntentId)
    expect((await till.deliver(late)).status).toBe(200)
    expect(await till.read(facts.registrationId)).toMatchObject({ status: 'paid', lastDecline: null })
    const charges = await till.stripe.charges.list({ payment_intent: paid.stripePaymentIntentId })
    expect(charges.data.filter((charge) => charge.status === 'succeeded')).toHaveLength(1)
  })
})

describe('a registration that is gone', () => {
  it('has its open session closed', async () => {
    const expired = purchase()
    const cancelled = purchase()
    for (const facts of [expired, cancelled]) await till.checkout(facts)
    const checkout = await till.read(expired.registrationId)
    await bed.bus.publish(registrationExpired, expired.registrationId, expired)
    await bed.bus.publish(registrationCancelled, cancelled.registrationId, { ...cancelled, reason: 'requested' })
    for (const facts of [expired, cancelled]) {
      await bed.bus.seen(checkoutExpired, of(facts.registrationId))
      expect(await till.read(facts.registrationId)).toMatchObject({ status: 'expired', checkoutUrl: null })
    }
    expect((await till.pay(checkout)).status).toBe('expired')
  })

  it('is completed all the same where the payment was faster', async () => {
    const facts = purchase()
    const checkout = await till.checkout(facts)
    await till.webhooks({ dropped: true })
    await till.pay(checkout)
    await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(paymentCompleted, of(facts.registrationId))
    expect(bed.bus.all(checkoutExpired, of(facts.registrationId))).toEqual([])
  })

  it('has a session closed whose making was cut off', async () => {
    const facts = purchase()
    await forgetSession((await till.checkout(facts)).attemptId)
    await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    expect(await till.sessions(facts.registrationId)).toMatchObject([{ status: 'expired' }])
  })

  it('keeps a session that was opened after it came back, however late the news of its end', async () => {
    const facts = purchase()
    const first = await till.checkout(facts)
    const news = await bed.bus.publish(registrationExpired, facts.registrationId, facts)
    await bed.bus.seen(checkoutExpired, of(facts.registrationId))
    const renewed = await till.checkout(facts)
    expect(renewed.attemptId).not.toBe(first.attemptId)
    await bed.bus.republish({ ...news, id: randomUUIDv7() })
    const marker = purchase()
    await till.checkout(marker)
    await bed.bus.publish(registrationExpired, marker.registrationId, marker)
    await bed.bus.seen(checkoutExpired, of(marker.registrationId))
    expect(await till.read(facts.registrationId)).toMatchObject({ status: 'open', attemptId: renewed.attemptId })
  })

  it('has its session closed behind a hundred that cannot be', async () => {
    const apart = await Till.apart()
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

  it('is left alone where all of it was refunded', async () => {
    const facts = purchase()
    await till.checkout(facts)
    await bed.bus.publish(registrationCancelled, facts.registrationId, { ...facts, reason: 'refunded' })
    const marker = purchase()
    await till.checkout(marker)
    await bed.bus.publish(registrationCancelled, marker.registrationId, { ...marker, reason: 'requested' })
    await bed.bus.seen(checkoutExpired, of(marker.registrationId))
    expect((await till.read(facts.registrationId)).status).toBe('open')
  })
})

const twoChildren = [
  { childName: 'Ivo', childAge: 8 },
  { childName: 'Noa', childAge: 10 },
]

/** The charges of a registration's payment that were declined, oldest first. */
async function declinesOf(registrationId: string) {
  const events = await till.events(registrationId, ({ type }) => type === 'charge.failed')
  return events.map(({ data }) => ({ charge: data.object.id }))
}

function paidOf<T extends { payment: unknown }>(checkout: T) {
  return checkout.payment as NonNullable<T['payment']>
}

/** Leaves an attempt as a crash does that comes between the provider's answer and the commit. */
async function forgetSession(attemptId: string): Promise<void> {
  await till.service.context.db
    .update(checkoutAttempts)
    .set({ status: 'creating', stripeSessionId: null, checkoutUrl: null })
    .where(eq(checkoutAttempts.id, attemptId))
}

async function attemptsOf(registrationId: string) {
  return till.service.context.db
    .select()
    .from(checkoutAttempts)
    .where(eq(checkoutAttempts.purchaseId, registrationId))
    .orderBy(checkoutAttempts.id)
}
