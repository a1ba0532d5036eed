import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutExpired,
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
import { createMembershipCheckout } from '../src/membership/create-membership-checkout.ts'
import { endMemberships } from '../src/membership/end-memberships.ts'
import { handleStripeEvent } from '../src/webhooks/handle-event.ts'
import { placeOrder } from '../src/orders/place-order.ts'
import { recordBalance } from '../src/ledger/record-balance.ts'
import { requestRefund } from '../src/refunds/request-refund.ts'
import { runRefunds } from '../src/refunds/run-refunds.ts'
import { Mortal } from './mortal.ts'
import { browserId, adminHeaders, neverAborts, purchase, sessionIdOf, Till } from './till.ts'

/*
 * A use case is killed before anything has happened, then after the first thing that it has changed in the database or asked of
 * the payment provider, then after the second, and so on until it gets through. Nothing that it does after that gets out, as of a
 * process that is gone. Then the same is asked for again, of another process, and everything must be as if it had been
 * asked for once.
 */

let bed: TestBed
let till: Till
beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
  await till.webhooks({ dropped: true })
})
afterAll(() => till.close())

/** @returns how many steps there were. */
async function walk<Subject>(flow: {
  prepare(): Promise<Subject>
  /** What is killed. */
  act(context: BillingContext, subject: Subject): Promise<void>
  /** The same once more, of a process that lives. */
  again(subject: Subject): Promise<void>
  look(subject: Subject): Promise<void>
  /** How many at once: most of the time is spent waiting. */
  atOnce?: number
}): Promise<number> {
  /** @returns whether it got through. */
  const killAfter = async (steps: number): Promise<boolean> => {
    const subject = await flow.prepare()
    const mortal = await Mortal.live(till, steps)
    await flow.act(mortal.context, subject).catch((error: unknown) => {
      if (!mortal.isDead) throw error
    })
    await mortal.end()
    await flow.again(subject)
    await flow.look(subject)
    return !mortal.isDead
  }
  const { atOnce = 4 } = flow
  for (let steps = 0; ; steps += atOnce) {
    const outcomes = await Promise.all(Array.from({ length: atOnce }, (_, index) => killAfter(steps + index)))
    const through = outcomes.indexOf(true)
    if (through === -1) continue
    await booksBalance()
    return steps + through
  }
}

