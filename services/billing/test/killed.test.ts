import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutExpired,
  checkoutSchema,
  membershipCheckoutSchema,
  membershipRefunded,
  paymentCompleted,
  paymentDisputed,
  paymentRefunded,
  reconciliationSchema,
  refundDeclined,
  refundFailed,
  refundRequested,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionRenewed,
  subscriptionResumed,
  switchQuoteSchema,
} from '@robokids/contracts/billing'
import { movePaid, placesCancelled } from '@robokids/contracts/changes'
import { memberRejected, registrationRejected, type RegistrationFacts } from '@robokids/contracts/enrollment'
import type { CloudEvent } from '@robokids/contracts/event'
import { orderPaid, orderSchema, robotSpider } from '@robokids/contracts/shop'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DomainError } from '@robokids/runtime/errors'
import { cancelMembership } from '../src/membership/cancel-membership.ts'
import { resumeMembership } from '../src/membership/resume-membership.ts'
import { switchMembership } from '../src/membership/switch-plan.ts'
import { closeForReplacement } from '../src/checkout/close-for-replacement.ts'
import type { BillingContext } from '../src/config.ts'
import { consumers } from '../src/consumers.ts'
import { createCheckout } from '../src/checkout/create-checkout.ts'
import { createMoveCheckout } from '../src/checkout/create-move-checkout.ts'
import { createMembershipCheckout } from '../src/membership/create-membership-checkout.ts'
import { endMemberships } from '../src/membership/end-memberships.ts'
import { handleStripeEvent } from '../src/webhooks/handle-event.ts'
import { placeOrder } from '../src/orders/place-order.ts'
import { recordBalance } from '../src/ledger/record-balance.ts'
import { requestRefund } from '../src/refunds/request-refund.ts'
import { runRefunds } from '../src/refunds/run-refunds.ts'
import { KillableContext } from './killable-context.ts'
import { browserId, adminHeaders, heldMove, neverAborts, purchase, sessionIdOf, BillingFixture } from './fixture.ts'

/*
 * Each use case is killed before it has any effect, then after its first effect on the database or Stripe, then after its
 * second, and so on until it completes. Nothing that it does after that gets out, as with a crashed process. Then the same
 * request is repeated in a healthy process, and the outcome must be that of a single request.
 */

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
  await fixture.webhooks({ dropped: true })
})
afterAll(() => fixture.close())

/** @returns the number of steps. */
async function expectIdempotent<Subject>(flow: {
  prepare(): Promise<Subject>
  /** The use case that is killed. */
  run(context: BillingContext, subject: Subject): Promise<void>
  /** The same request again, to a healthy process. */
  repeat(subject: Subject): Promise<void>
  verify(subject: Subject): Promise<void>
  /** Concurrency: most of the time is spent waiting. */
  concurrency?: number
}): Promise<number> {
  /** @returns whether it completed. */
  const killAfter = async (steps: number): Promise<boolean> => {
    const subject = await flow.prepare()
    const killable = await KillableContext.create(fixture, steps)
    await flow.run(killable.context, subject).catch((error: unknown) => {
      if (!killable.isKilled) throw error
    })
    await killable.end()
    await flow.repeat(subject)
    await flow.verify(subject)
    return !killable.isKilled
  }
  const { concurrency = 4 } = flow
  for (let steps = 0; ; steps += concurrency) {
    const outcomes = await Promise.all(Array.from({ length: concurrency }, (_, index) => killAfter(steps + index)))
    const through = outcomes.indexOf(true)
    if (through === -1) continue
    await booksBalance()
    return steps + through
  }
}

