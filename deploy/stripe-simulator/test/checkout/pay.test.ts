import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/app.ts'
import { testCards } from '../../src/payments/cards.ts'
import { control, create, eventTypes, pay, refusal, start } from '../fixture.ts'

const paidEvents = [
  'payment_intent.created',
  'charge.succeeded',
  'payment_intent.succeeded',
  'checkout.session.completed',
]
const declinedEvents = ['payment_intent.created', 'charge.failed', 'payment_intent.payment_failed']

const form = {
  number: '4242 4242 4242 4242',
  expiry: '12 / 40',
  cvc: '123',
  name: 'Ada Lind',
  email: 'ada@example.com',
}

function submit(url: string | null, fields: Record<string, string>, accept = 'text/html') {
  return fetch(url ?? '', {
    method: 'POST',
    redirect: 'manual',
    headers: { accept },
    body: new URLSearchParams(fields),
  })
}

async function open(simulator: Simulator, stripe: Stripe, change: Partial<Stripe.Checkout.SessionCreateParams> = {}) {
  const session = await stripe.checkout.sessions.create({ ...create, ...change })
  return {
    id: session.id,
    url: session.url,
    pay: (card?: string, more?: object) => pay(simulator, session.id, card, more),
  }
}

describe('terms of service', () => {
  const required = {
    consent_collection: { terms_of_service: 'required' },
    custom_text: { terms_of_service_acceptance: { message: 'I agree that <it> renews.' } },
  } as const

  it('are shown with the merchant’s text, and required for the payment', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe, required)
    expect(await (await fetch(checkout.url ?? '')).text()).toContain('I agree that &lt;it&gt; renews.')
    const refused = await submit(checkout.url, form, 'application/json')
    expect(await refused.json()).toMatchObject({ status: 'invalid', field: 'terms', code: 'terms_missing' })
    expect(await checkout.pay(undefined, { terms: false })).toMatchObject({ status: 'invalid', field: 'terms' })
    expect(await eventTypes(simulator)).toEqual([])
    expect((await submit(checkout.url, { ...form, terms: 'on' })).status).toBe(303)
    const session = await stripe.checkout.sessions.retrieve(checkout.id)
    expect(session).toMatchObject({
      consent_collection: { terms_of_service: 'required', promotions: null },
      consent: { terms_of_service: 'accepted', promotions: null },
    })
  })

  it('are not shown on a page of a session that does not require them', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    expect(await (await fetch(checkout.url ?? '')).text()).not.toContain('name="terms"')
    await checkout.pay()
    expect((await stripe.checkout.sessions.retrieve(checkout.id)).consent).toBeNull()
  })
})