async function insist(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await till.call(method, path, body, adminHeaders)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function refreshed(path: Parameters<Till['refresh']>[0]): Promise<void> {
  const answer = await till.refresh(path)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}

async function settled(): Promise<void> {
  await eventually(async () => {
    const {
      rows: [row],
    } = await till.service.context.db.execute<{ waiting: string }>(sql`
      select (select count(*) from outbox where published_at is null)
        + (select count(*) from refunds where status = 'pending') as waiting`)
    return Number(row?.waiting) === 0
  }, 15_000)
}

/** Every cent is one record, and receipts have neither gap nor double. */
async function booksBalance(): Promise<void> {
  const books = reconciliationSchema.parse(await insist('POST', '/admin/reconcile'))
  expect(books).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  const { rows } = await till.service.context.db.execute<{ number: string }>(sql`
    select receipt_number as number from payments where receipt_number is not null order by receipt_number`)
  expect(rows.map(({ number }) => Number(number.slice(3)))).toEqual(rows.map((_, index) => index + 1))
}

const notice = (type: string, objectId: string) => ({ eventId: `evt_${randomUUIDv7()}`, type, objectId })
const completed = (checkoutUrl: string) => notice('checkout.session.completed', sessionIdOf({ checkoutUrl }))

/** The same occurrence, told of as the provider does. */
async function tell(type: string, objectId: string): Promise<void> {
  expect((await till.deliver(till.event(type, objectId))).status).toBe(200)
}

/** As a consumer does it: all in one transaction. */
async function hear(context: BillingContext, event: CloudEvent): Promise<void> {
  const consumer = consumers.find(({ definition }) => definition.type === event.type)
  if (!consumer) throw new Error(`Nobody consumes ${event.type}.`)
  await context.db.transaction((tx) => consumer.handle(tx, event, context))
}

async function sold() {
  const facts = purchase()
  const { payment } = await till.sell(facts)
  if (!payment) throw new Error('It is not paid.')
  const { stripePaymentIntentId: intentId, ...paid } = payment
  const { latest_charge: charge } = await till.stripe.paymentIntents.retrieve(intentId)
  return { facts, paid, intentId, charge: typeof charge === 'string' ? charge : '' }
}

/** As enrollment tells it. */
function rejectionOf(facts: RegistrationFacts, paid: Awaited<ReturnType<typeof sold>>['paid']) {
  const { paymentId, receiptNumber, amount, currency } = paid
  const payment = { paymentId, receiptNumber, amount, currency }
  return newEvent(registrationRejected, facts.registrationId, { ...facts, payment, reason: 'class_full' })
}

/** Has a charge disputed, which is known here. */
async function disputed(charge: string): Promise<void> {
  await till.sim('POST', `/charges/${charge}/dispute`)
  const [dispute] = (await till.stripe.disputes.list({ charge })).data
  await tell('charge.dispute.created', dispute?.id ?? '')
}

/** Has refunds made that the provider refuses, which its caller hears of. */
async function runRefused(context: BillingContext): Promise<void> {
  await runRefunds(context, neverAborts).catch((error: unknown) => {
    if (!(error instanceof Error && /^\d+ of \d+ failed$/.test(error.message))) throw error
  })
}

/** What the provider gave back of a payment. */
async function givenBack(intentId: string): Promise<number[]> {
  const { data } = await till.stripe.refunds.list({ payment_intent: intentId, limit: 100 })
  return data.map(({ amount }) => amount)
}

async function subscriptionOf(membershipId: string) {
  const {
    rows: [{ id } = { id: '' }],
  } = await till.service.context.db.execute<{ id: string }>(sql`
    select stripe_subscription_id as id from memberships where attempt_id = ${membershipId}`)
  return till.stripe.subscriptions.retrieve(id)
}

async function paymentsOf(id: string) {
  const { rows } = await till.service.context.db.execute<{ amount: number }>(sql`
    select amount from payments where registration_id = ${id} order by receipt_number`)
  return rows
}

const newWish = () => ({
  email: `${randomUUIDv7()}@example.com`,
  plan: 'monthly' as const,
  classDate: '2027-01-08',
})

async function newMember() {
  const wish = newWish()
  const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(await insist('POST', '/membership-checkouts', wish))
  await till.pay({ checkoutUrl })
  await refreshed(`/membership-checkouts/${attemptId}`)
  return { ...wish, id: attemptId }
}

describe('killed at each step in turn', { timeout: 240_000 }, () => {
  it('every cent is entered into the ledger once', async () => {
    await walk({
      // What the next one has paid, and nobody has heard of yet, is in the provider's list as well.
      atOnce: 1,
      async prepare() {
        await sold()
      },
      act: (context) => recordBalance(context, neverAborts),
      async again() {},
      look: booksBalance,
    })
  })

  it('a membership is one, of one payment', async () => {
    const steps = await walk({
      prepare: async () => newWish(),
      async act(context, wish) {
        const { checkoutUrl } = await createMembershipCheckout(context, { ...wish, browserId }, neverAborts)
        await till.pay({ checkoutUrl })
        await handleStripeEvent(context, completed(checkoutUrl))
      },
      async again(wish) {
        const answer = await till.call('POST', '/membership-checkouts', wish)
        if (answer.status === 409) return
        const { checkoutUrl, attemptId } = membershipCheckoutSchema.parse(answer.body)
        await till.pay({ checkoutUrl })
        await refreshed(`/membership-checkouts/${attemptId}`)
      },
      async look(wish) {
        const of = ({ email }: { email: string }) => email === wish.email
        const { data } = await bed.bus.seen(subscriptionActivated, of)
        await settled()
        expect(bed.bus.all(subscriptionActivated, of)).toHaveLength(1)
        expect(await paymentsOf(data.attemptId)).toEqual([{ amount: 700 }])
      },
    })
    expect(steps).toBeGreaterThan(7)
  })

  it('a change of plan is made once, for what was quoted', async () => {
    const steps = await walk({
      async prepare() {
        const member = await newMember()
        const quote = await insist('POST', `/memberships/${member.id}/quote`, { plan: 'yearly' })
        const { plan, dueNow, reckonedAt } = switchQuoteSchema.parse(quote)
        return { ...member, change: { plan, dueNow, reckonedAt } }
      },
      async act(context, { id, change }) {
        await switchMembership(context, id, change)
      },
      async again({ id, change }) {
        await insist('POST', `/memberships/${id}/switch`, change)
      },
      async look({ id, change }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionRenewed, of)
        await settled()
        expect(bed.bus.all(subscriptionRenewed, of)).toHaveLength(1)
        expect(await paymentsOf(id)).toEqual([{ amount: 700 }, { amount: change.dueNow }])
      },
    })
    expect(steps).toBeGreaterThan(12)
  })

  it('a cancellation is one', async () => {
    await walk({
      prepare: newMember,
      async act(context, { id }) {
        await cancelMembership(context, id)
      },
      async again({ id }) {
        expect(await insist('POST', `/memberships/${id}/cancel`)).toMatchObject({ nextCharge: null })
      },
      async look({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionCancelled, of)
        await settled()
        expect(bed.bus.all(subscriptionCancelled, of)).toHaveLength(1)
      },
    })
  })

  it('a class is sold once', async () => {
    await walk({
      prepare: async () => purchase(),
      async act(context, facts) {
        const { checkoutUrl } = await createCheckout(context, { purchase: facts })
        await till.pay({ checkoutUrl })
        await handleStripeEvent(context, completed(checkoutUrl ?? ''))
      },
      async again(facts) {
        const { checkoutUrl } = await till.checkout(facts)
        if (checkoutUrl !== null) await till.pay({ checkoutUrl })
        await refreshed(`/checkouts/${facts.registrationId}`)
      },
      async look({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentCompleted, of)
        await settled()
        expect(bed.bus.all(paymentCompleted, of)).toHaveLength(1)
        expect(await paymentsOf(registrationId)).toEqual([{ amount: 40_000 }])
      },
    })
  })

  it('a refund is made once', async () => {
    await walk({
      async prepare() {
        const facts = purchase()
        await till.sell(facts)
        return { registrationId: facts.registrationId, refundId: randomUUIDv7() }
      },
      async act(context, request) {
        await requestRefund(context, request)
      },
      async again(request) {
        await insist('POST', '/refunds', request)
      },
      async look({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(bed.bus.all(paymentRefunded, of)).toHaveLength(1)
        expect(bed.bus.all(membershipRefunded, ({ attemptId }) => attemptId === registrationId)).toEqual([])
      },
    })
  })

  it('a part that is refunded is refunded once, also where it is tried again when the provider has forgotten the first try', async () => {
    await walk({
      // They move the clock of all.
      atOnce: 1,
      async prepare() {
        const { facts, intentId } = await sold()
        return { intentId, request: { registrationId: facts.registrationId, refundId: randomUUIDv7(), amount: 15_000 } }
      },
      async act(context, { request }) {
        await requestRefund(context, request)
      },
      async again({ request }) {
        till.simulator.advanceClock(25 * 3600)
        await insist('POST', '/refunds', request)
      },
      async look({ request, intentId }) {
        const of = (data: { registrationId: string }) => data.registrationId === request.registrationId
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(await givenBack(intentId)).toEqual([15_000])
      },
    })
  })

  it('an order is one, of one payment', async () => {
    const items = [{ sku: robotSpider, quantity: 1 }]
    await walk({
      prepare: async () => randomUUIDv7(),
      async act(context, orderId) {
        const { checkout } = await placeOrder(context, { orderId, items, browserId })
        await till.pay({ checkoutUrl: checkout.url })
        await handleStripeEvent(context, completed(checkout.url ?? ''))
      },
      async again(orderId) {
        const { checkout } = orderSchema.parse(await insist('POST', '/orders', { orderId, items }))
        if (checkout.url !== null) await till.pay({ checkoutUrl: checkout.url })
        await refreshed(`/orders/${orderId}`)
      },
      async look(orderId) {
        const of = (data: { orderId: string }) => data.orderId === orderId
        await bed.bus.seen(orderPaid, of)
        await settled()
        expect(bed.bus.all(orderPaid, of)).toHaveLength(1)
        expect(await paymentsOf(orderId)).toEqual([{ amount: 30_000 }])
      },
    })
  })

  it('a cart that is changed is paid once, as it is now', async () => {
    const items = [{ sku: robotSpider, quantity: 2 }]
    const steps = await walk({
      async prepare() {
        const before = randomUUIDv7()
        await insist('POST', '/orders', { orderId: before, items: [{ sku: robotSpider, quantity: 1 }] })
        return { orderId: randomUUIDv7(), replaces: before }
      },
      async act(context, ids) {
        const { checkout } = await placeOrder(context, { ...ids, items, browserId })
        await till.pay({ checkoutUrl: checkout.url })
        await handleStripeEvent(context, completed(checkout.url ?? ''))
      },
      async again(ids) {
        const { checkout } = orderSchema.parse(await insist('POST', '/orders', { ...ids, items }))
        if (checkout.url !== null) await till.pay({ checkoutUrl: checkout.url })
        await refreshed(`/orders/${ids.orderId}`)
      },
      async look({ orderId, replaces }) {
        await bed.bus.seen(orderPaid, (data) => data.orderId === orderId)
        await settled()
        expect(bed.bus.all(orderPaid, (data) => data.orderId === orderId || data.orderId === replaces)).toHaveLength(1)
        expect(await paymentsOf(orderId)).toEqual([{ amount: 60_000 }])
        expect(await paymentsOf(replaces)).toEqual([])
        for (const { status } of await till.sessions(replaces)) expect(status).toBe('expired')
      },
    })
    expect(steps).toBeGreaterThan(9)
  })

  it('a registration’s checkout that is closed for another one is closed, which is told of once and ends no hold', async () => {
    const steps = await walk({
      async prepare() {
        const facts = purchase()
        const { attemptId } = await till.checkout(facts)
        return { attemptId, registrationId: facts.registrationId }
      },
      async act(context, { registrationId }) {
        await closeForReplacement(context, registrationId)
      },
      async again({ registrationId }) {
        expect(await insist('POST', `/checkouts/${registrationId}/close`)).toEqual({ outcome: 'closed' })
      },
      async look({ attemptId, registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(checkoutExpired, of)
        await settled()
        expect(bed.bus.all(checkoutExpired, of).map(({ data }) => data)).toEqual([
          { attemptId, registrationId, replaced: true },
        ])
        for (const { status } of await till.sessions(registrationId)) expect(status).toBe('expired')
      },
    })
    expect(steps).toBeGreaterThan(5)
  })

  it('a refund that the provider refuses is declined once', async () => {
    await walk({
      async prepare() {
        const { facts, charge } = await sold()
        await disputed(charge)
        return { registrationId: facts.registrationId, refundId: randomUUIDv7() }
      },
      async act(context, request) {
        // As it is answered: the provider does not take it.
        await requestRefund(context, request).catch((error: unknown) => {
          if (!(error instanceof DomainError)) throw error
        })
      },
      async again(request) {
        const answer = await till.call('POST', '/refunds', request, adminHeaders)
        expect([200, 409]).toContain(answer.status)
      },
      async look({ registrationId }) {
        const of = (data: { registrationId: string | null }) => data.registrationId === registrationId
        await bed.bus.seen(refundDeclined, of, 20_000)
        await settled()
        expect(bed.bus.all(refundRequested, of)).toHaveLength(1)
        expect(bed.bus.all(refundDeclined, of).map(({ data }) => data.underWayTotal)).toEqual([0])
        expect(bed.bus.all(paymentRefunded, (data) => data.registrationId === registrationId)).toEqual([])
      },
    })
  })

  it('a class that was paid and whose seat is gone is refunded once', async () => {
    await walk({
      async prepare() {
        const { facts, paid, intentId } = await sold()
        return { intentId, event: rejectionOf(facts, paid) }
      },
      act: (context, { event }) => hear(context, event),
      async again({ event }) {
        await bed.bus.republish(event)
        await bed.bus.publish(registrationRejected, event.subject, event.data)
      },
      async look({ event, intentId }) {
        const of = (data: { registrationId: string }) => data.registrationId === event.subject
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(bed.bus.all(paymentRefunded, of).map(({ data }) => data.reason)).toEqual(['seat_gone'])
        expect(await givenBack(intentId)).toEqual([40_000])
      },
    })
  })

  it('what is left of a payment that was not kept is given back once, where a part went back in the dashboard', async () => {
    await walk({
      async prepare() {
        const { facts, paid, intentId } = await sold()
        await till.stripe.refunds.create({ payment_intent: intentId, amount: 10_000 })
        return { intentId, event: rejectionOf(facts, paid) }
      },
      async act(context, { event }) {
        await hear(context, event)
        await runRefused(context)
      },
      again: ({ event }) => bed.bus.republish(event),
      async look({ event, intentId }) {
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

  it('what was not kept and is disputed is told of once', async () => {
    await walk({
      async prepare() {
        const { facts, paid, intentId, charge } = await sold()
        await disputed(charge)
        return { intentId, event: rejectionOf(facts, paid) }
      },
      async act(context, { event }) {
        await hear(context, event)
        await runRefused(context)
      },
      again: ({ event }) => bed.bus.republish(event),
      async look({ event, intentId }) {
        const of = (data: { registrationId: string | null }) => data.registrationId === event.subject
        await bed.bus.seen(refundFailed, of, 20_000)
        await settled()
        expect(bed.bus.all(refundFailed, of).map(({ data }) => data.disputed)).toEqual([true])
        expect(bed.bus.all(refundDeclined, of)).toEqual([])
        expect(await givenBack(intentId)).toEqual([])
      },
    })
  })

  it('a membership that was paid and whose seat is gone ends, and is refunded once', async () => {
    await walk({
      async prepare() {
        const { id, ...member } = await newMember()
        const facts = { ...member, amount: 700, currency: 'usd' as const, reason: 'class_full' as const }
        return newEvent(memberRejected, id, { ...facts, attemptId: id })
      },
      async act(context, event) {
        await hear(context, event)
        await endMemberships(context, neverAborts)
      },
      async again(event) {
        await bed.bus.republish(event)
        await bed.bus.publish(memberRejected, event.subject, event.data)
      },
      async look({ subject }) {
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

  it('a membership that was to end goes on', async () => {
    await walk({
      async prepare() {
        const member = await newMember()
        await insist('POST', `/memberships/${member.id}/cancel`)
        return member
      },
      async act(context, { id }) {
        await resumeMembership(context, id)
      },
      async again({ id }) {
        expect(await insist('POST', `/memberships/${id}/resume`)).toMatchObject({ endsAt: null })
      },
      async look({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionResumed, of)
        await settled()
        expect(bed.bus.all(subscriptionResumed, of)).toHaveLength(1)
      },
    })
  })

  it('a further payment of a membership, of which a notice tells, is written down once', async () => {
    await walk({
      async prepare() {
        const { id } = await newMember()
        const { id: subscriptionId, items } = await subscriptionOf(id)
        const [item] = items.data
        const product = item?.price.product
        const { latest_invoice: invoice } = await till.stripe.subscriptions.update(subscriptionId, {
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
      async act(context, { invoiceId }) {
        await handleStripeEvent(context, notice('invoice.paid', invoiceId))
      },
      again: ({ invoiceId }) => tell('invoice.paid', invoiceId),
      async look({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        const { data } = await bed.bus.seen(subscriptionRenewed, of)
        await settled()
        expect(bed.bus.all(subscriptionRenewed, of)).toHaveLength(1)
        expect(await paymentsOf(id)).toEqual([{ amount: 700 }, { amount: data.paidAmount }])
      },
    })
  })

  it('refunds in the provider’s dashboard are each written down once', async () => {
    await walk({
      async prepare() {
        const { facts, intentId, charge } = await sold()
        await till.stripe.refunds.create({ payment_intent: intentId, amount: 15_000 })
        await till.stripe.refunds.create({ payment_intent: intentId })
        return { registrationId: facts.registrationId, charge }
      },
      async act(context, { charge }) {
        await handleStripeEvent(context, notice('charge.refunded', charge))
      },
      again: ({ charge }) => tell('charge.refunded', charge),
      async look({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await eventually(() => bed.bus.all(paymentRefunded, of).length >= 2)
        await settled()
        const told = bed.bus.all(paymentRefunded, of).map(({ data }) => data.amount)
        expect(told.toSorted((a, b) => a - b)).toEqual([15_000, 25_000])
      },
    })
  })

  it('a dispute is written down, and told of, once', async () => {
    await walk({
      async prepare() {
        const { charge } = await sold()
        await till.sim('POST', `/charges/${charge}/dispute`)
        const [dispute] = (await till.stripe.disputes.list({ charge })).data
        return dispute?.id ?? ''
      },
      async act(context, disputeId) {
        await handleStripeEvent(context, notice('charge.dispute.created', disputeId))
      },
      again: (disputeId) => tell('charge.dispute.created', disputeId),
      async look(id) {
        const of = ({ disputeId }: { disputeId: string }) => disputeId === id
        await bed.bus.seen(paymentDisputed, of)
        await settled()
        expect(bed.bus.all(paymentDisputed, of)).toHaveLength(1)
      },
    })
  })
})
