/** (a) Every resource has the keys and types declared by the installed SDK. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { idOf } from '../src/protocol/ids.ts'
import { paid, purchase, subscribed } from './records.ts'
import { control, eventually, raw, type Check, type Json, type Target } from './target.ts'

/** Resource: its type in the SDK, its declaration file and interface, and the number of its required keys. */
const resources = {
  'checkout.session': ['Checkout.Session', 'Checkout/Sessions.d.ts', 'Session', 59],
  invoice: ['Invoice', 'Invoices.d.ts', 'Invoice', 70],
  subscription: ['Subscription', 'Subscriptions.d.ts', 'Subscription', 46],
  payment_intent: ['PaymentIntent', 'PaymentIntents.d.ts', 'PaymentIntent', 42],
  charge: ['Charge', 'Charges.d.ts', 'Charge', 42],
  price: ['Price', 'Prices.d.ts', 'Price', 19],
  refund: ['Refund', 'Refunds.d.ts', 'Refund', 17],
  dispute: ['Dispute', 'Disputes.d.ts', 'Dispute', 17],
  product: ['Product', 'Products.d.ts', 'Product', 16],
  subscription_item: ['SubscriptionItem', 'SubscriptionItems.d.ts', 'SubscriptionItem', 13],
  'billing_portal.session': ['BillingPortal.Session', 'BillingPortal/Sessions.d.ts', 'Session', 12],
  invoice_payment: ['InvoicePayment', 'InvoicePayments.d.ts', 'InvoicePayment', 12],
  item: ['LineItem', 'LineItems.d.ts', 'LineItem', 12],
  customer: ['Customer', 'Customers.d.ts', 'Customer', 11],
  webhook_endpoint: ['WebhookEndpoint', 'WebhookEndpoints.d.ts', 'WebhookEndpoint', 11],
  event: ['EventBase', 'Events.d.ts', 'EventBase', 9],
} as const
type Resource = keyof typeof resources
const names = Object.keys(resources) as Resource[]

const stripeFolder = dirname(new URL(import.meta.resolve('stripe')).pathname)

/** The required top-level keys of an interface. */
async function requiredKeys(file: string, name: string): Promise<string[]> {
  const source = await readFile(join(stripeFolder, 'resources', file), 'utf8')
  const lines = source.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').split('\n')
  const start = lines.findIndex((line) => line.startsWith(`export interface ${name} {`))
  const end = lines.indexOf('}', start)
  return lines.slice(start + 1, end).flatMap((line) => /^ {4}(\w+): .+;$/.exec(line)?.[1] ?? [])
}

async function onePrice({ stripe }: Target) {
  const { id } = await stripe.products.create({ name: 'Robotics Foundations' })
  return stripe.prices.create({ product: id, currency: 'usd', unit_amount: 40_000 })
}

/** One object per resource; those that the target does not support are left out. */
async function collect(target: Target): Promise<Partial<Record<Resource, Json>>> {
  const { stripe } = target
  const found: Partial<Record<Resource, Json>> = {}
  const take = async (resource: Resource, path: () => Promise<string>) => {
    try {
      found[resource] = await raw(target, await path())
    } catch {
      // It counts as missing.
    }
  }
  const first = async (list: string): Promise<Json> => {
    const [one] = (await raw(target, list))['data'] as Json[]
    if (one === undefined) throw new Error(`${list} is empty`)
    return one
  }
  const put = async (resource: Resource, get: () => Promise<Json>) => {
    try {
      found[resource] = await get()
    } catch {
      // It counts as missing.
    }
  }
  const member = await subscribed(target).catch(() => null)
  const price = member?.monthly ?? (await onePrice(target).catch(() => null))
  // A stand-in without inline prices may support named ones.
  const named = { ...purchase, line_items: [{ quantity: 1, price: price?.id ?? '' }] }
  const made = await stripe.checkout.sessions
    .create(purchase)
    .catch(() => stripe.checkout.sessions.create(named))
    .catch(() => null)
  await take('checkout.session', async () => `/v1/checkout/sessions/${made?.id}`)
  await put('item', () => first(`/v1/checkout/sessions/${made?.id}/line_items`))
  const intent = await paid(target).catch(() => null)
  await take('payment_intent', async () => `/v1/payment_intents/${intent?.id}`)
  await take('charge', async () => `/v1/charges/${idOf(intent?.latest_charge)}`)
  await take(
    'refund',
    async () => `/v1/refunds/${(await stripe.refunds.create({ payment_intent: intent?.id ?? '' })).id}`,
  )
  const id = member?.subscription.id ?? ''
  await take('subscription', async () => `/v1/subscriptions/${id}`)
  await put('subscription_item', () => first(`/v1/subscription_items?subscription=${id}`))
  const invoice = idOf(member?.subscription.latest_invoice)
  await take('invoice', async () => `/v1/invoices/${invoice}`)
  await put('invoice_payment', () => first(`/v1/invoice_payments?invoice=${invoice}`))
  await take('price', async () => `/v1/prices/${price?.id}`)
  await take('product', async () => `/v1/products/${idOf(price?.product)}`)
  const customer = member?.customer ?? (await stripe.customers.create({ email: 'a@example.com' }).catch(() => null))
  await take('customer', async () => `/v1/customers/${customer?.id}`)
  await put('billing_portal.session', async () => {
    const { lastResponse: _, ...session } = await stripe.billingPortal.sessions.create({ customer: customer?.id ?? '' })
    return { ...session }
  })
  await take('webhook_endpoint', async () => {
    const url = 'https://example.com/hook'
    return `/v1/webhook_endpoints/${(await stripe.webhookEndpoints.create({ url, enabled_events: ['product.deleted'] })).id}`
  })
  await put('dispute', async () => {
    const charge = idOf((await paid(target, 'pm_card_createDispute')).latest_charge)
    if (target.hasControl) await control(target, '/clock', { advanceSeconds: 5 })
    return eventually(() => first(`/v1/disputes?charge=${charge}`), target.hasControl ? 1000 : 20_000)
  })
  await put('event', () => first('/v1/events?limit=1'))
  return found
}