describe('a payment', () => {
  it('succeeds with 4242', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    expect(await checkout.pay()).toMatchObject({
      status: 'paid',
      redirectUrl: `http://localhost:3000/success?session=${checkout.id}`,
    })
    const session = await stripe.checkout.sessions.retrieve(checkout.id, { expand: ['payment_intent.latest_charge'] })
    expect(session).toMatchObject({ status: 'complete', payment_status: 'paid', url: null })
    expect(session.customer_details).toMatchObject({ email: 'ada.lind@example.com', name: 'Test Parent' })
    const intent = session.payment_intent as Stripe.PaymentIntent
    expect(intent).toMatchObject({ status: 'succeeded', amount_received: 40_000, metadata: { registration: 'r-1' } })
    expect(intent.latest_charge).toMatchObject({
      amount: 40_000,
      amount_captured: 40_000,
      captured: true,
      paid: true,
      refunded: false,
      status: 'succeeded',
      payment_method_details: { card: { brand: 'visa', last4: '4242' } },
    })
    expect(await eventTypes(simulator)).toEqual(paidEvents)
  })

  it.each([
    ['4000000000000002', 'card_declined', 'generic_decline', 'Your card was declined.'],
    ['4000000000009995', 'card_declined', 'insufficient_funds', 'Your card has insufficient funds.'],
    ['4000000000009987', 'card_declined', 'lost_card', 'Your card was declined.'],
    ['4000000000009979', 'card_declined', 'stolen_card', 'Your card was declined.'],
    ['4000000000000069', 'expired_card', null, 'Your card has expired.'],
    ['4000000000000127', 'incorrect_cvc', null, "Your card's security code is incorrect."],
    ['4000000000000119', 'processing_error', null, /^An error occurred while processing your card\./],
    ['4000000000000341', 'card_declined', 'generic_decline', 'Your card was declined.'],
  ])('is declined with %s and can be repeated', async (card, code, declineCode, message) => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const refused = await checkout.pay(card)
    expect(refused).toMatchObject({ status: 'declined', code, declineCode, redirectUrl: null })
    expect(refused.message).toMatch(message)
    const session = await stripe.checkout.sessions.retrieve(checkout.id, { expand: ['payment_intent'] })
    expect(session).toMatchObject({ status: 'open', payment_status: 'unpaid' })
    const intent = session.payment_intent as Stripe.PaymentIntent
    expect(intent.status).toBe('requires_payment_method')
    expect(intent.last_payment_error).toMatchObject({ code, type: 'card_error' })
    expect(intent.last_payment_error?.decline_code ?? null).toBe(declineCode)
    expect(await eventTypes(simulator)).toEqual(declinedEvents)

    expect(await checkout.pay()).toMatchObject({ status: 'paid' })
    const charges = await stripe.charges.list({ payment_intent: intent.id })
    expect(charges.data.map((one) => one.status)).toEqual(['succeeded', 'failed'])
    expect(await eventTypes(simulator)).toEqual([...declinedEvents, ...paidEvents.slice(1)])
  })

  it.each([
    ['a number that is not listed', { card: '5555555555554444' }, 'number', 'incorrect_number'],
    ['the wrong check digit', { card: '4242424242424241' }, 'number', 'incorrect_number'],
    ['half a number', { card: '42424242' }, 'number', 'incomplete_number'],
    [
      'a month that has passed',
      { card: '4242424242424242', expMonth: 1, expYear: 2020 },
      'expiry',
      'invalid_expiry_year_past',
    ],
    ['a month that is none', { card: '4242424242424242', expMonth: 13 }, 'expiry', 'incomplete_expiry'],
    ['a short security code', { card: '4242424242424242', cvc: '12' }, 'cvc', 'incomplete_cvc'],
    ['no name', { card: '4242424242424242', name: ' ' }, 'name', 'name_missing'],
  ])('is not attempted with %s', async (_what, { card, ...more }, field, code) => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    expect(await checkout.pay(card, more)).toMatchObject({ status: 'invalid', field, code })
    expect(await eventTypes(simulator)).toEqual([])
    expect((await stripe.paymentIntents.list()).data).toEqual([])
  })

  it('is charged once for concurrent requests', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit(checkout.url, form, 'application/json')))
    const outcomes = (await Promise.all(answers.map((one) => one.json()))) as { status: string }[]
    expect(new Set(outcomes.map((one) => one.status))).toEqual(new Set(['paid']))
    expect(await control(simulator, '/state')).toMatchObject({
      charges: { total: 1, succeeded: 1, amountCaptured: 40_000 },
      sessions: { complete: 1 },
    })
    expect(await eventTypes(simulator)).toEqual(paidEvents)
  })

  it('completes a free order without a payment', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe, {
      line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 0, product_data: { name: 'Trial' } } }],
    })
    expect(await checkout.pay()).toMatchObject({ status: 'paid' })
    expect(await stripe.checkout.sessions.retrieve(checkout.id)).toMatchObject({
      status: 'complete',
      payment_status: 'no_payment_required',
      payment_intent: null,
    })
  })

  it('never stores a card number', async () => {
    const { simulator, stripe } = await start()
    for (const card of testCards) {
      const checkout = await open(simulator, stripe)
      await checkout.pay(card.number)
    }
    const kept = JSON.stringify([
      await control(simulator, '/events'),
      await stripe.charges.list({ limit: 100, expand: ['data.payment_intent.payment_method'] }),
    ])
    for (const card of testCards) expect(kept).not.toContain(card.number)
  })
})

