import axe from 'axe-core'
import { JSDOM } from 'jsdom'
import { describe, expect, it } from 'vitest'
import { create, pay, receiver, start, subscribe } from '../fixture.ts'

/** A simulator with an object of each kind. */
async function filled() {
  const { received, url } = await receiver()
  const { simulator, stripe } = await start({ webhooks: [{ url, secret: 'whsec_x' }] })
  const open = await stripe.checkout.sessions.create(create)
  const disputed = await stripe.checkout.sessions.create(create)
  await pay(simulator, disputed.id, '4000000000000259')
  simulator.advanceClock(5)
  const plan = await stripe.checkout.sessions.create(subscribe)
  await pay(simulator, plan.id)
  const press = async (action: string, fields: Record<string, string>, headers = {}) => {
    const answer = await fetch(`${simulator.url}/dashboard/${action}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    })
    return { status: answer.status, text: await answer.text() }
  }
  return { simulator, stripe, received, open, press }
}

/** The violations found by axe, except colors, which need a browser. */
async function violations(url: string): Promise<string[]> {
  const dom = new JSDOM(await (await fetch(url)).text(), { url, runScripts: 'outside-only' })
  dom.window.eval(axe.source)
  const { axe: inPage } = dom.window as unknown as { axe: typeof axe }
  const found = await inPage.run(dom.window.document.documentElement, {
    rules: { 'color-contrast': { enabled: false } },
  })
  return found.violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`)
}

describe('the dashboard', () => {
  it('shows the objects, and says plainly that it is a simulator', async () => {
    const { simulator, open } = await filled()
    const page = await (await fetch(simulator.url)).text()
    expect(page).toContain('Everything below is made up, and no money moves.')
    for (const shown of [
      'Checkout sessions',
      'Payments',
      'Subscriptions',
      'Invoices',
      'Disputes',
      'Customers',
      'Events',
    ]) {
      expect(page).toContain(shown)
    }
    for (const shown of [
      '$400.00',
      '$7.00 a month',
      'fraudulent',
      'needs_response',
      'charge.dispute.created',
      'delivered',
    ]) {
      expect(page).toContain(shown)
    }
    expect(page).toContain(open.url!)
    expect(await (await fetch(`${simulator.url}/dashboard`)).text()).toContain('Payment simulator')
  })

  it('fails and pays a session, wins a dispute, and disputes a payment', async () => {
    const { open, press, stripe } = await filled()
    expect((await press('pay', { id: open.id, card: '4000000000000002' })).text).toContain('Your card was declined.')
    expect((await press('pay', { id: open.id, card: '4242424242424242' })).text).toContain('Payment successful.')
    const paid = await stripe.checkout.sessions.retrieve(open.id, { expand: ['payment_intent'] })
    expect(paid.payment_status).toBe('paid')
    const [dispute] = (await stripe.disputes.list()).data
    await press('close', { id: dispute!.id, outcome: 'won' })
    expect((await stripe.disputes.retrieve(dispute!.id)).status).toBe('won')
    const { latest_charge: charge } = paid.payment_intent as { latest_charge: string }
    await press('dispute', { id: charge })
    expect((await stripe.charges.retrieve(charge)).disputed).toBe(true)
  })

  it('advances the clock, and holds, drops, releases and resends webhooks', async () => {
    const { press, received, simulator, stripe } = await filled()
    await simulator.deliveriesIdle()
    const before = simulator.now()
    await press('advance', { by: 'month' })
    expect(simulator.now()).toBeGreaterThanOrEqual(before + 31 * 24 * 3600)
    await press('advance', { by: 'due' })
    await simulator.deliveriesIdle()
    const { length } = received
    await press('webhooks', { mode: 'hold' })
    await stripe.customers.create({})
    expect((await press('webhooks', { mode: 'release' })).text).toContain('1 held webhooks are delivered.')
    await simulator.deliveriesIdle()
    expect(received).toHaveLength(length + 1)
    await press('webhooks', { mode: 'drop' })
    await stripe.customers.create({})
    await press('webhooks', { mode: 'deliver' })
    const [lost] = (await stripe.events.list({ limit: 1 })).data
    await press('resend', { id: lost!.id })
    await simulator.deliveriesIdle()
    expect(received.at(-1)?.id).toBe(lost!.id)
  })

  it('rejects forms from another site', async () => {
    const { open, press, stripe } = await filled()
    const answer = await press('pay', { id: open.id, card: '4242424242424242' }, { origin: 'https://evil.example' })
    expect(answer.status).toBe(403)
    expect((await stripe.checkout.sessions.retrieve(open.id)).status).toBe('open')
    expect((await press('nothing', {})).status).toBe(404)
  })

  it('passes axe checks, as do the pages of the portal', async () => {
    const { simulator, stripe } = await filled()
    const [subscription] = (await stripe.subscriptions.list()).data
    await stripe.prices.create({
      product: subscription!.items.data[0]!.price.product as string,
      currency: 'usd',
      unit_amount: 6000,
      recurring: { interval: 'year' },
    })
    const { url } = await stripe.billingPortal.sessions.create({
      customer: subscription!.customer as string,
      return_url: 'http://localhost:3000/profile',
    })
    const pages = [
      simulator.url,
      url,
      `${url}/card`,
      `${url}/cancel/${subscription!.id}`,
      `${url}/switch/${subscription!.id}`,
      `${simulator.url}/i/${subscription!.latest_invoice as string}`,
    ]
    for (const page of pages) expect([page, await violations(page)]).toEqual([page, []])
  })
})
