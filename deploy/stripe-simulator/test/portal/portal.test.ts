import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/app.ts'
import { eventTypes, pay, refusal, start, subscribe } from '../fixture.ts'

const day = 24 * 3600
const home = 'http://localhost:3000/profile'

interface Outcome {
  status: string
  message: string
  redirectUrl: string | null
  field: string | null
}

/** Submits a form of the portal's page. */
async function press(session: Stripe.BillingPortal.Session, action: string, fields: Record<string, string>) {
  const answer = await fetch(`${session.url}/${action}`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(fields),
  })
  return (await answer.json()) as Outcome
}

const card = (number: string) => ({ number, expiry: '12 / 34', cvc: '123', name: 'Ada Lind' })

/** A member who bought a plan through Checkout, and a product with a price of each interval. */
async function member() {
  const { simulator, stripe } = await start({ clock: () => Date.parse('2027-01-15T09:00:00Z') })
  const product = await stripe.products.create({ name: 'Membership' })
  const prices = { monthly: '', yearly: '' }
  for (const [name, interval, amount] of [
    ['monthly', 'month', 700],
    ['yearly', 'year', 6000],
  ] as const) {
    const recurring = { interval }
    const made = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: amount, recurring })
    prices[name] = made.id
  }
  const { id } = await stripe.checkout.sessions.create({
    ...subscribe,
    line_items: [{ price: prices.monthly, quantity: 1 }],
  })
  await pay(simulator, id)
  const paid = await stripe.checkout.sessions.retrieve(id)
  const customer = paid.customer as string
  const seen = (await eventTypes(simulator)).length
  return {
    simulator,
    stripe,
    customer,
    product,
    prices,
    subscriptionId: paid.subscription as string,
    read: () => stripe.subscriptions.retrieve(paid.subscription as string),
    events: async () => (await eventTypes(simulator)).slice(seen),
    portal: (more: Partial<Stripe.BillingPortal.SessionCreateParams> = {}) =>
      stripe.billingPortal.sessions.create({ customer, return_url: home, ...more }),
  }
}

async function text(url: string): Promise<string> {
  return await (await fetch(url)).text()
}

function advance(simulator: Simulator, days: number): void {
  simulator.advanceClock(days * day)
}