describe('3-D Secure', () => {
  it.each(['4000002500003155', '4000002760003184'])('requires a confirmation with %s, then succeeds', async (card) => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const asked = await checkout.pay(card)
    expect(asked.status).toBe('requires_action')
    const page = await fetch(asked.redirectUrl ?? '')
    expect(await page.text()).toContain('Confirm this payment')
    expect((await stripe.paymentIntents.list()).data[0]).toMatchObject({
      status: 'requires_action',
      next_action: { type: 'redirect_to_url', redirect_to_url: { url: asked.redirectUrl } },
    })
    expect((await stripe.charges.list()).data).toEqual([])

    const done = await submit(asked.redirectUrl, { answer: 'complete' })
    expect(done.status).toBe(303)
    expect(done.headers.get('location')).toBe(`http://localhost:3000/success?session=${checkout.id}`)
    expect(await eventTypes(simulator)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      ...paidEvents.slice(1),
    ])
    const [charge] = (await stripe.charges.list()).data
    expect(charge?.payment_method_details?.card?.three_d_secure?.result).toBe('authenticated')
  })

  it('leaves the session open when the parent fails to confirm', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const asked = await checkout.pay('4000002500003155')
    const failed = await submit(asked.redirectUrl, { answer: 'fail' })
    expect(failed.status).toBe(402)
    expect(await failed.text()).toContain('We are unable to authenticate your payment method.')
    const session = await stripe.checkout.sessions.retrieve(checkout.id, { expand: ['payment_intent'] })
    expect(session.status).toBe('open')
    expect((session.payment_intent as Stripe.PaymentIntent).last_payment_error?.code).toBe(
      'payment_intent_authentication_failure',
    )
    expect(await eventTypes(simulator)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.payment_failed',
    ])
  })

  it('can be confirmed and declined afterwards', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const asked = await checkout.pay('4000008400001629')
    const answer = await submit(asked.redirectUrl, { answer: 'complete' }, 'application/json')
    expect(await answer.json()).toMatchObject({ status: 'declined', code: 'card_declined' })
    expect((await stripe.checkout.sessions.retrieve(checkout.id)).status).toBe('open')
    expect(await eventTypes(simulator)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'charge.failed',
      'payment_intent.payment_failed',
    ])
  })

  it('charges once when a payment is repeated after an abandoned confirmation', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const left = await checkout.pay('4000002500003155')
    const again = await checkout.pay('4000002500003155')
    expect(again.redirectUrl).not.toBe(left.redirectUrl)
    const late = await submit(left.redirectUrl, { answer: 'complete' }, 'application/json')
    expect(await late.json()).toMatchObject({ status: 'declined' })
    const done = await submit(again.redirectUrl, { answer: 'complete' }, 'application/json')
    expect(await done.json()).toMatchObject({ status: 'paid' })
    await submit(left.redirectUrl, { answer: 'complete' }, 'application/json')
    expect(await control(simulator, '/state')).toMatchObject({ charges: { total: 1, succeeded: 1 } })
  })
})

