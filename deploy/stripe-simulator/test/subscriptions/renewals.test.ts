import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/app.ts'
import { control, eventTypes, refusal, start } from '../fixture.ts'

const day = 24 * 3600

/** A membership of $7 a month since January 15, 2027, paid with a predefined card. */
async function member(options: { card?: string; from?: string; amount?: number } = {}) {
  const from = Date.parse(options.from ?? '2027-01-15T09:00:00Z')
  const { simulator, stripe } = await start({ clock: () => from })
  const product = await stripe.products.create({ name: 'Membership' })
  const priceOf = (interval: 'month' | 'year', amount: number) =>
    stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: amount, recurring: { interval } })
  const monthly = await priceOf('month', options.amount ?? 700)
  const yearly = await priceOf('year', 6000)
  const customer = await stripe.customers.create({
    email: 'ada.lind@example.com',
    payment_method: 'pm_card_visa',
  })
  const [method] = (await stripe.customers.listPaymentMethods(customer.id)).data
  await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: method!.id } })
  const subscription = await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  if (options.card !== undefined) {
    await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: options.card } })
  }
  const seen = (await eventTypes(simulator)).length
  return {
    simulator,
    stripe,
    customer,
    monthly,
    yearly,
    subscription,
    itemId: subscription.items.data[0]!.id,
    advance: (days: number) => simulator.advanceClock(days * day),
    /** The events since the start of the subscription. */
    events: async () => (await eventTypes(simulator)).slice(seen),
    read: () => stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] }),
  }
}

const renewalEvents = [
  'invoice.created',
  'customer.subscription.updated',
  'invoice.finalized',
  'payment_intent.created',
  'charge.succeeded',
  'payment_intent.succeeded',
  'invoice_payment.paid',
  'invoice.paid',
  'invoice.payment_succeeded',
]

function at(iso: string): number {
  return Date.parse(iso) / 1000
}

async function createdOf(simulator: Simulator, type: string): Promise<number[]> {
  const { events } = await control<{ events: { type: string; created: number }[] }>(simulator, '/events')
  return events.filter((event) => event.type === type).map((event) => event.created)
}

describe('a renewal', () => {
  it('is announced, drafted, finalized an hour later, charged and published in order', async () => {
    const { simulator, advance, events, read } = await member()
    advance(23)
    expect(await events()).toEqual([])
    advance(1)
    expect(await events()).toEqual(['invoice.upcoming'])
    advance(7)
    expect(await events()).toEqual(['invoice.upcoming', ...renewalEvents.slice(0, 2)])
    expect(await read()).toMatchObject({
      latest_invoice: { status: 'draft', billing_reason: 'subscription_cycle', amount_due: 700, auto_advance: true },
    })
    advance(1)
    expect(await events()).toEqual(['invoice.upcoming', ...renewalEvents])
    const subscription = await read()
    expect(subscription).toMatchObject({ status: 'active', latest_invoice: { status: 'paid', amount_paid: 700 } })
    expect(subscription.items.data[0]).toMatchObject({
      current_period_start: at('2027-02-15T09:00:00Z'),
      current_period_end: at('2027-03-15T09:00:00Z'),
    })
    expect(await createdOf(simulator, 'invoice.finalized')).toEqual([
      at('2027-01-15T09:00:00Z'),
      at('2027-02-15T10:00:00Z'),
    ])
  })

  it('happens once a month on the day of its start, however far the clock is advanced', async () => {
    const { simulator, stripe, advance, subscription } = await member({ from: '2027-01-31T09:00:00Z' })
    advance(370)
    const invoices = await stripe.invoices.list({ subscription: subscription.id, limit: 100 })
    expect(invoices.data.map((one) => one.status)).toEqual(Array.from({ length: 13 }, () => 'paid'))
    const days = (await createdOf(simulator, 'invoice.created')).map((seconds) =>
      new Date(seconds * 1000).toISOString().slice(0, 10),
    )
    expect(days.slice(0, 4)).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30'])
    const charges = await stripe.charges.list({ limit: 100 })
    expect(charges.data).toHaveLength(13)
  })

  it('shows the upcoming invoice without an id in its event, and with one in a preview', async () => {
    const { stripe, advance, subscription } = await member()
    advance(24)
    const [event] = (await stripe.events.list({ type: 'invoice.upcoming' })).data
    expect(event?.data.object).not.toHaveProperty('id')
    const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
    expect(preview).toMatchObject({ id: expect.stringMatching(/^upcoming_in_/), amount_due: 700 })
    expect(preview.lines.data[0]?.period).toEqual({
      start: at('2027-02-15T09:00:00Z'),
      end: at('2027-03-15T09:00:00Z'),
    })
  })
})