/** Compiles the objects as literals of the SDK's types, including nested keys and unions. */
export async function compileErrors(found: Partial<Record<Resource, Json>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scorecard-'))
  try {
    const literals = names.flatMap((name) => {
      const object = found[name]
      if (object === undefined) return []
      return [`export const ${name.replace('.', '_')}: Wire<Stripe.${resources[name][0]}> = ${JSON.stringify(object)}`]
    })
    const head = [
      "import type { Stripe } from 'stripe'",
      "type Decimal = NonNullable<Stripe.Price['unit_amount_decimal']>",
      'type Wire<T> = T extends Decimal ? string : T extends readonly (infer U)[] ? Wire<U>[] : T extends object ? { [K in keyof T]: Wire<T[K]> } : T',
    ]
    await writeFile(join(folder, 'wire.ts'), [...head, ...literals, ''].join('\n'))
    const options = {
      target: 'esnext',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      paths: { stripe: [join(stripeFolder, 'stripe.esm.node.d.ts')] },
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['wire.ts'] }))
    const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
    const run = promisify(execFile)
    const args = [join(typescript, 'bin/tsc'), '-p', folder, '--pretty', 'false']
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch(
      (failure: { stdout: string }) => failure,
    )
    return stdout.split('\n').flatMap((line) => {
      const [, at, message] = /^wire\.ts\((\d+),\d+\): (.+)$/.exec(line) ?? []
      if (message === undefined) return line.startsWith('error') ? [line] : []
      return [`${/^export const (\w+)/.exec(literals[Number(at) - head.length - 1] ?? '')?.[1]}: ${message}`]
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Findings {
  found: Partial<Record<Resource, Json>>
  errors: string[]
}

const findings = new WeakMap<Target, Promise<Findings>>()

function findingsOf(target: Target): Promise<Findings> {
  const known = findings.get(target)
  if (known !== undefined) return known
  const made = collect(target).then(async (found) => ({ found, errors: await compileErrors(found) }))
  findings.set(target, made)
  return made
}

/** Counts the required keys of each resource. */
export async function keyCounts(target: Target): Promise<{ resource: Resource; there: number; required: number }[]> {
  const { found } = await findingsOf(target)
  return Promise.all(
    names.map(async (resource) => {
      const [, file, name] = resources[resource]
      const required = await requiredKeys(file, name)
      const object = found[resource] ?? {}
      return { resource, there: required.filter((key) => Object.hasOwn(object, key)).length, required: required.length }
    }),
  )
}

export const shapeChecks: readonly Check[] = names.flatMap((resource): Check[] => {
  const [, file, name, count] = resources[resource]
  return [
    {
      section: 'shapes',
      name: `${resource} has its ${count} required keys`,
      async run(target) {
        const required = await requiredKeys(file, name)
        assert.equal(required.length, count)
        const object = (await findingsOf(target)).found[resource]
        assert(object !== undefined, 'there is none')
        assert.deepEqual(
          required.filter((key) => !Object.hasOwn(object, key)),
          [],
        )
        assert.equal(object['object'], resource)
      },
    },
    {
      section: 'shapes',
      name: `${resource} has the declared types, nested ones too, and no other key`,
      async run(target) {
        const { found, errors } = await findingsOf(target)
        assert(found[resource] !== undefined, 'there is none')
        const own = errors.filter((one) => one.startsWith('error') || one.startsWith(`${resource.replace('.', '_')}: `))
        assert.deepEqual(own, [])
      },
    },
  ]
})