describe('an asynchronous payment', () => {
  it.each([
    ['succeeded', 'paid', ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.async_payment_succeeded']],
    ['failed', 'unpaid', ['charge.failed', 'payment_intent.payment_failed', 'checkout.session.async_payment_failed']],
  ])('completes unpaid, and has %s later', async (outcome, paymentStatus, later) => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    const answer = await control(simulator, `/checkout/${checkout.id}/complete-async`, { outcome, afterSeconds: 60 })
    expect(answer).toMatchObject({ status: 'processing' })
    expect(await stripe.checkout.sessions.retrieve(checkout.id)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
    })
    const first = [
      'payment_intent.created',
      'charge.pending',
      'payment_intent.processing',
      'checkout.session.completed',
    ]
    expect(await eventTypes(simulator)).toEqual(first)
    await control(simulator, '/clock', { advanceSeconds: 60 })
    expect((await stripe.checkout.sessions.retrieve(checkout.id)).payment_status).toBe(paymentStatus)
    expect(await eventTypes(simulator)).toEqual([...first, ...later])
  })

  it('can be settled by hand, once', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    await control(simulator, `/checkout/${checkout.id}/complete-async`, {})
    const settled = await control(simulator, `/checkout/${checkout.id}/settle-async`, { outcome: 'succeeded' })
    expect(settled).toMatchObject({ payment_status: 'paid' })
    const again = await control(simulator, `/checkout/${checkout.id}/settle-async`, { outcome: 'failed' })
    expect(again).toHaveProperty('error')
  })
})

describe('the payment page', () => {
  it('shows yen without a decimal point', async () => {
    const { simulator, stripe } = await start()
    const data = { currency: 'jpy', unit_amount: 1500, product_data: { name: 'Spider' } }
    const { id, url } = await stripe.checkout.sessions.create({
      ...create,
      line_items: [{ quantity: 1, price_data: data }],
    })
    const page = await (await fetch(url ?? '')).text()
    expect(page).toContain('¥1,500')
    expect(page).not.toContain('¥15.00')
    await pay(simulator, id)
    const { payment_intent: intent } = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] })
    expect(intent).toMatchObject({ amount_received: 1500, currency: 'jpy' })
    const wrong = stripe.refunds.create({ payment_intent: (intent as Stripe.PaymentIntent).id, amount: 1501 })
    expect((await refusal(wrong)).message).toContain('(¥1,501) is greater than charge amount (¥1,500)')
    expect(await (await fetch(simulator.url)).text()).toContain('¥1,500')
  })

  it('shows the order, the simulator banner and labelled fields under a strict policy', async () => {
    const { simulator, stripe } = await start()
    const { url } = await open(simulator, stripe)
    const answer = await fetch(url ?? '')
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).toContain('Payment simulator: no real card is charged')
    expect(text).toContain('Robotics Foundations')
    expect(text).toContain('Pay $400.00')
    expect(text).toContain('value="ada.lind@example.com"')
    for (const name of ['email', 'number', 'expiry', 'cvc', 'name']) {
      expect(text).toContain(`<label for="${name}">`)
      expect(text).toContain(`aria-describedby="${name}-error"`)
    }
    for (const token of ['email', 'cc-number', 'cc-exp', 'cc-csc', 'cc-name']) {
      expect(text).toContain(`autocomplete="${token}"`)
    }
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("form-action 'self' http://localhost:3000")
    expect(policy).not.toContain('unsafe')
  })

  it('pays without script and redirects to the success URL', async () => {
    const { simulator, stripe } = await start()
    const { id, url } = await open(simulator, stripe)
    const answer = await submit(url, form)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(`http://localhost:3000/success?session=${id}`)
  })

  it('shows a decline without script, keeps the name and sends no card detail back', async () => {
    const { simulator, stripe } = await start()
    const { url } = await open(simulator, stripe)
    const answer = await submit(url, { ...form, number: '4000000000009995' })
    const text = await answer.text()
    expect(answer.status).toBe(402)
    expect(text).toContain('Your card has insufficient funds.')
    expect(text).toContain('aria-invalid="true"')
    expect(text).toContain('value="Ada Lind"')
    expect(text).not.toContain('value="4000')
    expect(text).not.toContain('value="123"')
  })

  it('escapes the texts of a session', async () => {
    const { simulator, stripe } = await start()
    const { url } = await open(simulator, stripe, {
      line_items: [
        {
          quantity: 1,
          price_data: { currency: 'usd', unit_amount: 1000, product_data: { name: '<img src=x onerror=alert(1)>' } },
        },
      ],
    })
    const text = await (await fetch(url ?? '')).text()
    expect(text).toContain('&lt;img src=x')
    expect(text).not.toContain('<img')
  })

  it('shows a complete session as paid, with a link to the merchant', async () => {
    const { simulator, stripe } = await start()
    const { id, url, pay: payNow } = await open(simulator, stripe)
    await payNow()
    const text = await (await fetch(url ?? '')).text()
    expect(text).toContain('You have already paid')
    expect(text).toContain(`href="http://localhost:3000/success?session=${id}"`)
  })

  it('answers 404 for an unknown session', async () => {
    const { simulator } = await start()
    const answer = await fetch(`${simulator.url}/c/pay/cs_test_none`)
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('does not exist')
  })
})