describe('a renewal that cannot be charged', () => {
  it('makes the subscription past due, is retried after 3, 5 and 7 days, and ends it', async () => {
    const { advance, events, read, stripe, subscription } = await member({ card: 'pm_card_chargeCustomerFail' })
    advance(32)
    const failed = await read()
    expect(failed).toMatchObject({
      status: 'past_due',
      latest_invoice: { status: 'open', attempt_count: 1, amount_remaining: 700 },
    })
    expect((failed.latest_invoice as Stripe.Invoice).next_payment_attempt).toBe(at('2027-02-18T10:00:00Z'))
    expect((await events()).slice(-5)).toEqual([
      'payment_intent.created',
      'charge.failed',
      'payment_intent.payment_failed',
      'invoice.payment_failed',
      'customer.subscription.updated',
    ])
    advance(3)
    expect(await read()).toMatchObject({ status: 'past_due', latest_invoice: { attempt_count: 2 } })
    advance(5)
    expect(await read()).toMatchObject({ status: 'past_due', latest_invoice: { attempt_count: 3 } })
    advance(7)
    expect(await read()).toMatchObject({
      status: 'canceled',
      cancellation_details: { reason: 'payment_failed' },
      latest_invoice: { status: 'open', attempt_count: 4, next_payment_attempt: null, auto_advance: false },
    })
    expect((await events()).slice(-4)).toEqual([
      'charge.failed',
      'payment_intent.payment_failed',
      'invoice.payment_failed',
      'customer.subscription.deleted',
    ])
    const { length } = await events()
    advance(400)
    expect(await events()).toHaveLength(length)
    expect((await stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(2)
  })

  it('recovers with another card at the next attempt', async () => {
    const { advance, events, read, stripe, customer } = await member({ card: 'pm_card_chargeCustomerFail' })
    advance(32)
    await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: 'pm_card_visa' } })
    advance(3)
    expect(await read()).toMatchObject({ status: 'active', latest_invoice: { status: 'paid', attempt_count: 2 } })
    expect((await events()).slice(-6)).toEqual([
      'charge.succeeded',
      'payment_intent.succeeded',
      'invoice_payment.paid',
      'invoice.paid',
      'invoice.payment_succeeded',
      'customer.subscription.updated',
    ])
    const [event] = (await stripe.events.list({ type: 'customer.subscription.updated', limit: 1 })).data
    expect(event?.data.previous_attributes).toEqual({ status: 'past_due' })
  })

  it('is paid by hand without moving the schedule', async () => {
    const { advance, read, stripe } = await member({ card: 'pm_card_chargeCustomerFail' })
    advance(32)
    const { id } = (await read()).latest_invoice as Stripe.Invoice
    const error = await refusal(stripe.invoices.pay(id))
    expect([error.statusCode, error.code, error.type]).toEqual([402, 'card_declined', 'StripeCardError'])
    expect(await read()).toMatchObject({ status: 'past_due', latest_invoice: { attempt_count: 1 } })
    expect(await stripe.invoices.pay(id, { payment_method: 'pm_card_visa' })).toMatchObject({ status: 'paid' })
    expect((await read()).status).toBe('active')
    expect((await refusal(stripe.invoices.pay(id))).statusCode).toBe(400)
  })

  it.each([
    ['unpaid', 'unpaid'],
    ['past_due', 'past_due'],
  ] as const)('leaves the subscription %s if configured so', async (lastly, status) => {
    const made = await member({ card: 'pm_card_chargeCustomerFail' })
    await control(made.simulator, '/settings', { dunning: { retryAfterDays: [1], lastly } })
    made.advance(34)
    expect((await made.read()).status).toBe(status)
  })
})

