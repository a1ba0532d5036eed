import { parseArgs } from 'node:util'
import { randomUUID } from 'node:crypto'
import { reconciliationSchema } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { readSettings } from './settings.ts'

const usage = `npm run admin -- <command>

  registrations [--email a@b.c] [--status held] [--csv]   who is registered, newest first: all of them,
                [--limit 100] [--cursor …]                or that many, after the nextCursor of the ones before
  expire <registrationId>                                 let an unpaid hold go now
  refund <registrationId|receipt> [cents]                 give a payment back, whole or in part: refund RK-000012 500
  disputes                                                payments that are disputed with the bank, newest first
  ledger                                                  hold the ledger against the payment provider's list
  ship <registrationId> <carrier> <tracking number>       a kit is on its way
  price <sku> <cents>                                     set a price from now on: price class:basic 42000
  mails <registrationId|address>                          what was mailed
  resend <mailId>                                         send a mail once more
  orders [--status paid]                                  what was bought in the shop, newest first
  ship-order <orderId> [tracking number]                  a parcel is on its way
  product <sku> <state>                                   what can be done about it: product product:ai-teddy-bear pre_order
  reset-mfa <address|user name>                           turn a lost second step off, once you know who asks: see
                                                          services/identity/README.md
  dead-letters [--all]                                    events that could not be handled, in every service
  dead-letters show <id>
  dead-letters replay <id>|all                            hand them to their handlers again

Addresses and secret come from ENROLLMENT_URL, BILLING_URL, NOTIFICATIONS_URL, SITE_URL and ADMIN_SECRET, for accounts from
IDENTITY_URL, IDENTITY_POOL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; without them the system that npm start runs is meant.`

const settings = readSettings(process.env)
const env = process.env
const addresses = {
  site: env['SITE_URL'] ?? `http://localhost:${settings.PORT}`,
  enrollment: env['ENROLLMENT_URL'] ?? `http://127.0.0.1:${settings.ENROLLMENT_PORT}`,
  billing: env['BILLING_URL'] ?? `http://127.0.0.1:${settings.BILLING_PORT}`,
  notifications: env['NOTIFICATIONS_URL'] ?? `http://127.0.0.1:${settings.NOTIFICATIONS_PORT}`,
}
const services = ['enrollment', 'billing', 'notifications'] as const

class Refused extends Error {}