describe('a session that collects a shipping address', () => {
  const SHIPS = { shipping_address_collection: { allowed_countries: ['US', 'CA'] } } as const
  const ADDRESS = {
    shippingName: 'Zoë Holt',
    line1: '1 Main St',
    line2: '',
    city: 'Cambridge',
    state: 'MA',
    postalCode: '02139',
    country: 'US',
  }

  it('records the address with the payment', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe, { ...SHIPS, customer_email: undefined } as object)
    expect((await stripe.checkout.sessions.retrieve(checkout.id)).shipping_address_collection).toEqual(
      SHIPS.shipping_address_collection,
    )
    const page = await (await fetch(checkout.url ?? '')).text()
    for (const label of ['Shipping address', 'Full name', 'ZIP code', 'United States', 'Canada']) {
      expect(page).toContain(label)
    }
    expect((await submit(checkout.url, { ...form, ...ADDRESS, line2: 'Unit 4' })).status).toBe(303)
    const { collected_information: collected } = await stripe.checkout.sessions.retrieve(checkout.id)
    expect(collected?.shipping_details).toEqual({
      name: 'Zoë Holt',
      address: {
        line1: '1 Main St',
        line2: 'Unit 4',
        city: 'Cambridge',
        state: 'MA',
        postal_code: '02139',
        country: 'US',
      },
    })
  })

  it.each(['shippingName', 'line1', 'city', 'state', 'postalCode'])('charges nothing without %s', async (field) => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe, SHIPS as object)
    const answer = await submit(checkout.url, { ...form, ...ADDRESS, [field]: ' ' }, 'application/json')
    expect(await answer.json()).toMatchObject({ status: 'invalid', field, code: 'shipping_address_invalid' })
    expect(await eventTypes(simulator)).toEqual([])
  })

  it('keeps the address during a confirmation and when the form is shown again', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe, SHIPS as object)
    const refused = await submit(checkout.url, { ...form, ...ADDRESS, number: '4000000000000002' })
    expect(await refused.text()).toContain('value="02139"')
    expect(await checkout.pay('4000002500003155', { shipping: { city: 'Elsewhere' } })).toMatchObject({
      status: 'requires_action',
    })
    const { collected_information: collected } = await stripe.checkout.sessions.retrieve(checkout.id)
    expect(collected?.shipping_details?.address.city).toBe('Elsewhere')
  })

  it('is rejected for an unknown country', async () => {
    const { stripe } = await start()
    const refused = stripe.checkout.sessions.create({
      ...create,
      shipping_address_collection: { allowed_countries: ['usa'] },
    })
    await expect(refused).rejects.toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError' })
  })

  it('shows no address fields if the session collects none', async () => {
    const { simulator, stripe } = await start()
    const checkout = await open(simulator, stripe)
    await checkout.pay()
    const session = await stripe.checkout.sessions.retrieve(checkout.id)
    expect(session.shipping_address_collection).toBeNull()
    expect(session.collected_information?.shipping_details).toBeNull()
  })
})
