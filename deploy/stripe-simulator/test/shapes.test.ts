import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { control, create, pay, start, subscribe } from './fixture.ts'

/** Every resource of Checkout, with its declaration file and interface. */
const declarations = {
  'checkout.session': ['Checkout/Sessions.d.ts', 'Session', 59],
  payment_intent: ['PaymentIntents.d.ts', 'PaymentIntent', 42],
  payment_method: ['PaymentMethods.d.ts', 'PaymentMethod', undefined],
  charge: ['Charges.d.ts', 'Charge', 42],
  refund: ['Refunds.d.ts', 'Refund', 17],
  customer: ['Customers.d.ts', 'Customer', undefined],
  event: ['Events.d.ts', 'EventBase', 9],
  webhook_endpoint: ['WebhookEndpoints.d.ts', 'WebhookEndpoint', 11],
  item: ['LineItems.d.ts', 'LineItem', 12],
  price: ['Prices.d.ts', 'Price', undefined],
  product: ['Products.d.ts', 'Product', undefined],
  subscription: ['Subscriptions.d.ts', 'Subscription', 46],
  subscription_item: ['SubscriptionItems.d.ts', 'SubscriptionItem', 13],
  plan: ['Plans.d.ts', 'Plan', undefined],
  invoice: ['Invoices.d.ts', 'Invoice', 70],
  line_item: ['InvoiceLineItems.d.ts', 'InvoiceLineItem', undefined],
  invoice_payment: ['InvoicePayments.d.ts', 'InvoicePayment', 12],
  balance_transaction: ['BalanceTransactions.d.ts', 'BalanceTransaction', undefined],
} as const

interface Key {
  name: string
  required: boolean
  type: string
}

/** The top-level keys of an interface, read from the installed SDK's declarations. */
function keysOf(file: string, name: string): Key[] {
  const source = readFileSync(
    new URL(import.meta.resolve('stripe')).pathname.replace(/[^/]+$/, `resources/${file}`),
    'utf8',
  )
  const lines = source.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').split('\n')
  const start = lines.findIndex((line) => line.startsWith(`export interface ${name} {`))
  const end = lines.indexOf('}', start)
  return lines.slice(start + 1, end).flatMap((line) => {
    const found = /^ {4}(\w+)(\??): (.+);$/.exec(line)
    return found === null ? [] : [{ name: found[1] ?? '', required: found[2] === '', type: found[3] ?? '' }]
  })
}

function jsonTypesOf(type: string): RegExp | null {
  if (/^(string|number|boolean)( \| null)?$/.test(type)) return new RegExp(`^(${type.replaceAll(' ', '')})$`)
  if (/^Array<.*>$/.test(type)) return /^array$/
  if (/^string \| [A-Z]/.test(type)) return /^(string|object|null)$/
  return null
}

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

type Json = Record<string, unknown> & { id: string }

/** Objects of every resource in all states, as on the wire. */
async function collect(): Promise<Record<keyof typeof declarations, Json[]>> {
  const { simulator, stripe } = await start()
  const get = async (path: string) => {
    const answer = await fetch(simulator.url + path, { headers: { authorization: 'Bearer sk_test_x' } })
    return ((await answer.json()) as { data: Json[] }).data
  }
  const open = await stripe.checkout.sessions.create({ ...create, customer_creation: 'always' })
  const cards = ['4242424242424242', '4000000000000002', '4000002500003155', '4000000000007726', '4000000000005126']
  for (const card of cards) {
    const { id } = await stripe.checkout.sessions.create({ ...create, customer_creation: 'always' })
    await pay(simulator, id, card)
    const { payment_intent: intent, status } = await stripe.checkout.sessions.retrieve(id)
    if (status === 'complete') await stripe.refunds.create({ payment_intent: intent as string })
  }
  const gone = await stripe.checkout.sessions.create(create)
  await stripe.checkout.sessions.expire(gone.id)
  for (const card of ['4000000000000002', '4242424242424242', '4242424242424242']) {
    const { id } = await stripe.checkout.sessions.create(subscribe)
    await pay(simulator, id, card)
  }
  const [ended] = (await stripe.subscriptions.list()).data
  await stripe.subscriptions.cancel(ended?.id ?? '')
  const slow = await stripe.checkout.sessions.create(create)
  await control(simulator, `/checkout/${slow.id}/complete-async`, {})
  await stripe.webhookEndpoints.create({ url: 'http://localhost:1/hook', enabled_events: ['invoice.paid'] })
  simulator.advanceClock(60)

  const full = 'limit=100&expand[]=data.payment_method&expand[]=data.latest_charge.balance_transaction'
  const intents = await get(`/v1/payment_intents?${full}`)
  const items = await get(`/v1/checkout/sessions/${open.id}/line_items?expand[]=data.price.product`)
  const member = await stripe.checkout.sessions.create(subscribe)
  const memberItems = await get(`/v1/checkout/sessions/${member.id}/line_items?expand[]=data.price.product`)
  const subscriptions = await get('/v1/subscriptions?limit=100&status=all')
  const subscriptionItems = subscriptions.flatMap((one) => (one['items'] as { data: Json[] }).data)
  const invoices = await get('/v1/invoices?limit=100')
  const prices = [...items, ...memberItems].map((item) => item['price'] as Json)
  return {
    'checkout.session': await get('/v1/checkout/sessions?limit=100'),
    payment_intent: await get('/v1/payment_intents?limit=100'),
    payment_method: intents.map((one) => one['payment_method'] as Json).filter((one) => one !== null),
    charge: await get('/v1/charges?limit=100'),
    refund: await get('/v1/refunds?limit=100'),
    customer: await get('/v1/customers?limit=100'),
    event: await get('/v1/events?limit=100'),
    webhook_endpoint: await get('/v1/webhook_endpoints'),
    item: [...items, ...memberItems],
    subscription: subscriptions,
    subscription_item: subscriptionItems,
    plan: subscriptionItems.map((one) => one['plan'] as Json),
    invoice: [...invoices, ...(await get('/v1/invoices?limit=100&expand[]=data.payments'))],
    line_item: invoices.flatMap((one) => (one['lines'] as { data: Json[] }).data),
    invoice_payment: await get('/v1/invoice_payments?limit=100'),
    price: prices,
    product: prices.map((price) => price['product'] as Json),
    balance_transaction: intents
      .map((one) => (one['latest_charge'] as Json | null)?.['balance_transaction'] as Json | null)
      .filter((one) => one !== null && one !== undefined),
  }
}

describe('every resource has the keys and types that the SDK declares', async () => {
  let objects: Awaited<ReturnType<typeof collect>> | undefined

  it.each(Object.entries(declarations))('%s', async (resource, [file, name, count]) => {
    objects ??= await collect()
    const keys = keysOf(file, name)
    const required = keys.filter((key) => key.required).map((key) => key.name)
    if (count !== undefined) expect(required).toHaveLength(count)
    expect(required.length).toBeGreaterThan(8)
    const found = objects[resource as keyof typeof declarations]
    expect(found.length).toBeGreaterThan(0)
    for (const object of found) {
      expect(object['object']).toBe(resource)
      expect(required.filter((key) => !Object.hasOwn(object, key))).toEqual([])
      const declared = new Set(keys.map((key) => key.name))
      expect(Object.keys(object).filter((key) => !declared.has(key))).toEqual([])
      for (const key of keys) {
        const types = jsonTypesOf(key.type)
        const value = object[key.name]
        if (types === null || value === undefined) continue
        expect(jsonType(value), `${resource}.${key.name}: ${key.type}`).toMatch(types)
      }
    }
  })
})