describe('a cancellation', () => {
  it('at the end of the period takes effect then, and charges nothing more', async () => {
    const { advance, events, read, stripe, subscription } = await member()
    const asked = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    expect(asked).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
      cancel_at: at('2027-02-15T09:00:00Z'),
      cancellation_details: { reason: 'cancellation_requested' },
    })
    advance(40)
    expect(await read()).toMatchObject({ status: 'canceled', ended_at: at('2027-02-15T09:00:00Z') })
    expect(await events()).toEqual(['customer.subscription.updated', 'customer.subscription.deleted'])
  })

  it('can be undone', async () => {
    const { advance, events, read, stripe, subscription } = await member()
    await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    const kept = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false })
    expect(kept).toMatchObject({ cancel_at: null, cancel_at_period_end: false, canceled_at: null })
    advance(32)
    expect((await read()).status).toBe('active')
    expect(await events()).toContain('invoice.paid')
  })

  it('can be for any time', async () => {
    const { advance, read, stripe, subscription } = await member()
    const time = at('2027-01-20T00:00:00Z')
    const asked = await stripe.subscriptions.update(subscription.id, { cancel_at: time })
    expect(asked).toMatchObject({ cancel_at: time, cancel_at_period_end: false })
    advance(6)
    expect(await read()).toMatchObject({ status: 'canceled', ended_at: time })
    const error = await refusal(stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false }))
    expect(error.statusCode).toBe(400)
  })
})

describe('a switch', () => {
  it('from monthly to yearly credits the unused time, charges the rest immediately and starts a new year', async () => {
    const { advance, events, itemId, read, stripe, subscription, yearly } = await member()
    advance(10)
    const preview = await stripe.invoices.createPreview({
      subscription: subscription.id,
      subscription_details: { items: [{ id: itemId, price: yearly.id }] },
    })
    const credit = -Math.round((700 * 21) / 31)
    expect(preview).toMatchObject({ amount_due: 6000 + credit })
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: yearly.id }] })
    const switched = await read()
    const invoice = switched.latest_invoice as Stripe.Invoice
    expect(invoice).toMatchObject({
      status: 'paid',
      billing_reason: 'subscription_update',
      total: 6000 + credit,
      amount_paid: 6000 + credit,
    })
    expect(invoice.lines.data.map((one) => [one.amount, one.parent?.subscription_item_details?.proration])).toEqual([
      [credit, true],
      [6000, false],
    ])
    expect(switched).toMatchObject({ billing_cycle_anchor: at('2027-01-25T09:00:00Z') })
    expect(switched.items.data[0]?.current_period_end).toBe(at('2028-01-25T09:00:00Z'))
    expect(await events()).toEqual([
      'customer.subscription.updated',
      ...renewalEvents.filter((one) => !one.startsWith('cust')),
    ])
    const [event] = (await stripe.events.list({ type: 'customer.subscription.updated', limit: 1 })).data
    expect(Object.keys(event?.data.previous_attributes ?? {}).sort()).toEqual([
      'billing_cycle_anchor',
      'items',
      'latest_invoice',
    ])
  })

  it('from yearly to monthly credits the paid time to the following months', async () => {
    const { advance, itemId, monthly, read, stripe, subscription, yearly, customer } = await member()
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: yearly.id }] })
    const paid = ((await read()).latest_invoice as Stripe.Invoice).amount_paid
    advance(73)
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: monthly.id }] })
    // A fifth of the year is used.
    const credit = 4800 - 700
    expect((await read()).latest_invoice).toMatchObject({ status: 'paid', total: -credit, amount_due: 0 })
    expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -credit })
    const before = (await stripe.charges.list({ limit: 100 })).data.length
    advance(32)
    expect((await read()).latest_invoice).toMatchObject({
      status: 'paid',
      total: 700,
      amount_due: 0,
      starting_balance: -credit,
      ending_balance: 700 - credit,
    })
    expect((await stripe.charges.list({ limit: 100 })).data).toHaveLength(before)
    advance(330)
    const entries = await stripe.customers.listBalanceTransactions(customer.id, { limit: 100 })
    expect(entries.data.reduce((sum, entry) => sum + entry.amount, 0)).toBe(0)
    const charged = (await stripe.charges.list({ limit: 100 })).data.reduce((sum, one) => sum + one.amount, 0)
    // A month, the year less its credit, and the months not covered by the credit.
    expect(charged).toBe(700 + paid + 12 * 700 - 4800)
  })

  it('in the same interval is added to the next invoice, invoiced immediately, or not prorated', async () => {
    const { advance, itemId, read, stripe, subscription, monthly } = await member()
    const better = await stripe.prices.create({
      product: monthly.product as string,
      currency: 'usd',
      unit_amount: 1400,
      recurring: { interval: 'month' },
    })
    advance(31 / 2)
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: better.id }] })
    expect((await stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(1)
    advance(17)
    expect((await read()).latest_invoice).toMatchObject({ total: 1400 + 350, billing_reason: 'subscription_cycle' })
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: itemId, quantity: 2 }],
      proration_behavior: 'always_invoice',
    })
    expect((await read()).latest_invoice).toMatchObject({ billing_reason: 'subscription_update', status: 'paid' })
    const count = (await stripe.invoices.list({ subscription: subscription.id })).data.length
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: itemId, quantity: 1 }],
      proration_behavior: 'none',
    })
    expect((await stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(count)
  })

  it('is undone if the card is declined and requested so, and otherwise leaves it past due', async () => {
    const { itemId, read, stripe, subscription, yearly } = await member({ card: 'pm_card_chargeCustomerFail' })
    const items = [{ id: itemId, price: yearly.id }]
    const error = await refusal(
      stripe.subscriptions.update(subscription.id, { items, payment_behavior: 'error_if_incomplete' }),
    )
    expect([error.statusCode, error.code]).toEqual([402, 'card_declined'])
    expect((await read()).items.data[0]?.price.recurring?.interval).toBe('month')
    expect(await stripe.subscriptions.update(subscription.id, { items })).toMatchObject({ status: 'past_due' })
  })

  it('rejects an unknown item, and a second interval beside the first', async () => {
    const { stripe, subscription, yearly } = await member()
    const missing = await refusal(
      stripe.subscriptions.update(subscription.id, { items: [{ id: 'si_none', price: yearly.id }] }),
    )
    expect([missing.statusCode, missing.code, missing.param]).toEqual([400, 'resource_missing', 'items[0][id]'])
    const beside = await refusal(stripe.subscriptions.update(subscription.id, { items: [{ price: yearly.id }] }))
    expect([beside.statusCode, beside.param]).toEqual([400, 'items'])
  })
})

