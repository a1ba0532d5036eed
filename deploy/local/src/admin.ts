import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { reconciliationSchema } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { addresses, askEach, identify, json, OperatorError, request, secretFor } from './operated-system.ts'
import { resealedSchema } from '@robokids/runtime/reseal'
import type * as Accounts from './reset-mfa.ts'
import { consumingServices, owningServices, sealingServices, urlSetting, type ServiceName } from './services.ts'
import { z } from 'zod'

const usage = `npm run admin -- <command>

  registrations [--email a@b.c] [--status held] [--csv]   list registrations, newest first: all of them,
                [--limit 100] [--cursor …]                or that many, after a nextCursor
                [--output FILE]                           to a file instead of stdout
  expire <registrationId>                                 release an unpaid hold now
  refund <registrationId|orderId|receipt> [cents]         refund a payment, fully or partly: refund RK-000012 500
  refund --payment ID [cents]                             the same for any payment, by its id
  refunds [--status failed]                               completed, pending and failed refunds, newest first, with the
                                                          payment of each and its remaining amount
  disputes                                                disputed payments, newest first
  ledger                                                  compare the ledger with the payment provider's list
  ship <registrationId> <carrier> <tracking number>       mark a kit as shipped
  price <sku> <cents>                                     set a price: price class:basic 42000
  mails <registrationId|address>                          list mails, sent or not, with the reason
  resend <mailId>                                         send a mail again, or one that was dropped
  orders [--status paid]                                  list shop orders, newest first
  ship-order <orderId> [tracking number]                  mark an order as shipped
  product <sku> <state>                                   set a product's state: product product:ai-teddy-bear pre_order
  account <address|user name>                             show an account with its status and second factors
  sign-out <address|user name>                            sign it out everywhere, and forget its trusted browsers
  disable-account <address|user name>                     disable it, and sign it out everywhere
  enable-account <address|user name>                      enable it again
  delete-account <address|user name>                      delete it permanently; its membership is not renewed
  reset-mfa <address|user name>                           disable a lost second factor, after checking the person's
                                                          identity: services/identity/README.md
  reseal                                                  reseal everything under the newest sealing keys, so that
                                                          older ones can be removed: services/identity/README.md
  waiting                                                 unpublished events and dead letters by service, and events
                                                          that the broker refuses
  republish <service> <from> [to]                         republish its events of that time, refused ones too:
                                                          republish billing 2026-11-28T17:00:00Z
  streams                                                 the broker's streams, and how they differ from the settings
                                                          and the events of this version
  streams apply                                           remove these differences, once no process of a newer version
                                                          runs: with lower limits, the broker deletes events
  dead-letters [--all]                                    list events that could not be handled, of all services
  dead-letters show <id>
  dead-letters replay <id>|all                            handle them again

Each says first, on the error output, which system it is for. Without settings that is the one that npm start runs in this
folder; another is told by ${owningServices.map(urlSetting).join(', ')}, SITE_URL and ADMIN_SECRET, for accounts
by IDENTITY_POOL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as well, for streams by NATS_URL and NATS_PASSWORD, the operator's. What changes something wants its name in SYSTEM_NAME.
In docker-compose: docker-compose run --rm admin <command>`

