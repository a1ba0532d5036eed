import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { reconciliationSchema } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { addresses, askEach, identify, json, Refused, request, secretFor } from './operated-system.ts'
import { resealedSchema } from '@robokids/runtime/reseal'
import type * as Accounts from './reset-mfa.ts'
import { consumingServices, owningServices, sealingServices, urlSetting, type ServiceName } from './services.ts'
import { z } from 'zod'

const usage = `npm run admin -- <command>

  registrations [--email a@b.c] [--status held] [--csv]   who is registered, newest first: all of them,
                [--limit 100] [--cursor …]                or that many, after the nextCursor of the ones before
                [--output FILE]                           into a file instead of onto the screen
  expire <registrationId>                                 let an unpaid hold go now
  refund <registrationId|orderId|receipt> [cents]         give a payment back, whole or in part: refund RK-000012 500
  refund --payment ID [cents]                             the same for any payment, one that was not owed as well
  refunds [--status failed]                               what went back, is on its way or failed, newest first, with the
                                                          payment of each and what is left of that
  disputes                                                payments that are disputed with the bank, newest first
  ledger                                                  hold the ledger against the payment provider's list
  ship <registrationId> <carrier> <tracking number>       a kit is on its way
  price <sku> <cents>                                     set a price from now on: price class:basic 42000
  mails <registrationId|address>                          what was mailed, and what was not, with its reason
  resend <mailId>                                         send a mail once more, or one that was dropped
  orders [--status paid]                                  what was bought in the shop, newest first
  ship-order <orderId> [tracking number]                  a parcel is on its way
  product <sku> <state>                                   what can be done about it: product product:ai-teddy-bear pre_order
  account <address|user name>                             whose it is, whether it is open, and its second steps
  sign-out <address|user name>                            log it out everywhere, and trust none of its browsers any more
  disable-account <address|user name>                     shut it, and log it out everywhere
  enable-account <address|user name>                      open it again
  delete-account <address|user name>                      for good; its membership is not renewed any more
  reset-mfa <address|user name>                           turn a lost second step off, once you know who asks: see
                                                          services/identity/README.md
  reseal                                                  what older sealing keys sealed is sealed under the newest, so
                                                          that these can be taken out: services/identity/README.md
  waiting                                                 events to be published and dead letters by service, and events
                                                          that the broker refuses
  republish <service> <from> [to]                         have its events of that time published again, refused ones too:
                                                          republish billing 2026-11-28T17:00:00Z
  prune-streams                                           remove from the broker the subjects that this version does not
                                                          know, once no process of a newer one runs
  dead-letters [--all]                                    events that could not be handled, in every service
  dead-letters show <id>
  dead-letters replay <id>|all                            hand them to their handlers again

Each says first, on the error output, which system it is for. Without settings that is the one that npm start runs in this
folder; another is told by ${owningServices.map(urlSetting).join(', ')}, SITE_URL and ADMIN_SECRET, for accounts
by IDENTITY_POOL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as well. What changes something wants its name in SYSTEM_NAME.
In docker-compose: docker-compose run --rm admin <command>`

