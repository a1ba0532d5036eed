import { randomUUIDv7 } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  classesViewSchema,
  registerResponseSchema,
  registrationViewSchema,
  type RegisterBody,
  type RegistrationView,
} from '@robokids/contracts/bff'
import { startMailbox } from '@robokids/local/mailbox'
import { fetchProven } from '@robokids/local/prove'
import { freePort, until, type LocalServer } from '@robokids/local/processes'
import {
  owningServices,
  perService,
  portSetting,
  webhookSecret,
  type OwningService,
  type ServiceName,
} from '@robokids/local/services'
import { readSettings, root, serviceEnvironment } from '@robokids/local/settings'
import postgres from 'postgres'
import { inject } from 'vitest'
import { createSmsCatcher, type TextMessage } from '../../deploy/sms-catcher/src/app.ts'
import { createSimulator, type Simulator } from '../../deploy/stripe-simulator/src/app.ts'
import { Store } from '../../deploy/stripe-simulator/src/store/store.ts'
import { eventually } from './bed.ts'
import { browserCookie } from './browser.ts'
import { migratedDatabase } from './databases.ts'
import './global-setup.ts'
import { testNats, throwIfRefused, type TestNats } from './infrastructure.ts'
import { sampleFamily } from './samples.ts'

/** A service process, which can be killed like a crash. */
export interface ServiceProcess {
  url: string
  /** @param source the folder of the code that it runs from now on: that of another release, or by default the same as last */
  start(source?: string): Promise<void>
  /** SIGKILL */
  kill(): Promise<void>
  /** SIGTERM: a graceful stop. */
  stop(): Promise<void>
  /** Whether it was started, not stopped, and has not exited by itself. */
  isRunning(): boolean
  /** Its output so far. */
  output(): string
}

export interface Mail {
  id: string
  subject: string
  to: { address: string; name: string }[]
  text: string
  html: string
  attachments?: { generatedFileName: string; contentType: string }[]
}

/** The whole system in separate processes, with a payment simulator and a mailbox. */
export interface System {
  siteUrl: string
  simulator: Simulator
  /** The simulator's state, read-only. */
  provider: Store
  nats: TestNats
  mailbox: LocalServer
  /** The mailbox's SMTP port. */
  smtpPort: number
  processes: Record<ServiceName, ServiceProcess>
  databaseUrls: Record<OwningService, string>
  /** Starts a second process of a service, with the same database and another port, and maybe with the code of another release. */
  another(service: ServiceName, env?: Record<string, string>, source?: string): Promise<ServiceProcess>
  /** A small connection pool to a service's database, to hold locks and inspect rows. */
  sql(service: OwningService): postgres.Sql
  /** Wakes a job of a service, which sleeps until the time of the next row that it has read. */
  wake(service: OwningService, job: string): Promise<void>
  /** Closes these connections: the next use opens others. */
  disconnect(): Promise<void>
  /** Sends a request, always from the same browser. */
  post(path: string, body: unknown, siteUrl?: string): Promise<{ status: number; body: unknown }>
  /** Registers a family: a new one per call, unless an id is given. */
  register(differences?: Partial<RegisterBody>): Promise<{ registrationId: string; checkoutUrl: string }>
  /** Pays a checkout on the simulator's page. */
  pay(checkoutUrl: string, card?: string): Promise<{ status: string; message?: string | null }>
  /** Totals at the payment provider so far. */
  atProvider(): Promise<{ sessions: number; charges: number; refunds: number }>
  state(registrationId: string): Promise<RegistrationView>
  /** Waits until a registration has a status. */
  reaches(registrationId: string, status: RegistrationView['status'], timeoutMs?: number): Promise<RegistrationView>
  /** Mails received for an address. */
  mailsTo(address: string): Promise<Mail[]>
  /** Text messages received for a phone number, oldest first. */
  textsTo(number: string): Promise<TextMessage[]>
  /** Open dates of a level, soonest first. */
  openDates(classType?: string): Promise<{ date: string; seatsLeft: number }[]>
  stop(): Promise<void>
}