async function callOrThrow(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fixture.call(method, path, body, adminHeaders)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function refreshed(path: Parameters<BillingFixture['refresh']>[0]): Promise<void> {
  const answer = await fixture.refresh(path)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}

async function settled(): Promise<void> {
  await eventually(async () => {
    const {
      rows: [row],
    } = await fixture.service.context.db.execute<{ waiting: string }>(sql`
      select (select count(*) from outbox where published_at is null)
        + (select count(*) from refunds where status = 'pending') as waiting`)
    return Number(row?.waiting) === 0
  }, 15_000)
}

/** Expects each payment once, and receipt numbers without gaps or duplicates. */
async function booksBalance(): Promise<void> {
  const books = reconciliationSchema.parse(await callOrThrow('POST', '/admin/reconcile'))
  expect(books).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  const { rows } = await fixture.service.context.db.execute<{ number: string }>(sql`
    select receipt_number as number from payments where receipt_number is not null order by receipt_number`)
  expect(rows.map(({ number }) => Number(number.slice(3)))).toEqual(rows.map((_, index) => index + 1))
}

const stripeEvent = (type: string, objectId: string) => ({ eventId: `evt_${randomUUIDv7()}`, type, objectId })
const completed = (checkoutUrl: string) => stripeEvent('checkout.session.completed', sessionIdOf({ checkoutUrl }))

/** Repeats an event as Stripe does. */
async function deliverEvent(type: string, objectId: string): Promise<void> {
  expect((await fixture.deliver(fixture.event(type, objectId))).status).toBe(200)
}

/** Runs a consumer: all in one transaction. */
async function hear(context: BillingContext, event: CloudEvent): Promise<void> {
  const consumer = consumers.find(({ definition }) => definition.type === event.type)
  if (!consumer) throw new Error(`Nobody consumes ${event.type}.`)
  await context.db.transaction((tx) => consumer.handle(tx, event, context))
}

async function sold() {
  const facts = purchase()
  await fixture.sell(facts)
  // A refresh that follows another one at once does not ask the provider again: the webhook comes.
  const payment = await eventually(async () => {
    const { body } = await fixture.call('GET', `/checkouts/${facts.registrationId}`)
    return checkoutSchema.parse(body).payment
  })
  const { stripePaymentIntentId: intentId, ...paid } = payment
  const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(intentId)
  return { facts, paid, intentId, charge: typeof charge === 'string' ? charge : '' }
}

/** The event as published by enrollment. */
function rejectionOf(facts: RegistrationFacts, paid: Awaited<ReturnType<typeof sold>>['paid']) {
  const { paymentId, receiptNumber, amount, currency } = paid
  const payment = { paymentId, receiptNumber, amount, currency }
  return newEvent(registrationRejected, facts.registrationId, { ...facts, payment, reason: 'class_full' })
}

/** Disputes a charge; resolves once it is recorded. */
async function disputed(charge: string): Promise<void> {
  await fixture.sim('POST', `/charges/${charge}/dispute`)
  const [dispute] = (await fixture.stripe.disputes.list({ charge })).data
  await deliverEvent('charge.dispute.created', dispute?.id ?? '')
}

/** Runs the waiting refunds although Stripe declines them. */
async function runRefused(context: BillingContext): Promise<void> {
  await runRefunds(context, neverAborts).catch((error: unknown) => {
    if (!(error instanceof Error && /^\d+ of \d+ failed$/.test(error.message))) throw error
  })
}

/** The refunds of a payment at Stripe. */
async function givenBack(intentId: string): Promise<number[]> {
  const { data } = await fixture.stripe.refunds.list({ payment_intent: intentId, limit: 100 })
  return data.map(({ amount }) => amount)
}

async function subscriptionOf(membershipId: string) {
  const {
    rows: [{ id } = { id: '' }],
  } = await fixture.service.context.db.execute<{ id: string }>(sql`
    select stripe_subscription_id as id from memberships where attempt_id = ${membershipId}`)
  return fixture.stripe.subscriptions.retrieve(id)
}

async function paymentsOf(id: string) {
  const { rows } = await fixture.service.context.db.execute<{ amount: number }>(sql`
    select amount from payments where registration_id = ${id} order by receipt_number`)
  return rows
}

const newRequest = () => ({
  email: `${randomUUIDv7()}@example.com`,
  plan: 'monthly' as const,
  classDate: '2027-01-08',
})

async function newMember() {
  const request = newRequest()
  const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(
    await callOrThrow('POST', '/membership-checkouts', request),
  )
  await fixture.pay({ checkoutUrl })
  await refreshed(`/membership-checkouts/${attemptId}`)
  return { ...request, id: attemptId }
}

describe('a use case killed at each step in turn', { timeout: 240_000 }, () => {
  it('enters every cent into the ledger once', async () => {
    await expectIdempotent({
      // The next subject's payment is in Stripe's list as well, before its webhook has arrived.
      concurrency: 1,
      async prepare() {
        await sold()
      },
      run: (context) => recordBalance(context, neverAborts),
      async repeat() {},
      verify: booksBalance,
    })
  })

  it('creates one membership with one payment', async () => {
    const steps = await expectIdempotent({
      prepare: async () => newRequest(),
      async run(context, request) {
        const { checkoutUrl } = await createMembershipCheckout(context, { ...request, browserId }, neverAborts)
        await fixture.pay({ checkoutUrl })
        await handleStripeEvent(context, completed(checkoutUrl))
      },
      async repeat(request) {
        const answer = await fixture.call('POST', '/membership-checkouts', request)
        if (answer.status === 409) return
        const { checkoutUrl, attemptId } = membershipCheckoutSchema.parse(answer.body)
        await fixture.pay({ checkoutUrl })
        await refreshed(`/membership-checkouts/${attemptId}`)
      },
      async verify(request) {
        const of = ({ email }: { email: string }) => email === request.email
        const { data } = await bed.bus.seen(subscriptionActivated, of)
        await settled()
        expect(bed.bus.all(subscriptionActivated, of)).toHaveLength(1)
        expect(await paymentsOf(data.attemptId)).toEqual([{ amount: 700 }])
      },
    })
    expect(steps).toBeGreaterThan(7)
  })

  it('makes a change of plan once, as quoted', async () => {
    const steps = await expectIdempotent({
      async prepare() {
        const member = await newMember()
        const quote = await callOrThrow('POST', `/memberships/${member.id}/quote`, { plan: 'yearly' })
        const { plan, dueNow, reckonedAt } = switchQuoteSchema.parse(quote)
        return { ...member, change: { plan, dueNow, reckonedAt } }
      },
      async run(context, { id, change }) {
        await switchMembership(context, id, change)
      },
      async repeat({ id, change }) {
        await callOrThrow('POST', `/memberships/${id}/switch`, change)
      },
      async verify({ id, change }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionRenewed, of)
        await settled()
        expect(bed.bus.all(subscriptionRenewed, of)).toHaveLength(1)
        expect(await paymentsOf(id)).toEqual([{ amount: 700 }, { amount: change.dueNow }])
      },
    })
    expect(steps).toBeGreaterThan(12)
  })

  it('cancels a membership once', async () => {
    await expectIdempotent({
      prepare: newMember,
      async run(context, { id }) {
        await cancelMembership(context, id)
      },
      async repeat({ id }) {
        expect(await callOrThrow('POST', `/memberships/${id}/cancel`)).toMatchObject({ nextCharge: null })
      },
      async verify({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionCancelled, of)
        await settled()
        expect(bed.bus.all(subscriptionCancelled, of)).toHaveLength(1)
      },
    })
  })

  it('sells a class once', async () => {
    await expectIdempotent({
      prepare: async () => purchase(),
      async run(context, facts) {
        const { checkoutUrl } = await createCheckout(context, { purchase: facts })
        await fixture.pay({ checkoutUrl })
        await handleStripeEvent(context, completed(checkoutUrl ?? ''))
      },
      async repeat(facts) {
        const { checkoutUrl } = await fixture.checkout(facts)
        if (checkoutUrl !== null) await fixture.pay({ checkoutUrl })
        await refreshed(`/checkouts/${facts.registrationId}`)
      },
      async verify({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentCompleted, of)
        await settled()
        expect(bed.bus.all(paymentCompleted, of)).toHaveLength(1)
        expect(await paymentsOf(registrationId)).toEqual([{ amount: 40_000 }])
      },
    })
  })

  it('makes a refund once', async () => {
    await expectIdempotent({
      async prepare() {
        const facts = purchase()
        await fixture.sell(facts)
        return { registrationId: facts.registrationId, refundId: randomUUIDv7() }
      },
      async run(context, request) {
        await requestRefund(context, request)
      },
      async repeat(request) {
        await callOrThrow('POST', '/refunds', request)
      },
      async verify({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(bed.bus.all(paymentRefunded, of)).toHaveLength(1)
        expect(bed.bus.all(membershipRefunded, ({ attemptId }) => attemptId === registrationId)).toEqual([])
      },
    })
  })

  it('makes a partial refund once, even if the retry comes after Stripe has dropped the idempotency key', async () => {
    await expectIdempotent({
      // It advances the clock of all.
      concurrency: 1,
      async prepare() {
        const { facts, intentId } = await sold()
        return { intentId, request: { registrationId: facts.registrationId, refundId: randomUUIDv7(), amount: 15_000 } }
      },
      async run(context, { request }) {
        await requestRefund(context, request)
      },
      async repeat({ request }) {
        fixture.simulator.advanceClock(25 * 3600)
        await callOrThrow('POST', '/refunds', request)
      },
      async verify({ request, intentId }) {
        const of = (data: { registrationId: string }) => data.registrationId === request.registrationId
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(await givenBack(intentId)).toEqual([15_000])
      },
    })
  })

  it('sells an order once with one payment', async () => {
    const items = [{ sku: robotSpider, quantity: 1 }]
    await expectIdempotent({
      prepare: async () => randomUUIDv7(),
      async run(context, orderId) {
        const { checkout } = await placeOrder(context, { orderId, items, browserId })
        await fixture.pay({ checkoutUrl: checkout.url })
        await handleStripeEvent(context, completed(checkout.url ?? ''))
      },
      async repeat(orderId) {
        const { checkout } = orderSchema.parse(await callOrThrow('POST', '/orders', { orderId, items }))
        if (checkout.url !== null) await fixture.pay({ checkoutUrl: checkout.url })
        await refreshed(`/orders/${orderId}`)
      },
      async verify(orderId) {
        const of = (data: { orderId: string }) => data.orderId === orderId
        await bed.bus.seen(orderPaid, of)
        await settled()
        expect(bed.bus.all(orderPaid, of)).toHaveLength(1)
        expect(await paymentsOf(orderId)).toEqual([{ amount: 30_000 }])
      },
    })
  })

  it('sells a changed cart once, in its latest version', async () => {
    const items = [{ sku: robotSpider, quantity: 2 }]
    const steps = await expectIdempotent({
      async prepare() {
        const before = randomUUIDv7()
        await callOrThrow('POST', '/orders', { orderId: before, items: [{ sku: robotSpider, quantity: 1 }] })
        return { orderId: randomUUIDv7(), replaces: before }
      },
      async run(context, ids) {
        const { checkout } = await placeOrder(context, { ...ids, items, browserId })
        await fixture.pay({ checkoutUrl: checkout.url })
        await handleStripeEvent(context, completed(checkout.url ?? ''))
      },
      async repeat(ids) {
        const { checkout } = orderSchema.parse(await callOrThrow('POST', '/orders', { ...ids, items }))
        if (checkout.url !== null) await fixture.pay({ checkoutUrl: checkout.url })
        await refreshed(`/orders/${ids.orderId}`)
      },
      async verify({ orderId, replaces }) {
        await bed.bus.seen(orderPaid, (data) => data.orderId === orderId)
        await settled()
        expect(bed.bus.all(orderPaid, (data) => data.orderId === orderId || data.orderId === replaces)).toHaveLength(1)
        expect(await paymentsOf(orderId)).toEqual([{ amount: 60_000 }])
        expect(await paymentsOf(replaces)).toEqual([])
        for (const { status } of await fixture.sessions(replaces)) expect(status).toBe('expired')
      },
    })
    expect(steps).toBeGreaterThan(9)
  })

  it('closes a replaced registration’s checkout, publishes that once, and ends no hold', async () => {
    const steps = await expectIdempotent({
      async prepare() {
        const facts = purchase()
        const { attemptId } = await fixture.checkout(facts)
        return { attemptId, registrationId: facts.registrationId }
      },
      async run(context, { registrationId }) {
        await closeForReplacement(context, registrationId)
      },
      async repeat({ registrationId }) {
        expect(await callOrThrow('POST', `/checkouts/${registrationId}/close`)).toEqual({ outcome: 'closed' })
      },
      async verify({ attemptId, registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(checkoutExpired, of)
        await settled()
        expect(bed.bus.all(checkoutExpired, of).map(({ data }) => data)).toEqual([
          { attemptId, registrationId, replaced: true },
        ])
        for (const { status } of await fixture.sessions(registrationId)) expect(status).toBe('expired')
      },
    })
    expect(steps).toBeGreaterThan(5)
  })

  it('publishes a declined refund once', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, charge } = await sold()
        await disputed(charge)
        return { registrationId: facts.registrationId, refundId: randomUUIDv7() }
      },
      async run(context, request) {
        // Stripe declines it, as reported to the caller.
        await requestRefund(context, request).catch((error: unknown) => {
          if (!(error instanceof DomainError)) throw error
        })
      },
      async repeat(request) {
        const answer = await fixture.call('POST', '/refunds', request, adminHeaders)
        expect([200, 409]).toContain(answer.status)
      },
      async verify({ registrationId }) {
        const of = (data: { registrationId: string | null }) => data.registrationId === registrationId
        await bed.bus.seen(refundDeclined, of, 20_000)
        await settled()
        expect(bed.bus.all(refundRequested, of)).toHaveLength(1)
        expect(bed.bus.all(refundDeclined, of).map(({ data }) => data.underWayTotal)).toEqual([0])
        expect(bed.bus.all(paymentRefunded, (data) => data.registrationId === registrationId)).toEqual([])
      },
    })
  })

  it('refunds a paid class without a seat once', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, paid, intentId } = await sold()
        return { intentId, event: rejectionOf(facts, paid) }
      },
      run: (context, { event }) => hear(context, event),
      async repeat({ event }) {
        await bed.bus.republish(event)
        await bed.bus.publish(registrationRejected, event.subject, event.data)
      },
      async verify({ event, intentId }) {
        const of = (data: { registrationId: string }) => data.registrationId === event.subject
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(bed.bus.all(paymentRefunded, of).map(({ data }) => data.reason)).toEqual(['seat_gone'])
        expect(await givenBack(intentId)).toEqual([40_000])
      },
    })
  })

  it('refunds the rest of a rejected payment once after a partial refund in the dashboard', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, paid, intentId } = await sold()
        await fixture.stripe.refunds.create({ payment_intent: intentId, amount: 10_000 })
        return { intentId, event: rejectionOf(facts, paid) }
      },
      async run(context, { event }) {
        await hear(context, event)
        await runRefused(context)
      },
      repeat: ({ event }) => bed.bus.republish(event),
      async verify({ event, intentId }) {
        const of = (data: { registrationId: string | null }) => data.registrationId === event.subject
        await bed.bus.seen(paymentRefunded, (data) => of(data) && data.whole === true, 20_000)
        await settled()
        // Newest first.
        expect(await givenBack(intentId)).toEqual([30_000, 10_000])
        expect(bed.bus.all(paymentRefunded, of).map(({ data }) => data.amount)).toEqual([10_000, 30_000])
        expect(bed.bus.all(refundDeclined, of).map(({ data }) => data.retried)).toEqual([true])
      },
    })
  })

  it('takes the difference of a move once', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts } = await sold()
        return heldMove(facts)
      },
      async run(context, { changeId }) {
        const { checkoutUrl } = await createMoveCheckout(context, changeId)
        await fixture.pay({ checkoutUrl })
        await handleStripeEvent(context, completed(checkoutUrl ?? ''))
      },
      async repeat({ changeId }) {
        const page = checkoutSchema.parse(await callOrThrow('POST', '/move-checkouts', { changeId }))
        if (page.checkoutUrl !== null) await fixture.pay(page)
        await refreshed(`/checkouts/${changeId}`)
      },
      async verify({ changeId }) {
        const of = (data: { changeId: string }) => data.changeId === changeId
        await bed.bus.seen(movePaid, of, 20_000)
        await settled()
        expect(bed.bus.all(movePaid, of).map(({ data }) => data.amount)).toEqual([10_000])
        expect(await paymentsOf(changeId)).toEqual([{ amount: 10_000 }])
      },
    })
  })

  it('gives back once what a cancellation gives back, from both payments', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, paid, intentId } = await sold()
        const { changeId, terms } = heldMove(facts)
        const page = checkoutSchema.parse(await callOrThrow('POST', '/move-checkouts', { changeId }))
        await fixture.pay(page)
        await refreshed(`/checkouts/${changeId}`)
        const difference = checkoutSchema.parse(await callOrThrow('GET', `/checkouts/${changeId}`)).payment
        const paymentIds = [difference?.paymentId ?? '', paid.paymentId]
        const change = { changeId: randomUUIDv7(), terms: { ...terms, due: 0, back: 15_000 }, number: 2, classes: [] }
        const event = newEvent(placesCancelled, facts.registrationId, {
          ...facts,
          ...change,
          paymentIds,
          isOver: false,
        })
        return { event, intents: [difference?.stripePaymentIntentId ?? '', intentId] }
      },
      async run(context, { event }) {
        await hear(context, event)
        await runRefunds(context, neverAborts)
      },
      repeat: ({ event }) => bed.bus.republish(event),
      async verify({ event, intents: [difference = '', own = ''] }) {
        const { changeId } = event.data
        const of = (data: { changeId?: string | undefined }) => data.changeId === changeId
        await eventually(() => bed.bus.all(paymentRefunded, of).length === 2, 20_000)
        await settled()
        expect([await givenBack(difference), await givenBack(own)]).toEqual([[10_000], [5_000]])
        expect(bed.bus.all(paymentRefunded, of)).toHaveLength(2)
      },
    })
  })

  it('publishes the failed refund of a disputed payment once', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, paid, intentId, charge } = await sold()
        await disputed(charge)
        return { intentId, event: rejectionOf(facts, paid) }
      },
      async run(context, { event }) {
        await hear(context, event)
        await runRefused(context)
      },
      repeat: ({ event }) => bed.bus.republish(event),
      async verify({ event, intentId }) {
        const of = (data: { registrationId: string | null }) => data.registrationId === event.subject
        await bed.bus.seen(refundFailed, of, 20_000)
        await settled()
        expect(bed.bus.all(refundFailed, of).map(({ data }) => data.disputed)).toEqual([true])
        expect(bed.bus.all(refundDeclined, of)).toEqual([])
        expect(await givenBack(intentId)).toEqual([])
      },
    })
  })

  it('ends and refunds a paid membership without a seat once', async () => {
    await expectIdempotent({
      async prepare() {
        const { id, ...member } = await newMember()
        const facts = { ...member, amount: 700, currency: 'usd' as const, reason: 'class_full' as const }
        return newEvent(memberRejected, id, { ...facts, attemptId: id })
      },
      async run(context, event) {
        await hear(context, event)
        await endMemberships(context, neverAborts)
      },
      async repeat(event) {
        await bed.bus.republish(event)
        await bed.bus.publish(memberRejected, event.subject, event.data)
      },
      async verify({ subject }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === subject
        await bed.bus.seen(membershipRefunded, of, 20_000)
        await bed.bus.seen(subscriptionEnded, of, 20_000)
        await settled()
        expect(bed.bus.all(membershipRefunded, of).map(({ data }) => data.refundedTotal)).toEqual([700])
        expect(bed.bus.all(subscriptionEnded, of).map(({ data }) => data.reason)).toEqual(['seat_gone'])
        expect((await subscriptionOf(subject)).status).toBe('canceled')
      },
    })
  })

  it('resumes a cancelled membership', async () => {
    await expectIdempotent({
      async prepare() {
        const member = await newMember()
        await callOrThrow('POST', `/memberships/${member.id}/cancel`)
        return member
      },
      async run(context, { id }) {
        await resumeMembership(context, id)
      },
      async repeat({ id }) {
        expect(await callOrThrow('POST', `/memberships/${id}/resume`)).toMatchObject({ endsAt: null })
      },
      async verify({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionResumed, of)
        await settled()
        expect(bed.bus.all(subscriptionResumed, of)).toHaveLength(1)
      },
    })
  })

  it('records a renewal payment of a webhook once', async () => {
    await expectIdempotent({
      async prepare() {
        const { id } = await newMember()
        const { id: subscriptionId, items } = await subscriptionOf(id)
        const [item] = items.data
        const product = item?.price.product
        const { latest_invoice: invoice } = await fixture.stripe.subscriptions.update(subscriptionId, {
          items: [
            {
              id: item?.id ?? '',
              price_data: {
                currency: 'usd',
                product: typeof product === 'string' ? product : '',
                recurring: { interval: 'year' },
                unit_amount: 6_000,
              },
            },
          ],
          proration_behavior: 'always_invoice',
        })
        return { id, invoiceId: typeof invoice === 'string' ? invoice : '' }
      },
      async run(context, { invoiceId }) {
        await handleStripeEvent(context, stripeEvent('invoice.paid', invoiceId))
      },
      repeat: ({ invoiceId }) => deliverEvent('invoice.paid', invoiceId),
      async verify({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        const { data } = await bed.bus.seen(subscriptionRenewed, of)
        await settled()
        expect(bed.bus.all(subscriptionRenewed, of)).toHaveLength(1)
        expect(await paymentsOf(id)).toEqual([{ amount: 700 }, { amount: data.paidAmount }])
      },
    })
  })

  it('records each refund made in the dashboard once', async () => {
    await expectIdempotent({
      async prepare() {
        const { facts, intentId, charge } = await sold()
        await fixture.stripe.refunds.create({ payment_intent: intentId, amount: 15_000 })
        await fixture.stripe.refunds.create({ payment_intent: intentId })
        return { registrationId: facts.registrationId, charge }
      },
      async run(context, { charge }) {
        await handleStripeEvent(context, stripeEvent('charge.refunded', charge))
      },
      repeat: ({ charge }) => deliverEvent('charge.refunded', charge),
      async verify({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await eventually(() => bed.bus.all(paymentRefunded, of).length >= 2)
        await settled()
        const published = bed.bus.all(paymentRefunded, of).map(({ data }) => data.amount)
        expect(published.toSorted((a, b) => a - b)).toEqual([15_000, 25_000])
      },
    })
  })

  it('records and publishes a dispute once', async () => {
    await expectIdempotent({
      async prepare() {
        const { charge } = await sold()
        await fixture.sim('POST', `/charges/${charge}/dispute`)
        const [dispute] = (await fixture.stripe.disputes.list({ charge })).data
        return dispute?.id ?? ''
      },
      async run(context, disputeId) {
        await handleStripeEvent(context, stripeEvent('charge.dispute.created', disputeId))
      },
      repeat: (disputeId) => deliverEvent('charge.dispute.created', disputeId),
      async verify(id) {
        const of = ({ disputeId }: { disputeId: string }) => disputeId === id
        await bed.bus.seen(paymentDisputed, of)
        await settled()
        expect(bed.bus.all(paymentDisputed, of)).toHaveLength(1)
      },
    })
  })
})
