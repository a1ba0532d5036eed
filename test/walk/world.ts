import { randomUUIDv7 } from 'node:crypto'
import { membershipPlans } from '@robokids/contracts/auth'
import { classSku, membershipSku } from '@robokids/contracts/billing'
import { openingClassPrices, openingMembershipPrices, openingProducts } from '@robokids/contracts/opening-prices'
import { codeIssued } from '@robokids/contracts/identity'
import type { EventOf } from '@robokids/contracts/event'
import { connectBus, type Bus } from '@robokids/runtime/bus'
import { localAdminSecret } from '@robokids/runtime/config'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { createLogger } from '@robokids/runtime/telemetry'
import { eventually } from '../src/bed.ts'
import { breakableProxy, type BreakableProxy } from '../src/breakable-proxy.ts'
import { startSystem, type System } from '../src/system.ts'
import type { Answer } from './browser.ts'
import { EventLedger } from './event-ledger.ts'
import type { Owning } from './services.ts'
import { Walk } from './walk.ts'

const sealer = sealingKeysSchema.parse(localSealingKeys)

/** The real system that walks go through, one after the other, and what can be done to it. */
export class World {
  readonly system: System
  readonly events: EventLedger
  /** Rules that are known to be broken. */
  ignored: ReadonlySet<string> = new Set()
  /** How often each operation was done, and for how many milliseconds in all. */
  readonly figures = new Map<string, { times: number; ms: number }>()
  readonly #bus: Bus
  readonly #mailServer: BreakableProxy
  readonly #codes = new Map<string, string[]>()
  #mailIsAway = false
  #walks = 0
  #pricesMoved = false

