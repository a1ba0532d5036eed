/** (f) Time: expiry, renewal and dunning without waiting. */
import assert from 'node:assert/strict'
import { Stripe } from 'stripe'
import { clocked, purchase } from './records.ts'
import { control, type Check } from './target.ts'

const clock = (name: string, run: Check['run'], needsControl?: true): Check => ({
  section: 'clock',
  name,
  run,
  ...(needsControl && { needsControl }),
})

const hour = 3600
const day = 24 * hour

export const clockChecks: readonly Check[] = [
  clock('a test clock moves, is ready, and goes', async ({ stripe }) => {
    const made = await stripe.testHelpers.testClocks.create({ frozen_time: 1_900_000_000, name: 'One' })
    assert.deepEqual([made.status, made.frozen_time], ['ready', 1_900_000_000])
    const asked = await stripe.testHelpers.testClocks.advance(made.id, { frozen_time: 1_900_000_000 + day })
    assert.equal(asked.status, 'advancing')
    assert.equal((await stripe.testHelpers.testClocks.del(made.id)).deleted, true)
  }),
  clock('a test clock does not go back', async ({ stripe }) => {
    const { id } = await stripe.testHelpers.testClocks.create({ frozen_time: 1_900_000_000 })
    const error = await stripe.testHelpers.testClocks.advance(id, { frozen_time: 1_800_000_000 }).then(
      () => assert.fail('It went back'),
      (thrown: unknown) => thrown,
    )
    assert(error instanceof Stripe.errors.StripeInvalidRequestError)
    assert.deepEqual([error.statusCode, error.param], [400, 'frozen_time'])
  }),
  clock('a year brings twelve renewals, a month apart, each paid', async (target) => {
    const { days, subscription } = await clocked(target)
    await days(366)
    const { data } = await target.stripe.invoices.list({ subscription: subscription.id, limit: 100 })
    assert.deepEqual(
      data.map((one) => one.status),
      Array.from({ length: 13 }, () => 'paid'),
    )
    const months = data.map((one) => new Date(one.created * 1000).toISOString().slice(0, 10))
    assert.deepEqual([months[12], months[11], months[0]], ['2030-01-15', '2030-02-15', '2031-01-15'])
  }),
  clock('a renewal is a draft for about an hour', async (target) => {
    const { days, subscription } = await clocked(target)
    await days(31 + 0.5 / 24)
    const [draft] = (await target.stripe.invoices.list({ subscription: subscription.id })).data
    assert.deepEqual([draft?.status, draft?.billing_reason], ['draft', 'subscription_cycle'])
    await days(31 + 2 / 24)
    assert.equal((await target.stripe.invoices.retrieve(draft?.id ?? '')).status, 'paid')
  }),
  clock('a failed renewal is past due, and active again once it is paid', async (target) => {
    const { days, subscription } = await clocked(target)
    const { stripe } = target
    await stripe.subscriptions.update(subscription.id, { default_payment_method: 'pm_card_chargeCustomerFail' })
    await days(32)
    const past = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] })
    const invoice = past.latest_invoice as Stripe.Invoice
    assert.deepEqual([past.status, invoice.status, invoice.attempt_count], ['past_due', 'open', 1])
    assert(invoice.next_payment_attempt)
    await stripe.invoices.pay(invoice.id, { payment_method: 'pm_card_visa' })
    assert.equal((await stripe.subscriptions.retrieve(subscription.id)).status, 'active')
  }),
  clock('a cancellation takes effect when the period ends', async (target) => {
    const { days, subscription } = await clocked(target)
    await target.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    await days(30)
    assert.equal((await target.stripe.subscriptions.retrieve(subscription.id)).status, 'active')
    await days(32)
    const ended = await target.stripe.subscriptions.retrieve(subscription.id)
    assert.deepEqual([ended.status, ended.ended_at], ['canceled', subscription.items.data[0]?.current_period_end])
  }),
  clock('yearly to monthly keeps what was paid as a credit', async (target) => {
    const { customer, days, itemId, monthly, subscription, yearly } = await clocked(target)
    const { stripe } = target
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: yearly.id }] })
    await days(73)
    await stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: monthly.id }] })
    const { balance } = (await stripe.customers.retrieve(customer.id)) as Stripe.Customer
    assert.equal(balance, -(4800 - 700))
  }),
  clock(
    'a session expires when its time has come',
    async (target) => {
      const { id } = await target.stripe.checkout.sessions.create(purchase)
      await control(target, '/clock', { advanceSeconds: 24 * hour + 1 })
      const session = await target.stripe.checkout.sessions.retrieve(id)
      assert.deepEqual([session.status, session.url], ['expired', null])
    },
    true,
  ),
  clock(
    'the clock stops at what falls due next',
    async (target) => {
      const { expires_at: expires } = await target.stripe.checkout.sessions.create(purchase)
      for (let steps = 0; steps < 100; steps++) {
        const { now } = await control<{ now: number }>(target, '/clock', { nextDue: true })
        assert(now <= expires + 1)
        if (now >= expires) return
      }
      assert.fail('The clock does not arrive')
    },
    true,
  ),
]