function print(value: unknown): void {
  console.log(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

/** Writes a file in whole or not at all, for its owner's eyes: it is full of families. @throws Refused */
async function save(file: string, content: Readable): Promise<void> {
  // npm runs this in the project's folder, wherever it was called.
  const path = resolve(process.env['INIT_CWD'] ?? '.', file)
  const part = `${path}.${randomUUID()}.part`
  try {
    await pipeline(content, createWriteStream(part, { mode: 0o600 }))
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw new Refused(`${path} was not written: ${(error as Error).message}`)
  }
  console.error(`Written to ${path}`)
}

interface DeadLetter {
  id: string
  handler: string
  error: string
  deliveries: number
  failedAt: string
  payload: string
}

async function deadLetters(
  services: readonly ServiceName[],
  all: boolean,
): Promise<(DeadLetter & { service: ServiceName })[]> {
  const lists = await askEach(services, async (service) => {
    const list = await json(service, 'GET', `/admin/dead-letters?all=${all}`)
    return (list as { deadLetters: DeadLetter[] }).deadLetters.map((letter) => ({ ...letter, service }))
  })
  return [...lists.values()].flat()
}

async function deadLetterCommand(action: string | undefined, id: string | undefined, all: boolean): Promise<void> {
  if (action !== undefined && action !== 'show' && action !== 'replay') throw new Refused(usage)
  const services = await identify(consumingServices, { changes: action === 'replay' })
  const letters = await deadLetters(services, all || action === 'show')
  if (action === undefined) {
    // Where a service did not answer, nobody knows.
    if (letters.length === 0 && process.exitCode === undefined) print('No dead letters.')
    for (const letter of letters)
      print(`${letter.id}  ${letter.failedAt}  ${letter.handler}  ${letter.error.split('\n')[0]}`)
    return
  }
  const chosen = id === 'all' ? letters : letters.filter((letter) => letter.id === id)
  if (chosen.length === 0) throw new Refused(id === 'all' ? 'No dead letters.' : `There is no dead letter ${id ?? ''}.`)
  for (const letter of chosen) {
    if (action === 'show') print(letter)
    else {
      await request(letter.service, 'POST', `/admin/dead-letters/${letter.id}/replay`)
      print(`${letter.id} replayed by ${letter.handler}`)
    }
  }
}

const outboxSchema = z.object({
  pending: z.int(),
  oldestSeconds: z.number(),
  setAside: z.int(),
  refused: z.array(z.object({ id: z.string(), type: z.string(), error: z.string() })),
})

/** Prints how much waits in each service and for how long, and what the broker refuses. */
async function waitingCommand(): Promise<void> {
  const services = await identify(owningServices)
  const outboxes = await askEach(services, async (service) =>
    outboxSchema.parse(await json(service, 'GET', '/admin/outbox')),
  )
  const letters = await deadLetters(
    services.filter((service) => outboxes.has(service)),
    false,
  )
  const line = (...cells: unknown[]) =>
    print(
      cells
        .map((cell) => String(cell).padEnd(16))
        .join('')
        .trimEnd(),
    )
  line('', 'to be published', 'for seconds', 'set aside', 'dead letters')
  for (const [service, { pending, oldestSeconds, setAside }] of outboxes) {
    const dead = letters.filter((letter) => letter.service === service).length
    line(service, pending, Math.round(oldestSeconds), setAside, dead)
  }
  for (const [service, { refused }] of outboxes)
    for (const { id, type, error } of refused) print(`${service}: ${type} ${id} is refused: ${error}`)
}

/** Brings what services keep sealed under their newest keys, and says whether the older ones are needed still. */
async function resealCommand(): Promise<void> {
  const services = await identify(sealingServices, { changes: true })
  const outcomes = await askEach(services, async (service) => {
    for (let resealed = 0; ;) {
      const turn = resealedSchema.parse(await json(service, 'POST', '/admin/reseal'))
      resealed += turn.resealed
      if (turn.left === 0 || turn.resealed === 0) return { ...turn, resealed }
    }
  })
  for (const [service, { resealed, left, unreadable }] of outcomes) {
    const done = `${service}: ${resealed} sealed anew`
    if (left === 0) print(`${done}. Nothing is under an older key: these can be taken out.`)
    else print(`${done}, ${left} are under older keys still, of which none that is here opens ${unreadable}.`)
    if (left > 0) process.exitCode = 1
  }
}

const moment = z.iso.datetime({ offset: true })

/** Has a service publish again what happened in a range of time. */
async function republishCommand(service: string | undefined, from: string | undefined, to: string | undefined) {
  const of = owningServices.find((one) => one === service)
  if (of === undefined) throw new Refused(`Which service of ${owningServices.join(', ')}?\n\n${usage}`)
  for (const time of [needed(from, 'moment'), to])
    if (time !== undefined && !moment.safeParse(time).success)
      throw new Refused(`A moment is like 2026-11-28T17:00:00Z, not "${time}".`)
  await identify([of], { changes: true })
  print(await json(of, 'POST', '/admin/outbox/republish', { from, to }))
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
    const page = (await json('bff', 'GET', `/api/getAllRegistrations?${asked.toString()}`)) as RegistrationPage
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

/** A command about one account, at identity's door for administrators. */
function accountCommand(
  act: (accounts: typeof Accounts, name: string, desk: Accounts.Desk) => Promise<unknown>,
  { changes = true } = {},
): Command {
  return {
    of: 'identity',
    changes,
    async run([given]) {
      const name = needed(given, 'address or user name')
      const accounts = await import('./reset-mfa.ts')
      const desk = {
        url: addresses.identity,
        pool: process.env['IDENTITY_POOL'] ?? 'us-west-1_RoboKids',
        accessKeyId: secretFor('identity', 'AWS_ACCESS_KEY_ID', 'local'),
        secretAccessKey: secretFor('identity', 'AWS_SECRET_ACCESS_KEY', 'local'),
      }
      const told = await act(accounts, name, desk).catch((error: unknown) => {
        throw new Refused((error as Error).message)
      })
      print(told)
    },
  }
}

const forgottenBrowsers = (count: number) =>
  count === 1 ? '1 browser is forgotten' : `${count} browsers are forgotten`

interface Options {
  email?: string | undefined
  status?: string | undefined
  payment?: string | undefined
  csv: boolean
  limit?: string | undefined
  cursor?: string | undefined
  output?: string | undefined
}

async function registrationsCommand({ csv, output, ...filter }: Options): Promise<void> {
  // npm begins what it runs with two lines of its own, which would be the file's first.
  if (csv && output === undefined && process.env['npm_lifecycle_event'] === 'admin' && !process.stdout.isTTY)
    if (process.env['npm_config_loglevel'] !== 'silent')
      throw new Refused('npm writes lines of its own in front of a CSV: use --output FILE, or npm run --silent admin.')
  const { email, status, limit, cursor } = filter
  const query = new URLSearchParams({ format: csv ? 'csv' : 'json' })
  for (const [name, value] of Object.entries({ email, status, limit, cursor }))
    if (value !== undefined) query.set(name, value)
  if (!csv) {
    const page = await registrations(query)
    return output === undefined ? print(page) : save(output, Readable.from([`${JSON.stringify(page, null, 2)}\n`]))
  }
  const answer = await request('bff', 'GET', `/api/getAllRegistrations?${query.toString()}`)
  const rows = Readable.from(answer.body ?? [])
  if (output !== undefined) return save(output, rows)
  await pipeline(rows, process.stdout, { end: false }).catch((error: unknown) => {
    throw new Refused(`The list broke off: ${(error as Error).message}`)
  })
}

interface Command {
  /** The process that it asks. */
  of: ServiceName
  changes?: boolean
  run(args: (string | undefined)[], options: Options): Promise<void>
}

/** A part of a path that somebody typed. */
const segment = (value: string | undefined, what: string) => encodeURIComponent(needed(value, what))

const commands: Record<string, Command> = {
  registrations: { of: 'bff', run: (_, options) => registrationsCommand(options) },
  expire: {
    of: 'enrollment',
    changes: true,
    run: async ([id]) =>
      print(await json('enrollment', 'POST', `/registrations/${segment(id, 'registration')}/expire`)),
  },
  refund: {
    of: 'billing',
    changes: true,
    async run(words, { payment }) {
      const [whose, amount] = payment === undefined ? words : [payment, ...words]
      if (payment !== undefined && words.length > 1) throw new Refused(`refund --payment does not take ${words[1]}.`)
      const of = needed(whose, 'registration, order, receipt or payment')
      const refund = {
        ...(payment !== undefined
          ? { paymentId: of }
          : of.startsWith('RK-')
            ? { receiptNumber: of }
            : { registrationId: of }),
        refundId: randomUUID(),
        ...(amount === undefined ? {} : { amount: cents(amount) }),
      }
      print(await json('billing', 'POST', '/refunds', refund))
    },
  },
  refunds: {
    of: 'billing',
    async run(_, { status }) {
      const query = new URLSearchParams(status === undefined ? {} : { status })
      print(await json('billing', 'GET', `/refunds?${query.toString()}`))
    },
  },
  disputes: { of: 'billing', run: async () => print(await json('billing', 'GET', '/disputes')) },
  ledger: { of: 'billing', run: () => ledger() },
  ship: {
    of: 'enrollment',
    changes: true,
    async run([id, carrier, number]) {
      const shipment = { carrier: needed(carrier, 'carrier'), trackingNumber: needed(number, 'tracking number') }
      print(await json('enrollment', 'POST', `/kits/${segment(id, 'registration')}/ship`, shipment))
    },
  },
  price: {
    of: 'billing',
    changes: true,
    async run([sku, amount]) {
      const price = { sku: needed(sku, 'SKU'), amount: cents(needed(amount, 'amount')) }
      print(await json('billing', 'POST', '/admin/prices', price))
    },
  },
  mails: {
    of: 'notifications',
    async run([whose]) {
      const about = needed(whose, 'registration or address')
      const query = new URLSearchParams({ [about.includes('@') ? 'email' : 'registrationId']: about })
      print(await json('notifications', 'GET', `/mails?${query.toString()}`))
    },
  },
  resend: {
    of: 'notifications',
    changes: true,
    run: async ([id]) => print(await json('notifications', 'POST', `/mails/${segment(id, 'mail')}/resend`)),
  },
  orders: {
    of: 'billing',
    async run(_, { status }) {
      const query = new URLSearchParams(status === undefined ? {} : { status })
      print(await json('billing', 'GET', `/orders?${query.toString()}`))
    },
  },
  'ship-order': {
    of: 'billing',
    changes: true,
    async run([id, trackingNumber]) {
      const shipment = trackingNumber === undefined ? {} : { trackingNumber }
      print(await json('billing', 'POST', `/orders/${segment(id, 'order')}/shipment`, shipment))
    },
  },
  product: {
    of: 'billing',
    changes: true,
    async run([sku, state]) {
      const product = { sku: needed(sku, 'SKU'), state: needed(state, 'state') }
      print(await json('billing', 'POST', '/admin/products', product))
    },
  },
  'prune-streams': {
    of: 'enrollment',
    changes: true,
    run: async () => print(await json('enrollment', 'POST', '/admin/streams/prune')),
  },
  account: accountCommand((accounts, name, desk) => accounts.readAccount(name, desk), { changes: false }),
  'sign-out': accountCommand(async (accounts, name, desk) => {
    const forgotten = await accounts.signOutEverywhere(name, desk)
    return `${name} is signed out everywhere, and ${forgottenBrowsers(forgotten)}.`
  }),
  'disable-account': accountCommand(async (accounts, name, desk) => {
    await accounts.administer(desk, 'AdminDisableUser', { Username: name })
    return `${name} is disabled, and signed out everywhere. enable-account opens it again.`
  }),
  'enable-account': accountCommand(async (accounts, name, desk) => {
    await accounts.administer(desk, 'AdminEnableUser', { Username: name })
    return `${name} can log in again.`
  }),
  'delete-account': accountCommand(async (accounts, name, desk) => {
    await accounts.administer(desk, 'AdminDeleteUser', { Username: name })
    return `${name} is deleted for good, and its owner is mailed.`
  }),
  'reset-mfa': accountCommand(async (accounts, name, desk) => {
    const forgotten = await accounts.resetMfa(name, desk)
    return `Two-step login of ${name} is off, ${forgottenBrowsers(forgotten)}, and all are signed out.`
  }),
}

/** How many words each command takes, and which options: what it would leave out of account is refused, not ignored. */
const accepted: Record<string, { words: number; options?: string[] }> = {
  registrations: { words: 0, options: ['email', 'status', 'csv', 'limit', 'cursor', 'output'] },
  expire: { words: 1 },
  refund: { words: 2, options: ['payment'] },
  refunds: { words: 0, options: ['status'] },
  disputes: { words: 0 },
  ledger: { words: 0 },
  ship: { words: 3 },
  price: { words: 2 },
  mails: { words: 1 },
  resend: { words: 1 },
  orders: { words: 0, options: ['status'] },
  'ship-order': { words: 2 },
  product: { words: 2 },
  'prune-streams': { words: 0 },
  account: { words: 1 },
  'sign-out': { words: 1 },
  'disable-account': { words: 1 },
  'enable-account': { words: 1 },
  'delete-account': { words: 1 },
  'reset-mfa': { words: 1 },
  reseal: { words: 0 },
  waiting: { words: 0 },
  republish: { words: 3 },
  'dead-letters': { words: 2, options: ['all'] },
}

function refuseSurplus(name: string, args: string[], given: string[]): void {
  const { words, options = [] } = accepted[name] ?? { words: 0 }
  const surplus = [
    ...args.slice(words),
    ...given.filter((option) => !options.includes(option)).map((option) => `--${option}`),
  ]
  if (surplus.length > 0)
    throw new Refused(`${name} does not take ${surplus.join(' ')}. A value with spaces wants quotes.`)
}

async function main(): Promise<void> {
  const { values, positionals, tokens } = parseArgs({
    allowPositionals: true,
    tokens: true,
    options: {
      email: { type: 'string' },
      status: { type: 'string' },
      payment: { type: 'string' },
      csv: { type: 'boolean', default: false },
      limit: { type: 'string' },
      cursor: { type: 'string' },
      output: { type: 'string' },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [name, ...args] = positionals
  if (name === undefined || values.help) return print(usage)
  if (!Object.hasOwn(accepted, name)) throw new Refused(`There is no command ${name}.\n\n${usage}`)
  refuseSurplus(
    name,
    args,
    tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
  )
  if (name === 'waiting') return waitingCommand()
  if (name === 'reseal') return resealCommand()
  if (name === 'republish') return republishCommand(args[0], args[1], args[2])
  if (name === 'dead-letters') return deadLetterCommand(args[0], args[1], values.all)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new Refused(usage)
  await identify([command.of], command)
  await command.run(args, values)
}

try {
  await main()
} catch (error) {
  if (error instanceof Refused) console.error(error.message)
  // An option that there is not.
  else if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS'))
    console.error(`${(error as Error).message}\n\n${usage}`)
  else throw error
  process.exitCode = 1
}
