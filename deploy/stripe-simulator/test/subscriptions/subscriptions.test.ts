import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/app.ts'
import { control, eventTypes, pay, refusal, start, subscribe } from '../fixture.ts'

const startedEvents = [
  'customer.created',
  'payment_intent.created',
  'charge.succeeded',
  'payment_intent.succeeded',
  'customer.subscription.created',
  'invoice.created',
  'invoice.finalized',
  'invoice_payment.paid',
  'invoice.paid',
  'invoice.payment_succeeded',
  'checkout.session.completed',
]

const success = 'http://localhost:3000/success?reference=r-1'

async function open(simulator: Simulator, stripe: Stripe, interval: 'month' | 'year' = 'month', amount = 700) {
  const session = await stripe.checkout.sessions.create({
    ...subscribe,
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: amount,
          recurring: { interval },
          product_data: { name: 'Membership' },
        },
      },
    ],
  })
  return { ...session, pay: (card?: string) => pay(simulator, session.id, card) }
}

/** A paid session with its related objects. */
async function subscribed(simulator: Simulator, stripe: Stripe) {
  const { id, pay: payNow } = await open(simulator, stripe)
  await payNow()
  const session = await stripe.checkout.sessions.retrieve(id, { expand: ['subscription', 'invoice.payments'] })
  return {
    session,
    subscription: session.subscription as Stripe.Subscription,
    invoice: session.invoice as Stripe.Invoice,
  }
}

describe('a Checkout Session in subscription mode', () => {
  it('is open without customer, payment and subscription until it is paid', async () => {
    const { simulator, stripe } = await start()
    const { id } = await open(simulator, stripe)
    expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({
      mode: 'subscription',
      status: 'open',
      payment_status: 'unpaid',
      amount_total: 700,
      customer: null,
      invoice: null,
      payment_intent: null,
      subscription: null,
      payment_method_collection: 'always',
    })
    expect(await eventTypes(simulator)).toEqual([])
  })

  it('starts a subscription with a paid invoice, and publishes each step in order', async () => {
    const { simulator, stripe } = await start()
    const { session, subscription, invoice } = await subscribed(simulator, stripe)
    expect(session).toMatchObject({ status: 'complete', payment_status: 'paid', payment_intent: null, url: null })
    expect(subscription).toMatchObject({
      status: 'active',
      customer: session.customer,
      latest_invoice: invoice.id,
      metadata: { attempt: 'a-1' },
      cancel_at_period_end: false,
    })
    const [item] = subscription.items.data
    expect(item?.price).toMatchObject({ type: 'recurring', unit_amount: 700, recurring: { interval: 'month' } })
    expect(invoice).toMatchObject({
      status: 'paid',
      amount_due: 700,
      amount_paid: 700,
      amount_remaining: 0,
      billing_reason: 'subscription_create',
      customer_email: 'ada.lind@example.com',
      parent: { subscription_details: { subscription: subscription.id, metadata: { attempt: 'a-1' } } },
    })
    const intent = await stripe.paymentIntents.retrieve(invoice.payments?.data[0]?.payment.payment_intent as string)
    expect(intent).toMatchObject({ status: 'succeeded', amount_received: 700, setup_future_usage: 'off_session' })
    expect(await stripe.customers.retrieve(session.customer as string)).toMatchObject({ email: 'ada.lind@example.com' })
    expect(await eventTypes(simulator)).toEqual(startedEvents)
    expect(await control(simulator, '/state')).toMatchObject({
      charges: { total: 1, amountCaptured: 700 },
      subscriptions: { total: 1, active: 1 },
      invoices: { total: 1, paid: 1 },
    })
  })

  it.each([
    ['month', '2027-01-31T09:00:00Z', '2027-02-28T09:00:00Z'],
    ['month', '2027-02-28T09:00:00Z', '2027-03-28T09:00:00Z'],
    ['year', '2028-02-29T09:00:00Z', '2029-02-28T09:00:00Z'],
  ] as const)('runs for a %s from %s to %s', async (interval, from, to) => {
    const { simulator, stripe } = await start({ clock: () => Date.parse(from) })
    await (await open(simulator, stripe, interval, 6_000)).pay()
    const [subscription] = (await stripe.subscriptions.list()).data
    const [item] = subscription?.items.data ?? []
    expect([item?.current_period_start, item?.current_period_end]).toEqual([
      Date.parse(from) / 1000,
      Date.parse(to) / 1000,
    ])
  })

  it.each(['4000000000000002', '4000000000009995', '4000000000000341'])(
    'stays open without a subscription after %s is declined, and can be repeated',
    async (card) => {
      const { simulator, stripe } = await start()
      const checkout = await open(simulator, stripe)
      expect(await checkout.pay(card)).toMatchObject({ status: 'declined', redirectUrl: null })
      expect((await stripe.checkout.sessions.retrieve(checkout.id)).status).toBe('open')
      expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
      expect((await stripe.invoices.list()).data).toEqual([])
      expect(await eventTypes(simulator)).toEqual([
        'customer.created',
        'payment_intent.created',
        'charge.failed',
        'payment_intent.payment_failed',
      ])
      expect(await checkout.pay()).toMatchObject({ status: 'paid', redirectUrl: success })
      expect((await stripe.charges.list()).data.map((one) => one.status)).toEqual(['succeeded', 'failed'])
      expect((await stripe.customers.list()).data).toHaveLength(1)
      expect((await eventTypes(simulator)).slice(4)).toEqual(startedEvents.slice(2))
    },
  )

  it('can be confirmed by 3-D Secure', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const asked = await checkout.pay('4000002500003155')
    expect(asked.status).toBe('requires_action')
    expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
    await fetch(asked.redirectUrl ?? '', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ answer: 'complete' }),
    })
    expect((await stripe.subscriptions.list()).data).toHaveLength(1)
  })

  it('is paid once for concurrent requests', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => checkout.pay()))
    expect(new Set(outcomes.map((one) => one.status))).toEqual(new Set(['paid']))
    expect((await stripe.subscriptions.list()).data).toHaveLength(1)
    expect(await eventTypes(simulator)).toEqual(startedEvents)
  })

  it('cancels an attempted payment when it expires, and starts nothing', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    await checkout.pay('4000000000000002')
    await stripe.checkout.sessions.expire(checkout.id)
    expect((await stripe.paymentIntents.list()).data[0]?.status).toBe('canceled')
    expect(await checkout.pay()).toMatchObject({ status: 'expired' })
    expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
  })

  it('shows the amount and the interval on its page', async () => {
    const { simulator, stripe } = await start()
    const monthly = await (await fetch((await open(simulator, stripe)).url ?? '')).text()
    expect(monthly).toContain('$7.00 per month')
    expect(monthly).toContain('Total due today')
    expect(monthly).toContain('>Subscribe<')
    const yearly = await (await fetch((await open(simulator, stripe, 'year', 6_000)).url ?? '')).text()
    expect(yearly).toContain('$60.00 per year')
  })
})