function print(value: unknown): void {
  console.log(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

/**
 * Writes a file completely or not at all, readable only by its owner: it contains personal data.
 * @throws OperatorError
 */
async function save(file: string, content: Readable): Promise<void> {
  // npm runs scripts in the project's folder, wherever it is called.
  const path = resolve(process.env['INIT_CWD'] ?? '.', file)
  const part = `${path}.${randomUUID()}.part`
  try {
    await pipeline(content, createWriteStream(part, { mode: 0o600 }))
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw new OperatorError(`${path} was not written: ${(error as Error).message}`)
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
  if (action !== undefined && action !== 'show' && action !== 'replay') throw new OperatorError(usage)
  const services = await identify(consumingServices, { changes: action === 'replay' })
  const letters = await deadLetters(services, all || action === 'show')
  if (action === undefined) {
    // Unknown if a service did not answer.
    if (letters.length === 0 && process.exitCode === undefined) print('No dead letters.')
    for (const letter of letters)
      print(`${letter.id}  ${letter.failedAt}  ${letter.handler}  ${letter.error.split('\n')[0]}`)
    return
  }
  const chosen = id === 'all' ? letters : letters.filter((letter) => letter.id === id)
  if (chosen.length === 0)
    throw new OperatorError(id === 'all' ? 'No dead letters.' : `No dead letter ${id ?? ''} exists.`)
  for (const letter of chosen) {
    if (action === 'show') print(letter)
    else {
      await request(letter.service, 'POST', `/admin/dead-letters/${letter.id}/replay`)
      print(`${letter.id} replayed by ${letter.handler}`)
    }
  }
}

/** Shows the broker's streams, or changes them. */
async function streamsCommand(action: string | undefined): Promise<void> {
  if (action !== undefined && action !== 'apply') throw new OperatorError(usage)
  await identify(['enrollment'], { changes: action === 'apply' })
  const { changeStreams, readStreams } = await import('./operated-broker.ts')
  if (action === undefined) return print(await readStreams())
  const changed = await changeStreams()
  print(changed.length === 0 ? 'Nothing differs.' : changed.map((change) => `Changed: ${change}`).join('\n'))
}

const outboxSchema = z.object({
  pending: z.int(),
  oldestSeconds: z.number(),
  setAside: z.int(),
  refused: z.array(z.object({ id: z.string(), type: z.string(), error: z.string() })),
})

/** Prints the backlog of each service, and the events that the broker refuses. */
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
    const done = `${service}: ${resealed} resealed`
    if (left === 0) print(`${done}. Nothing is sealed under an older key: older keys can be removed.`)
    else print(`${done}, ${left} are still under older keys, ${unreadable} of them under unknown ones.`)
    if (left > 0) process.exitCode = 1
  }
}

const timestamp = z.iso.datetime({ offset: true })

/** Has a service republish the events of a time range. */
async function republishCommand(service: string | undefined, from: string | undefined, to: string | undefined) {
  const of = owningServices.find((one) => one === service)
  if (of === undefined) throw new OperatorError(`Which service of ${owningServices.join(', ')}?\n\n${usage}`)
  for (const time of [requiredArgument(from, 'time'), to])
    if (time !== undefined && !timestamp.safeParse(time).success)
      throw new OperatorError(`A time is like 2026-11-28T17:00:00Z, not "${time}".`)
  await identify([of], { changes: true })
  print(await json(of, 'POST', '/admin/outbox/republish', { from, to }))
}

interface RegistrationPage {
  registrations: unknown[]
  nextCursor: string | null
}

/** Returns one page if there is a limit, else all pages as one. */
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

function requiredArgument(value: string | undefined, what: string): string {
  if (value === undefined) throw new OperatorError(`Which ${what}?\n\n${usage}`)
  return value
}

function cents(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new OperatorError(`An amount is a whole number of cents, not "${text}".`)
  return Number(text)
}

const dollars = (amount: number) =>
  `${amount < 0 ? '−' : ''}${formatMoney({ amount: Math.abs(amount), currency: 'usd' })}`

/** Prints the ledger and the provider's list; disagreements and unexplained transactions set exit code 1. */
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

/** Creates a command that calls identity's administrator operations for one account. */
function accountCommand(
  act: (accounts: typeof Accounts, name: string, adminTarget: Accounts.AdminTarget) => Promise<unknown>,
  { changes = true } = {},
): Command {
  return {
    of: 'identity',
    changes,
    async run([given]) {
      const name = requiredArgument(given, 'address or user name')
      const accounts = await import('./reset-mfa.ts')
      const adminTarget = {
        url: addresses.identity,
        pool: process.env['IDENTITY_POOL'] ?? 'us-west-1_RoboKids',
        accessKeyId: secretFor('identity', 'AWS_ACCESS_KEY_ID', 'local'),
        secretAccessKey: secretFor('identity', 'AWS_SECRET_ACCESS_KEY', 'local'),
      }
      const result = await act(accounts, name, adminTarget).catch((error: unknown) => {
        throw new OperatorError((error as Error).message)
      })
      print(result)
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
  // npm prints two lines before the output, which would be the file's first.
  if (csv && output === undefined && process.env['npm_lifecycle_event'] === 'admin' && !process.stdout.isTTY)
    if (process.env['npm_config_loglevel'] !== 'silent')
      throw new OperatorError('npm prints lines before a CSV: use --output FILE, or npm run --silent admin.')
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
    throw new OperatorError(`The list was interrupted: ${(error as Error).message}`)
  })
}

interface Command {
  /** The process that it calls. */
  of: ServiceName
  changes?: boolean
  run(args: (string | undefined)[], options: Options): Promise<void>
}

/** Encodes an argument as a path segment. */
const segment = (value: string | undefined, what: string) => encodeURIComponent(requiredArgument(value, what))

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
      if (payment !== undefined && words.length > 1)
        throw new OperatorError(`refund --payment does not take ${words[1]}.`)
      const of = requiredArgument(whose, 'registration, order, receipt or payment')
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
      const shipment = {
        carrier: requiredArgument(carrier, 'carrier'),
        trackingNumber: requiredArgument(number, 'tracking number'),
      }
      print(await json('enrollment', 'POST', `/kits/${segment(id, 'registration')}/ship`, shipment))
    },
  },
  price: {
    of: 'billing',
    changes: true,
    async run([sku, amount]) {
      const price = { sku: requiredArgument(sku, 'SKU'), amount: cents(requiredArgument(amount, 'amount')) }
      print(await json('billing', 'POST', '/admin/prices', price))
    },
  },
  mails: {
    of: 'notifications',
    async run([whose]) {
      const about = requiredArgument(whose, 'registration or address')
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
      const product = { sku: requiredArgument(sku, 'SKU'), state: requiredArgument(state, 'state') }
      print(await json('billing', 'POST', '/admin/products', product))
    },
  },
  account: accountCommand((accounts, name, adminTarget) => accounts.readAccount(name, adminTarget), { changes: false }),
  'sign-out': accountCommand(async (accounts, name, adminTarget) => {
    const forgotten = await accounts.signOutEverywhere(name, adminTarget)
    return `${name} is signed out everywhere, and ${forgottenBrowsers(forgotten)}.`
  }),
  'disable-account': accountCommand(async (accounts, name, adminTarget) => {
    await accounts.administer(adminTarget, 'AdminDisableUser', { Username: name })
    return `${name} is disabled, and signed out everywhere. enable-account enables it again.`
  }),
  'enable-account': accountCommand(async (accounts, name, adminTarget) => {
    await accounts.administer(adminTarget, 'AdminEnableUser', { Username: name })
    return `${name} can log in again.`
  }),
  'delete-account': accountCommand(async (accounts, name, adminTarget) => {
    await accounts.administer(adminTarget, 'AdminDeleteUser', { Username: name })
    return `${name} is deleted permanently, and its owner is mailed.`
  }),
  'reset-mfa': accountCommand(async (accounts, name, adminTarget) => {
    const forgotten = await accounts.resetMfa(name, adminTarget)
    return `The second factors of ${name} are disabled, ${forgottenBrowsers(forgotten)}, and all are signed out.`
  }),
}

