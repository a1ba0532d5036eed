import { describe, expect, it } from 'vitest'
import { eventTypes, refusal, start } from '../fixture.ts'

const day = 24 * 3600

/** A member of $7 a month whose card asks for 3-D Secure each time. */
async function member(card = 'pm_card_authenticationRequired') {
  const { simulator, stripe } = await start({ clock: () => Date.parse('2027-01-15T09:00:00Z') })
  const product = await stripe.products.create({ name: 'Membership' })
  const priceOf = (interval: 'month' | 'year', amount: number) =>
    stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: amount, recurring: { interval } })
  const [monthly, yearly] = [await priceOf('month', 700), await priceOf('year', 6_000)]
  const customer = await stripe.customers.create({ email: 'ada.lind@example.com', payment_method: 'pm_card_visa' })
  const [method] = (await stripe.customers.listPaymentMethods(customer.id)).data
  await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: method!.id } })
  const { id, items } = await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: card } })
  const seen = (await eventTypes(simulator)).length
  return {
    simulator,
    stripe,
    id,
    customer,
    change: (behavior: 'error_if_incomplete' | 'pending_if_incomplete', price = yearly.id) =>
      stripe.subscriptions.update(id, {
        items: [{ id: items.data[0]!.id, price }],
        proration_behavior: 'always_invoice',
        payment_behavior: behavior,
      }),
    read: () => stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] }),
    invoices: async () => (await stripe.invoices.list({ subscription: id })).data,
    events: async () => (await eventTypes(simulator)).slice(seen),
  }
}

interface Outcome {
  status: string
  redirectUrl: string | null
}
async function payOnPage(url: string | null | undefined, card = ''): Promise<Outcome> {
  const answer = await fetch(`${url}/pay`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: card === '' ? '' : `number=${card}&expiry=12/40&cvc=123&name=Ada`,
  })
  return (await answer.json()) as Outcome
}
async function answer(url: string | null, passed: boolean): Promise<void> {
  await fetch(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `answer=${passed ? 'complete' : 'fail'}`,
    redirect: 'manual',
  })
}