describe('a subscription created by a request', () => {
  it('stays incomplete if its first payment fails, and expires after 23 hours', async () => {
    const { advance, stripe, customer, monthly } = await member()
    await stripe.customers.update(customer.id, {
      invoice_settings: { default_payment_method: 'pm_card_chargeCustomerFail' },
    })
    const items = [{ price: monthly.id }]
    const made = await stripe.subscriptions.create({ customer: customer.id, items })
    expect(made.status).toBe('incomplete')
    advance(1)
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('incomplete_expired')
    const error = await refusal(
      stripe.subscriptions.create({ customer: customer.id, items, payment_behavior: 'error_if_incomplete' }),
    )
    expect(error.statusCode).toBe(402)
  })
})

describe('a test clock', () => {
  it('advances only its own customers, in order, and reports when it is ready', async () => {
    const { stripe, simulator, monthly, read } = await member()
    const clock = await stripe.testHelpers.testClocks.create({
      frozen_time: at('2030-06-01T00:00:00Z'),
      name: 'a year',
    })
    const customer = await stripe.customers.create({
      test_clock: clock.id,
      payment_method: 'pm_card_visa',
      invoice_settings: { default_payment_method: 'pm_card_visa' },
    })
    const made = await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
    expect(made).toMatchObject({ test_clock: clock.id, created: clock.frozen_time })
    const asked = await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: at('2031-06-02T00:00:00Z') })
    expect(asked.status).toBe('advancing')
    expect(await stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
      status: 'ready',
      frozen_time: at('2031-06-02T00:00:00Z'),
    })
    const invoices = await stripe.invoices.list({ subscription: made.id, limit: 100 })
    expect(invoices.data.map((one) => one.status)).toEqual(Array.from({ length: 13 }, () => 'paid'))
    expect((await read()).items.data[0]?.current_period_end).toBe(at('2027-02-15T09:00:00Z'))
    expect((await eventTypes(simulator)).filter((type) => type.startsWith('test_helpers'))).toEqual([
      'test_helpers.test_clock.created',
      'test_helpers.test_clock.advancing',
      'test_helpers.test_clock.ready',
    ])
    const back = await refusal(stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: 1 }))
    expect([back.statusCode, back.param]).toEqual([400, 'frozen_time'])
    await stripe.testHelpers.testClocks.del(clock.id)
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('canceled')
    expect((await refusal(stripe.testHelpers.testClocks.retrieve(clock.id))).statusCode).toBe(404)
  })
})