describe('the billing portal', () => {
  it('shows the plan, the card, the invoices, and a link back', async () => {
    const { portal } = await member()
    const page = await text((await portal()).url)
    for (const shown of ['Membership', '$7.00 per month', 'February 15, 2027', 'Card ending in 4242', home]) {
      expect(page).toContain(shown)
    }
    expect(page).toContain('no real card is charged')
  })

  it('is valid for an hour', async () => {
    const { portal, simulator } = await member()
    const { url } = await portal()
    simulator.advanceClock(3601)
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([410, expect.stringContaining('This link has expired')])
    expect((await press({ url } as Stripe.BillingPortal.Session, 'cancel', {}).catch(() => null))?.status).not.toBe(
      'done',
    )
  })

  it('cancels at the end of the period by cancel_at only, and resumes', async () => {
    const { events, portal, read, simulator, subscriptionId } = await member()
    const session = await portal()
    expect(await text(`${session.url}/cancel/${subscriptionId}`)).toContain('February 15, 2027')
    expect(await press(session, 'cancel', { subscription: subscriptionId })).toMatchObject({ status: 'done' })
    expect(await read()).toMatchObject({
      status: 'active',
      cancel_at: Date.parse('2027-02-15T09:00:00Z') / 1000,
      cancel_at_period_end: false,
    })
    expect(await press(session, 'resume', { subscription: subscriptionId })).toMatchObject({ status: 'done' })
    expect((await read()).cancel_at).toBeNull()
    await press(session, 'cancel', { subscription: subscriptionId })
    await press(session, 'cancel', { subscription: subscriptionId })
    advance(simulator, 40)
    expect((await read()).status).toBe('canceled')
    expect((await events()).filter((type) => type.startsWith('customer.subscription'))).toEqual([
      'customer.subscription.updated',
      'customer.subscription.updated',
      'customer.subscription.updated',
      'customer.subscription.deleted',
    ])
  })

  it('saves another card for later payments; a declined one changes nothing', async () => {
    const { events, portal, read, simulator, stripe } = await member()
    const session = await portal()
    const before = (await read()).default_payment_method
    expect(await press(session, 'card', card('4000000000000002'))).toMatchObject({
      status: 'declined',
      field: 'number',
    })
    expect(await press(session, 'card', card('1234'))).toMatchObject({ status: 'invalid', field: 'number' })
    expect((await read()).default_payment_method).toBe(before)
    expect(await press(session, 'card', card('4000000000000341'))).toMatchObject({ status: 'done' })
    expect(await events()).toEqual([
      'billing_portal.session.created',
      'payment_method.attached',
      'customer.updated',
      'customer.subscription.updated',
    ])
    advance(simulator, 32)
    expect((await read()).status).toBe('past_due')
    const later = await portal()
    await press(later, 'card', card('4242424242424242'))
    const [open] = (await stripe.invoices.list({ status: 'open' })).data
    expect(await text(later.url)).toContain('Pay $7.00 now')
    expect(await press(later, 'pay', { invoice: open!.id })).toMatchObject({ status: 'done' })
    expect((await read()).status).toBe('active')
    expect((await stripe.invoices.retrieve(open!.id)).status).toBe('paid')
  })

  it('previews and makes a switch to the yearly plan', async () => {
    const { portal, prices, read, stripe, subscriptionId } = await member()
    const session = await portal()
    const page = await text(`${session.url}/switch/${subscriptionId}`)
    expect(page).toContain('$60.00 per year')
    expect(page).toContain('Unused time on Membership')
    expect(page).toContain('$53.00')
    expect(await press(session, 'switch', { subscription: subscriptionId, price: prices.yearly })).toMatchObject({
      status: 'done',
    })
    const switched = await read()
    expect(switched.items.data[0]?.price.id).toBe(prices.yearly)
    const invoice = await stripe.invoices.retrieve(switched.latest_invoice as string)
    expect(invoice).toMatchObject({ billing_reason: 'subscription_update', amount_paid: 5300 })
  })

  it('keeps the plan if the switch cannot be paid', async () => {
    const { portal, prices, read, subscriptionId } = await member()
    const session = await portal()
    await press(session, 'card', card('4000000000000341'))
    const answer = await press(session, 'switch', { subscription: subscriptionId, price: prices.yearly })
    expect(answer).toMatchObject({ status: 'declined', message: expect.stringContaining('Your plan is unchanged.') })
    expect(await read()).toMatchObject({ status: 'active', items: { data: [{ price: { id: prices.monthly } }] } })
  })

  it.each([
    ['subscription_cancel', 'Cancel your plan?'],
    ['payment_method_update', 'Update your card'],
    ['subscription_update', 'Change your plan'],
  ] as const)('leads directly to %s and back to the URL of the flow', async (type, title) => {
    const { portal, prices, subscriptionId } = await member()
    const session = await portal({
      flow_data: {
        type,
        ...(type === 'payment_method_update' ? {} : { [type]: { subscription: subscriptionId } }),
        after_completion: { type: 'redirect', redirect: { return_url: `${home}?changed` } },
      },
    })
    expect(session.flow).toMatchObject({ type, after_completion: { type: 'redirect' } })
    expect(await text(session.url)).toContain(title)
    const [action, fields] = {
      subscription_cancel: ['cancel', { subscription: subscriptionId }] as const,
      payment_method_update: ['card', card('4242424242424242')] as const,
      subscription_update: ['switch', { subscription: subscriptionId, price: prices.yearly }] as const,
    }[type]
    const plain = await fetch(`${session.url}/${action}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
    expect([plain.status, plain.headers.get('location')]).toEqual([303, `${home}?changed`])
  })

  it('allows only the configured actions, and only on the customer’s own plan', async () => {
    const { portal, prices, product, stripe, subscriptionId } = await member()
    const configuration = await stripe.billingPortal.configurations.create({
      features: {
        invoice_history: { enabled: false },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price'],
          products: [{ product: product.id, prices: [prices.yearly] }],
        },
      },
      business_profile: { headline: 'Robots' },
    })
    const session = await portal({ configuration: configuration.id })
    const page = await text(session.url)
    expect(page).not.toContain('Cancel plan')
    expect(page).not.toContain('Update card')
    for (const [action, fields] of [
      ['cancel', { subscription: subscriptionId }],
      ['card', card('4242424242424242')],
    ] as const) {
      expect((await press(session, action, fields)).status).toBe('not_found')
    }
    const stranger = await stripe.customers.create({})
    const other = await portal({ customer: stranger.id })
    expect((await press(other, 'cancel', { subscription: subscriptionId })).status).toBe('not_found')
    const updated = await stripe.billingPortal.configurations.update(configuration.id, {
      features: { subscription_cancel: { enabled: true } },
    })
    expect(updated.features).toMatchObject({
      subscription_cancel: { enabled: true },
      subscription_update: { enabled: true },
    })
  })

  it('rejects an unknown customer, configuration, subscription and flow', async () => {
    const { portal, stripe } = await member()
    const refusals = await Promise.all([
      refusal(stripe.billingPortal.sessions.create({ customer: 'cus_none' })),
      refusal(portal({ configuration: 'bpc_none' })),
      refusal(
        portal({ flow_data: { type: 'subscription_cancel', subscription_cancel: { subscription: 'sub_none' } } }),
      ),
      refusal(portal({ flow_data: { type: 'subscription_cancel' } })),
    ])
    expect(refusals.map((one) => [one.statusCode, one.code, one.param])).toEqual([
      [400, 'resource_missing', 'customer'],
      [400, 'resource_missing', 'configuration'],
      [400, 'resource_missing', 'flow_data[subscription_cancel][subscription]'],
      [400, 'parameter_missing', 'flow_data[subscription_cancel]'],
    ])
  })
})