describe('a change of plan that needs a confirmation', () => {
  it('is rejected with 402 and changes nothing if requested so', async () => {
    const { change, read, invoices } = await member()
    expect(await refusal(change('error_if_incomplete'))).toMatchObject({
      statusCode: 402,
      rawType: 'card_error',
      code: 'subscription_payment_intent_requires_action',
    })
    expect(await read()).toMatchObject({ status: 'active', pending_update: null })
    expect(await invoices()).toHaveLength(1)
  })

  it('is pending until its invoice is paid', async () => {
    const { simulator, change, read, events } = await member()
    const { pending_update: update } = await change('pending_if_incomplete')
    expect(update).toMatchObject({ expires_at: simulator.now() + 23 * 3600, billing_cycle_anchor: simulator.now() })
    const before = await read()
    expect(before).toMatchObject({ status: 'active', latest_invoice: { status: 'open', next_payment_attempt: null } })
    expect(before.items.data[0]?.price.recurring?.interval).toBe('month')
    const page = typeof before.latest_invoice === 'string' ? null : before.latest_invoice?.hosted_invoice_url
    const shown = await (await fetch(page ?? '')).text()
    expect(shown).toContain('with the card ending in 3184')
    await answer((await payOnPage(page)).redirectUrl, false)
    expect(await read()).toMatchObject({ status: 'active', latest_invoice: { status: 'open' } })
    await answer((await payOnPage(page)).redirectUrl, true)
    const after = await read()
    expect(after).toMatchObject({ status: 'active', pending_update: null, latest_invoice: { status: 'paid' } })
    expect(after.items.data[0]?.price.recurring?.interval).toBe('year')
    expect((await events()).filter((type) => type.startsWith('customer.subscription.'))).toEqual([
      'customer.subscription.updated',
      'customer.subscription.updated',
      'customer.subscription.pending_update_applied',
    ])
    expect(await payOnPage(page)).toMatchObject({ status: 'paid' })
    expect(await (await fetch(page ?? '')).text()).toContain('A test invoice: no money moved.')
  })

  it.each([
    ['its time is over', async ({ simulator }: Awaited<ReturnType<typeof member>>) => simulator.advanceClock(day)],
    ['its invoice is voided', async ({ stripe, invoices }) => stripe.invoices.voidInvoice((await invoices())[0]!.id)],
    ['the subscription ends', async ({ stripe, id }) => stripe.subscriptions.cancel(id)],
    ['another one takes its place', async ({ change }) => change('pending_if_incomplete')],
  ] satisfies [string, (of: Awaited<ReturnType<typeof member>>) => Promise<unknown>][])(
    'is dropped when %s',
    async (_, end) => {
      const one = await member()
      await one.change('pending_if_incomplete')
      const [invoice] = await one.invoices()
      await end(one)
      expect(await one.stripe.invoices.retrieve(invoice!.id)).toMatchObject({ status: 'void' })
      expect(await payOnPage(invoice!.hosted_invoice_url)).toMatchObject({ status: 'not_found' })
      expect((await one.read()).items.data[0]?.price.recurring?.interval).toBe('month')
    },
  )

  it('is applied immediately if the card needs no confirmation', async () => {
    const { change, read } = await member('pm_card_visa')
    expect((await change('pending_if_incomplete')).pending_update).toBeNull()
    expect((await read()).items.data[0]?.price.recurring?.interval).toBe('year')
  })

  it('can only be of prices', async () => {
    const { stripe, id } = await member()
    const cancelling = stripe.subscriptions.update(id, {
      cancel_at_period_end: true,
      payment_behavior: 'pending_if_incomplete',
    })
    expect(await refusal(cancelling)).toMatchObject({ statusCode: 400, param: 'cancel_at_period_end' })
  })
})

describe('a renewal that needs a confirmation', () => {
  it('is confirmed on the page of its invoice, and reactivates the subscription', async () => {
    const { simulator, stripe, read, invoices, events } = await member()
    simulator.advanceClock(32 * day)
    expect(await read()).toMatchObject({ status: 'past_due', latest_invoice: { status: 'open', attempt_count: 1 } })
    expect((await events()).filter((type) => /payment/.test(type))).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'invoice.payment_failed',
      'invoice.payment_action_required',
    ])
    const [invoice] = await invoices()
    expect(await payOnPage(invoice!.hosted_invoice_url, '4000000000000002')).toMatchObject({ status: 'declined' })
    expect(await payOnPage(invoice!.hosted_invoice_url, '1')).toMatchObject({ status: 'invalid' })
    await answer((await payOnPage(invoice!.hosted_invoice_url)).redirectUrl, true)
    expect(await read()).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } })
    const paid = await stripe.invoices.list({ status: 'paid' })
    expect(paid.data).toHaveLength(2)
  })

  it('is paid there with another card, once', async () => {
    const { simulator, stripe, read, invoices } = await member()
    simulator.advanceClock(32 * day)
    const [invoice] = await invoices()
    for (let time = 0; time < 2; time++) {
      expect(await payOnPage(invoice!.hosted_invoice_url, '4242424242424242')).toMatchObject({ status: 'paid' })
    }
    expect(await read()).toMatchObject({ status: 'active' })
    expect((await stripe.charges.list()).data.filter(({ status }) => status === 'succeeded')).toHaveLength(2)
  })

  it('is not due once its invoice is voided', async () => {
    const { simulator, stripe, read, invoices } = await member()
    simulator.advanceClock(32 * day)
    await stripe.invoices.voidInvoice((await invoices())[0]!.id)
    expect(await read()).toMatchObject({ status: 'active', latest_invoice: { status: 'void' } })
    simulator.advanceClock(20 * day)
    expect((await stripe.charges.list()).data).toHaveLength(1)
  })
})