  private constructor(system: System, bus: Bus, mailServer: BreakableProxy) {
    this.system = system
    this.#bus = bus
    this.#mailServer = mailServer
    this.events = new EventLedger((service) => system.sql(service))
    bus.watch([codeIssued.type], (event) => this.#remember(event.data as Code))
  }

  static async start(postgresUrl: string): Promise<World> {
    const mailServer = await breakableProxy(0)
    const many = '1000000'
    const system = await startSystem(
      {
        all: { CONSUMER_RETRY_DELAYS: '20,50,100,200,400,800,1600', CONSUMER_ACK_WAIT_MS: '1500' },
        // Settling runs what these do now and then, as often as it takes.
        billing: { RECONCILE_EVERY_MS: '3600000' },
        identity: {
          ARGON2_MEMORY_KIB: '64',
          ARGON2_PASSES: '1',
          EVEN_ANSWER_MS: '2',
          ADDRESS_ATTEMPTS_A_MINUTE: many,
          ADDRESS_REQUESTS_AN_HOUR: many,
          CODES_AN_HOUR: many,
          ACCOUNT_CODES_AN_HOUR: many,
        },
        bff: { RATE_LIMIT_READS: many, RATE_LIMIT_WRITES: many },
        notifications: { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` },
      },
      postgresUrl,
    )
    mailServer.lead(system.smtpPort)
    const bus = await connectBus({
      url: system.nats.url,
      replicas: 1,
      name: 'walk',
      ackWaitMs: 30_000,
      log: createLogger('walk', 'silent'),
    })
    const world = new World(system, bus, mailServer)
    // Nothing is decided by real time: the bank answers, and disputes come, when a step says so.
    const never = 3650 * 24 * 3600
    await world.control('settings', { refundSettleSeconds: never, disputeAfterSeconds: never })
    return world
  }

  async stop(): Promise<void> {
    await this.#bus.close()
    await this.system.stop()
    await this.#mailServer.stop()
  }

  #remember({ destination, sealedCode, codeId }: Code): void {
    const code = sealer.open(sealedCode, `code:${codeId}`)?.toString() ?? ''
    const known = this.#codes.get(destination)
    if (known) known.push(code)
    else this.#codes.set(destination, [code])
  }

  /** How many codes an address was sent. */
  codesTo(destination: string): number {
    return this.#codes.get(destination)?.length ?? 0
  }

  /** The newest code to an address, once there are more than `before`. */
  async codeTo(destination: string, before: number): Promise<string | undefined> {
    const newer = () => (this.codesTo(destination) > before ? this.#codes.get(destination)?.at(-1) : undefined)
    return eventually(newer, 3_000).catch(() => undefined)
  }

  /** Does something, and notes how long it took. */
  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      return await work()
    } finally {
      const { times, ms } = this.figures.get(name) ?? { times: 0, ms: 0 }
      this.figures.set(name, { times: times + 1, ms: ms + performance.now() - begun })
    }
  }

  /** A new walk, in a world where everything is back to normal: other families, other class dates. */
  async begin(): Promise<Walk> {
    await this.restore()
    if (this.#pricesMoved) await this.#resetPrices()
    await this.#endMemberships()
    this.#walks += 1
    const first = Temporal.PlainDate.from('2031-01-01').add({ days: this.#walks * 2 })
    const dates = [first.toString(), first.add({ days: 1 }).toString()]
    const sql = this.system.sql('enrollment')
    for (const date of dates) {
      for (const [classType, capacity] of [
        ['basic', 3],
        ['custom', 4],
        ['membership', 2],
      ] as const)
        await sql`
          insert into class_sessions (id, season, class_type, date, start_time, duration_minutes, time_zone, starts_at, capacity)
          values (${randomUUIDv7()}, 'walk', ${classType}, ${date}, '16:00', 75, 'America/Los_Angeles',
            ${`${date}T23:00:00Z`}, ${capacity})`
    }
    await this.events.begin()
    return new Walk(this, `w${this.#walks}`, dates)
  }

  /** Everything that a step has ordered to be away is there again, and faults are forgotten. */
  async restore(): Promise<void> {
    await fetch(`${this.system.simulator.url}/_sim/faults`, { method: 'DELETE' })
    if (this.#mailIsAway) await this.mail('back')
    const dead = Object.values(this.system.processes).filter((one) => !one.isRunning())
    await Promise.all(dead.map((one) => one.start()))
    await this.control('webhooks/release')
  }

  async mail(is: 'away' | 'back'): Promise<void> {
    if (this.#mailIsAway === (is === 'away')) return
    this.#mailIsAway = is === 'away'
    await (is === 'away' ? this.#mailServer.refuse() : this.#mailServer.accept())
  }

  /** The simulator's control API. */
  async control(path: string, body: object = {}): Promise<Answer> {
    const answer = await fetch(`${this.system.simulator.url}/_sim/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  /** What somebody does in the provider's dashboard. */
  async atProvider(method: string, path: string, fields: Record<string, string> = {}): Promise<Answer> {
    const answer = await fetch(`${this.system.simulator.url}${path}`, {
      method,
      headers: {
        authorization: 'Bearer sk_test_dashboard',
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      ...(method === 'GET' ? {} : { body: new URLSearchParams(fields).toString() }),
    }).catch(() => undefined)
    // A fault that was ordered for the services may strike here as well.
    if (!answer) return { status: 0, body: {} }
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  async operate(service: Exclude<Owning, 'identity'>, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(this.system.processes[service].url + path, {
      method,
      headers: {
        'x-admin-secret': localAdminSecret,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(() => undefined)
    if (!answer) return { status: 0, body: {} }
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  /** Those of walks before would be renewed whenever the clock moves. */
  async #endMemberships(): Promise<void> {
    for (const { id, status } of this.system.provider.subscriptions.values())
      if (status !== 'canceled') await this.atProvider('DELETE', `/v1/subscriptions/${id}`)
  }

  /** Waits until a process has run a job. */
  async jobDone(url: string, job: string): Promise<void> {
    await eventually(async () => (await jobRuns(url, job)).done > 0)
  }

  async #resetPrices(): Promise<void> {
    for (const [sku, amount] of openingPrices) await this.operate('billing', 'POST', '/admin/prices', { sku, amount })
    for (const [sku, state] of openingStates) await this.operate('billing', 'POST', '/admin/products', { sku, state })
    this.#pricesMoved = false
  }

  /** Prices or products were changed: the next walk begins with those of the opening. */
  pricesMoved(): void {
    this.#pricesMoved = true
  }
}

type Code = EventOf<typeof codeIssued>['data']

const openingPrices = [
  ...Object.entries(openingClassPrices).map(([classType, amount]) => [classSku(classType), amount] as const),
  ...membershipPlans.map((plan) => [membershipSku(plan), openingMembershipPrices[plan]] as const),
  ...Object.entries(openingProducts).map(([sku, { amount }]) => [sku, amount] as const),
]
const openingStates = Object.entries(openingProducts).map(([sku, { state }]) => [sku, state] as const)

/** How often a process has run a job, since its start. */
export async function jobRuns(url: string, job: string): Promise<{ done: number; failed: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const count = (outcome: string) =>
    Number(new RegExp(`^job_runs_total{job="${job}",outcome="${outcome}"[^}]*} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return { done: count('done'), failed: count('failed') }
}