function serviceProcess(name: ServiceName, env: Record<string, string>, firstSource = root): ServiceProcess {
  const url = `http://127.0.0.1:${env['PORT']}`
  let source = firstSource
  let child: ChildProcess | undefined
  let printed = ''
  async function end(signal: NodeJS.Signals) {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = once(ending, 'exit')
    ending.kill(signal)
    await exited
  }
  return {
    url,
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    output: () => printed,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    async start(from = source) {
      source = from
      const program = join(source, name === 'bff' ? 'bff' : `services/${name}`, 'src/main.ts')
      const started = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      const keep = (chunk: Buffer) => {
        printed += chunk.toString()
      }
      started.stdout.on('data', keep)
      started.stderr.on('data', keep)
      const ready = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true
      await until(ready, name, { process: started, output: () => printed }, 180_000)
    },
  }
}

/**
 * Starts the system.
 * @param settings extra environment by service name, or for all under `all`. Identity is started only if it has an
 * entry.
 * @param postgresUrl the server for its databases; by default, the test run's
 * @param source the folder of the code that its processes run; its databases have this release's tables in any case
 */
export async function startSystem(
  settings: Partial<Record<ServiceName | 'all', Record<string, string>>> = {},
  postgresUrl: string = inject('postgresUrl'),
  source: string = root,
): Promise<System> {
  const dataDir = await mkdtemp(join(tmpdir(), 'robokids-system-'))
  const names = [
    'PORT',
    ...owningServices.map(portSetting),
    'STRIPE_SIMULATOR_PORT',
    'MAILBOX_PORT',
    'SMTP_PORT',
    'SMS_PORT',
  ]
  const ports: Record<string, string> = {}
  for (const name of names) ports[name] = String(await freePort())
  const local = readSettings({ ...ports, DATA_DIR: dataDir, LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'warn' })

  const [nats, mailbox, smsCatcher] = await Promise.all([
    testNats(),
    startMailbox({ dataDir: join(dataDir, 'mail'), port: local.MAILBOX_PORT, smtpPort: local.SMTP_PORT }),
    createSmsCatcher({ port: local.SMS_PORT }),
  ])
  const tag = randomUUIDv7().replaceAll('-', '')
  const made = await Promise.all(
    owningServices.map(async (name) => {
      const migrations = join(root, 'services', name, 'migrations')
      return [name, await migratedDatabase(postgresUrl, `${name}_${tag}`, migrations)] as const
    }),
  )
  const databaseUrls = Object.fromEntries(made) as Record<OwningService, string>
  const siteUrl = `http://localhost:${local.PORT}`
  const provider = new Store()
  const simulator = await createSimulator(
    {
      port: local.STRIPE_SIMULATOR_PORT,
      webhooks: [{ url: `${siteUrl}/webhooks/stripe`, secret: webhookSecret }],
      retryDelaysMs: [100, 200, 400, 800, 1600, 3200, 6400],
      redirectWaitMs: 2_000,
    },
    provider,
  )

  const base = serviceEnvironment(local, nats.url, (name) => databaseUrls[name])
  const quick = {
    CONSUMER_RETRY_DELAYS: '50,100,200,400,800,1600,3200,6400',
    CONSUMER_ACK_WAIT_MS: '3000',
    WEB_DIST: '',
  }
  // All requests come from this machine, and many with the sample's address.
  const manySeats = { UNPAID_SEATS_PER_FAMILY: '1000000', UNPAID_SEATS_PER_NETWORK: '1000000' }
  const manyOrders = { UNPAID_ORDERS_PER_BUYER: '1000000', UNPAID_ORDERS_PER_NETWORK: '1000000' }
  const environment = (name: ServiceName, extra: Record<string, string> = {}) => ({
    ...base[name],
    ...quick,
    ...(name === 'enrollment' ? manySeats : {}),
    ...(name === 'billing' ? manyOrders : {}),
    ...(name === 'bff' ? { PROOF_DERIVATIONS: '1' } : {}),
    ...settings.all,
    ...settings[name],
    ...extra,
  })
  const processes = {
    ...perService((name) => serviceProcess(name, environment(name), source)),
    bff: serviceProcess('bff', environment('bff'), source),
  }

  const others: ServiceProcess[] = []
  const connections = new Map<string, postgres.Sql>()
  const headers = { 'content-type': 'application/json', 'x-api-key': 'robokids-web', origin: siteUrl }
  const cookie = browserCookie()

  const system: System = {
    siteUrl,
    simulator,
    provider,
    nats,
    mailbox,
    smtpPort: local.SMTP_PORT,
    processes,
    databaseUrls,
    async another(service, env = {}, from = source) {
      const second = serviceProcess(service, environment(service, { ...env, PORT: String(await freePort()) }), from)
      others.push(second)
      await second.start()
      return second
    },
    sql(service) {
      const known = connections.get(service)
      if (known) return known
      const connection = postgres(databaseUrls[service], { max: 4, onnotice: () => {} })
      connections.set(service, connection)
      return connection
    },
    async wake(service, job) {
      await this.sql(service)`select pg_notify('wake', ${job})`
    },
    async disconnect() {
      const open = [...connections.values()]
      connections.clear()
      await Promise.all(open.map((connection) => connection.end({ timeout: 1 })))
    },
    async post(path, body, site = siteUrl) {
      const init = { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify(body) }
      const answer = await fetchProven(site + path, init)
      return { status: answer.status, body: await answer.json() }
    },
    async register(differences = {}) {
      const startDate = differences.startDate ?? (await system.openDates(differences.classType))[0]?.date
      const body = {
        ...sampleFamily(),
        classType: 'basic',
        startDate,
        ...differences,
      }
      const answer = await system.post('/api/registrations', body)
      if (answer.status !== 200)
        throw new Error(`registration was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return registerResponseSchema.parse(answer.body)
    },
    async pay(checkoutUrl, card = '4242424242424242') {
      const sessionId = new URL(checkoutUrl).pathname.split('/').at(-1)
      const answer = await fetch(`${simulator.url}/_sim/checkout/${sessionId}/pay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ card }),
      })
      return (await answer.json()) as { status: string; message?: string | null }
    },
    async atProvider() {
      const state = (await (await fetch(`${simulator.url}/_sim/state`)).json()) as Record<string, { total: number }>
      const total = (kind: string) => state[kind]?.total ?? 0
      return { sessions: total('sessions'), charges: total('charges'), refunds: total('refunds') }
    },
    async state(registrationId) {
      const answer = await fetch(`${siteUrl}/api/registrations/${registrationId}`)
      return registrationViewSchema.parse(await answer.json())
    },
    reaches: (registrationId, status, timeoutMs) =>
      eventually(async () => {
        const view = await system.state(registrationId)
        if (view.status !== status)
          throw new Error(`${registrationId} is ${view.status}, not ${status}: ${JSON.stringify(view.checkout)}`)
        return view
      }, timeoutMs),
    async mailsTo(address) {
      const query = new URLSearchParams({ 'to.address': address })
      return (await (await fetch(`${mailbox.url}/email?${query}`)).json()) as Mail[]
    },
    async textsTo(number) {
      const answer = await fetch(`${smsCatcher.url}/messages`)
      const { messages } = (await answer.json()) as { messages: TextMessage[] }
      return messages.filter(({ to }) => to === number)
    },
    async openDates(classType = 'basic') {
      const view = classesViewSchema.parse(await (await fetch(`${siteUrl}/api/classes`)).json())
      return view.levels.find((level) => level.classType === classType)?.sessions ?? []
    },
    async stop() {
      await Promise.all([...connections.values()].map((connection) => connection.end({ timeout: 1 })))
      await Promise.all([...Object.values(processes), ...others].map((one) => one.stop()))
      await simulator.stop()
      await Promise.all([mailbox.stop(), smsCatcher.stop(), nats.stop()])
      await rm(dataDir, { recursive: true, force: true })
      throwIfRefused(nats)
    },
  }
  try {
    const needed = Object.entries(processes).filter(([name]) => name !== 'identity' || settings.identity !== undefined)
    await Promise.all(needed.map(([, one]) => one.start()))
  } catch (error) {
    await system.stop()
    throw error
  }
  return system
}