/** The number of arguments and the options of each command: surplus ones are rejected, not ignored. */
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
  streams: { words: 1 },
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

function rejectSurplus(name: string, args: string[], given: string[]): void {
  const { words, options = [] } = accepted[name] ?? { words: 0 }
  const surplus = [
    ...args.slice(words),
    ...given.filter((option) => !options.includes(option)).map((option) => `--${option}`),
  ]
  if (surplus.length > 0)
    throw new OperatorError(`${name} does not take ${surplus.join(' ')}. Quote values with spaces.`)
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
  if (!Object.hasOwn(accepted, name)) throw new OperatorError(`Unknown command ${name}.\n\n${usage}`)
  rejectSurplus(
    name,
    args,
    tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
  )
  if (name === 'waiting') return waitingCommand()
  if (name === 'reseal') return resealCommand()
  if (name === 'streams') return streamsCommand(args[0])
  if (name === 'republish') return republishCommand(args[0], args[1], args[2])
  if (name === 'dead-letters') return deadLetterCommand(args[0], args[1], values.all)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new OperatorError(usage)
  await identify([command.of], command)
  await command.run(args, values)
}

try {
  await main()
} catch (error) {
  if (error instanceof OperatorError) console.error(error.message)
  // An unknown option.
  else if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS'))
    console.error(`${(error as Error).message}\n\n${usage}`)
  else throw error
  process.exitCode = 1
}
