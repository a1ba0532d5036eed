/** Objects that checks need. Each check creates its own. */
import type { Stripe } from 'stripe'
import { control, type Target } from './target.ts'

const successUrl = 'http://localhost:3000/success?session={CHECKOUT_SESSION_ID}'

export const purchase: Stripe.Checkout.SessionCreateParams = {
  mode: 'payment',
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 40_000, product_data: { name: 'Robotics Foundations' } },
    },
  ],
  customer_creation: 'always',
  success_url: successUrl,
}

export const plan: Stripe.Checkout.SessionCreateParams = {
  mode: 'subscription',
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: 'usd',
        unit_amount: 700,
        recurring: { interval: 'month' },
        product_data: { name: 'Membership' },
      },
    },
  ],
  success_url: successUrl,
}

export async function prices({ stripe }: Target) {
  const product = await stripe.products.create({ name: 'Membership' })
  const priceOf = (interval: 'month' | 'year', amount: number) =>
    stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: amount, recurring: { interval } })
  return { product, monthly: await priceOf('month', 700), yearly: await priceOf('year', 6000) }
}

export async function payer({ stripe }: Target, more: Stripe.CustomerCreateParams = {}): Promise<Stripe.Customer> {
  return stripe.customers.create({
    email: 'ada.lind@example.com',
    payment_method: 'pm_card_visa',
    invoice_settings: { default_payment_method: 'pm_card_visa' },
    ...more,
  })
}

export async function subscribed(target: Target, more: Stripe.CustomerCreateParams = {}) {
  const { monthly, yearly } = await prices(target)
  const customer = await payer(target, more)
  const subscription = await target.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  return { customer, subscription, itemId: subscription.items.data[0]?.id ?? '', monthly, yearly }
}

/** A member with its own test clock, which `to` advances and waits for. */
export async function clocked(target: Target) {
  const { stripe } = target
  const from = Date.parse('2030-01-15T09:00:00Z') / 1000
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: from })
  const made = await subscribed(target, { test_clock: clock.id })
  const to = async (time: number) => {
    let state = await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: time })
    for (const deadline = Date.now() + 60_000; state.status !== 'ready' && Date.now() < deadline;) {
      state = await stripe.testHelpers.testClocks.retrieve(clock.id)
    }
    if (state.status !== 'ready') throw new Error(`The test clock is ${state.status}`)
  }
  const days = (count: number) => to(from + count * 24 * 3600)
  return { ...made, clock, from, days }
}

export function paid(
  { stripe }: Target,
  method = 'pm_card_visa',
  more: Partial<Stripe.PaymentIntentCreateParams> = {},
) {
  return stripe.paymentIntents.create({
    amount: 40_000,
    currency: 'usd',
    payment_method: method,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...more,
  })
}

/** Pays as a parent on the hosted page. */
export async function payPage(target: Target, session: string, card: string) {
  return control<{ status: string; redirectUrl: string | null }>(target, `/checkout/${session}/pay`, { card })
}