async function request(
  from: keyof typeof addresses,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Response> {
  const answer = await fetch(addresses[from] + path, {
    method,
    headers: {
      'x-admin-secret': env['ADMIN_SECRET'] ?? 'local-admin',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Refused(`${from} does not answer at ${addresses[from]} (${String((error as Error).cause ?? error)})`)
  })
  if (answer.ok) return answer
  const refusal = (await answer.json().catch(() => ({}))) as { code?: string; message?: string }
  throw new Refused(`${refusal.code ?? answer.status}: ${refusal.message ?? answer.statusText}`)
}

async function json(...call: Parameters<typeof request>): Promise<unknown> {
  return (await request(...call)).json()
}

function print(value: unknown): void {
  console.log(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

interface DeadLetter {
  id: string
  handler: string
  error: string
  deliveries: number
  failedAt: string
  payload: string
}

async function deadLetters(all: boolean): Promise<(DeadLetter & { service: (typeof services)[number] })[]> {
  const lists = services.map(async (service) => {
    const { deadLetters: letters } = (await json(service, 'GET', `/admin/dead-letters?all=${all}`)) as {
      deadLetters: DeadLetter[]
    }
    return letters.map((letter) => ({ ...letter, service }))
  })
  return (await Promise.all(lists)).flat()
}

async function deadLetterCommand(action: string | undefined, id: string | undefined, all: boolean): Promise<void> {
  const letters = await deadLetters(all || action === 'show')
  if (action === undefined) {
    if (letters.length === 0) print('No dead letters.')
    for (const letter of letters)
      print(`${letter.id}  ${letter.failedAt}  ${letter.handler}  ${letter.error.split('\n')[0]}`)
    return
  }
  const chosen = id === 'all' ? letters : letters.filter((letter) => letter.id === id)
  if (chosen.length === 0) throw new Refused(id === 'all' ? 'No dead letters.' : `There is no dead letter ${id ?? ''}.`)
  for (const letter of chosen) {
    if (action === 'show') print(letter)
    else if (action === 'replay') {
      await request(letter.service, 'POST', `/admin/dead-letters/${letter.id}/replay`)
      print(`${letter.id} replayed by ${letter.handler}`)
    } else throw new Refused(usage)
  }
}

interface RegistrationPage {
  registrations: unknown[]
  nextCursor: string | null
}

/** One page where a limit is asked for, else all pages as one. */
async function registrations(query: URLSearchParams): Promise<RegistrationPage> {
  const found: unknown[] = []
  for (const asked = new URLSearchParams(query); ;) {
    if (!query.has('limit')) asked.set('limit', '500')
    const page = (await json('site', 'GET', `/api/getAllRegistrations?${asked.toString()}`)) as RegistrationPage
    found.push(...page.registrations)
    if (query.has('limit') || page.nextCursor === null) return { registrations: found, nextCursor: page.nextCursor }
    asked.set('cursor', page.nextCursor)
  }
}

function needed(value: string | undefined, what: string): string {
  if (value === undefined) throw new Refused(`Which ${what}?\n\n${usage}`)
  return value
}

function cents(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Refused(`An amount is a whole number of cents, not "${text}".`)
  return Number(text)
}

const dollars = (amount: number) =>
  `${amount < 0 ? '−' : ''}${formatMoney({ amount: Math.abs(amount), currency: 'usd' })}`

/** Prints the ledger beside the provider's list; what does not agree, or has no explanation, ends the command with 1. */
async function ledger(): Promise<void> {
  const books = reconciliationSchema.parse(await json('billing', 'POST', '/admin/reconcile'))
  const { stripe, ledger: ours, difference, disagreements, unexplained, accounts } = books
  for (const [account, amount] of Object.entries(accounts).toSorted(([one], [other]) => one.localeCompare(other)))
    print(`${account.padEnd(16)}${dollars(amount).padStart(14)}`)
  print(`provider        ${dollars(stripe.net).padStart(14)}  in ${stripe.transactions} transactions`)
  print(`ledger          ${dollars(ours.net).padStart(14)}  in ${ours.transactions} transactions`)
  print(`difference      ${dollars(difference).padStart(14)}`)
  for (const line of [...disagreements, ...unexplained]) print(line)
  if (disagreements.length + unexplained.length > 0) process.exitCode = 1
}

async function resetMfaCommand(name: string): Promise<void> {
  const { resetMfa } = await import('./reset-mfa.ts')
  const forgotten = await resetMfa(name, {
    url: env['IDENTITY_URL'] ?? `http://127.0.0.1:${settings.IDENTITY_PORT}`,
    pool: env['IDENTITY_POOL'] ?? 'us-west-1_RoboKids',
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? 'local',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? 'local',
  }).catch((error: unknown) => {
    throw new Refused((error as Error).message)
  })
  const browsers = forgotten === 1 ? '1 browser is' : `${forgotten} browsers are`
  print(`Two-step sign-in of ${name} is off, ${browsers} forgotten, and all are signed out.`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      status: { type: 'string' },
      csv: { type: 'boolean', default: false },
      limit: { type: 'string' },
      cursor: { type: 'string' },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [command, first, second, third] = positionals
  if (command === undefined || values.help) return print(usage)
  switch (command) {
    case 'registrations': {
      const { email, status, limit, cursor } = values
      const query = new URLSearchParams({ format: values.csv ? 'csv' : 'json' })
      for (const [name, value] of Object.entries({ email, status, limit, cursor }))
        if (value !== undefined) query.set(name, value)
      if (!values.csv) return print(await registrations(query))
      const answer = await request('site', 'GET', `/api/getAllRegistrations?${query.toString()}`)
      process.stdout.write(await answer.text())
      return
    }
    case 'expire':
      return print(await json('enrollment', 'POST', `/registrations/${needed(first, 'registration')}/expire`))
    case 'refund': {
      const amount = second === undefined ? {} : { amount: cents(second) }
      const of = needed(first, 'registration or receipt')
      return print(
        await json('billing', 'POST', '/refunds', {
          ...(of.startsWith('RK-') ? { receiptNumber: of } : { registrationId: of }),
          refundId: randomUUID(),
          ...amount,
        }),
      )
    }
    case 'disputes':
      return print(await json('billing', 'GET', '/disputes'))
    case 'ledger':
      return ledger()
    case 'ship': {
      const shipment = { carrier: needed(second, 'carrier'), trackingNumber: needed(third, 'tracking number') }
      return print(await json('enrollment', 'POST', `/kits/${needed(first, 'registration')}/ship`, shipment))
    }
    case 'price':
      return print(
        await json('billing', 'POST', '/admin/prices', {
          sku: needed(first, 'SKU'),
          amount: cents(needed(second, 'amount')),
        }),
      )
    case 'mails': {
      const about = needed(first, 'registration or address')
      const query = new URLSearchParams({ [about.includes('@') ? 'email' : 'registrationId']: about })
      return print(await json('notifications', 'GET', `/mails?${query.toString()}`))
    }
    case 'resend':
      return print(await json('notifications', 'POST', `/mails/${needed(first, 'mail')}/resend`))
    case 'orders':
      return print(
        await json('billing', 'GET', `/orders${values.status === undefined ? '' : `?status=${values.status}`}`),
      )
    case 'ship-order':
      return print(
        await json(
          'billing',
          'POST',
          `/orders/${needed(first, 'order')}/shipment`,
          second === undefined ? {} : { trackingNumber: second },
        ),
      )
    case 'product':
      return print(
        await json('billing', 'POST', '/admin/products', {
          sku: needed(first, 'SKU'),
          state: needed(second, 'state'),
        }),
      )
    case 'reset-mfa':
      return resetMfaCommand(needed(first, 'address or user name'))
    case 'dead-letters':
      return deadLetterCommand(first, second, values.all)
    default:
      throw new Refused(usage)
  }
}

try {
  await main()
} catch (error) {
  if (error instanceof Refused) console.error(error.message)
  // An option that there is not.
  else if (error instanceof TypeError) console.error(`${error.message}\n\n${usage}`)
  else throw error
  process.exit(1)
}