describe('a subscription', () => {
  it('is retrieved, and listed by customer, price and status', async () => {
    const { simulator, stripe } = await start()
    const first = await subscribed(simulator, stripe)
    const second = await subscribed(simulator, stripe)
    const ids = async (params: Stripe.SubscriptionListParams) =>
      (await stripe.subscriptions.list(params)).data.map((one) => one.id)
    expect((await stripe.subscriptions.retrieve(first.subscription.id)).id).toBe(first.subscription.id)
    expect(await ids({})).toEqual([second.subscription.id, first.subscription.id])
    expect(await ids({ customer: first.session.customer as string })).toEqual([first.subscription.id])
    expect(await ids({ price: second.subscription.items.data[0]?.price.id ?? '' })).toEqual([second.subscription.id])
    expect(await ids({ status: 'past_due' })).toEqual([])
    const { data } = await stripe.invoices.list({ subscription: first.subscription.id })
    expect(data.map((one) => one.id)).toEqual([first.invoice.id])
    const error = await refusal(stripe.subscriptions.retrieve('sub_none'))
    expect([error.statusCode, error.code]).toEqual([404, 'resource_missing'])
  })

  it('ends when it is cancelled, once', async () => {
    const { simulator, stripe } = await start()
    const { subscription } = await subscribed(simulator, stripe)
    const ended = await stripe.subscriptions.cancel(subscription.id)
    expect(ended).toMatchObject({ status: 'canceled', ended_at: expect.any(Number) })
    expect((await eventTypes(simulator)).at(-1)).toBe('customer.subscription.deleted')
    expect((await stripe.subscriptions.list()).data).toEqual([])
    expect((await stripe.subscriptions.list({ status: 'ended' })).data).toHaveLength(1)
    expect((await refusal(stripe.subscriptions.cancel(subscription.id))).statusCode).toBe(404)
  })

  it('ends with its customer', async () => {
    const { simulator, stripe } = await start()
    const { session, subscription } = await subscribed(simulator, stripe)
    await stripe.customers.del(session.customer as string)
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('canceled')
    expect((await eventTypes(simulator)).slice(-2)).toEqual(['customer.subscription.deleted', 'customer.deleted'])
  })
})
