import { randomUUIDv7 } from 'node:crypto'
import { membershipPlans } from '@robokids/contracts/auth'
import { classSku, membershipSku } from '@robokids/contracts/billing'
import { openingClassPrices, openingMembershipPrices, openingProducts } from '@robokids/contracts/opening-prices'
import { eventually } from '../src/bed.ts'
import { startParts, ControlledSystem } from '../src/controlled-system.ts'
import { EventLedger } from './event-ledger.ts'
import { Walk } from './walk.ts'

/** Limits of unpaid seats. */
export const unpaidLimits = { family: 10, network: 10 }

/** The real system that walks run in, one after the other, with its controls. */
export class World extends ControlledSystem {
  readonly events: EventLedger
  /** Rules whose violations are ignored. */
  ignored: ReadonlySet<string> = new Set()
  /** Count and total duration of each operation. */
  readonly timings = new Map<string, { times: number; ms: number }>()
  #walks = 0
  #pricesChanged = false

  private constructor(parts: Awaited<ReturnType<typeof startParts>>) {
    super(parts)
    this.events = new EventLedger((service) => this.system.sql(service))
  }

  static async start(postgresUrl: string): Promise<World> {
    const settings = {
      CONSUMER_RETRY_DELAYS: '20,50,100,200,400,800,1600',
      CONSUMER_ACK_WAIT_MS: '1500',
      // As in production, behind a proxy that forwards each family's address.
      UNPAID_SEATS_PER_FAMILY: String(unpaidLimits.family),
      UNPAID_SEATS_PER_NETWORK: String(unpaidLimits.network),
      TRUST_PROXY: 'loopback',
    }
    const world = new World(await startParts('walk', settings, postgresUrl))
    await world.disableAutomaticBankEvents()
    return world
  }

  /** Returns the newest code to an address once there are more than `before`. */
  async codeTo(destination: string, before: number): Promise<string | undefined> {
    const newer = () => (this.codesTo(destination) > before ? this.codesOf(destination).at(-1) : undefined)
    return eventually(newer, 3_000).catch(() => undefined)
  }

  /** Runs `work` and records its duration. */
  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      return await work()
    } finally {
      const { times, ms } = this.timings.get(name) ?? { times: 0, ms: 0 }
      this.timings.set(name, { times: times + 1, ms: ms + performance.now() - begun })
    }
  }

  /** Starts a new walk with everything restored: other families, other class dates. */
  async begin(): Promise<Walk> {
    await this.restore()
    if (this.#pricesChanged) await this.#resetPrices()
    await this.#endMemberships()
    await this.setPolicy(50, 2)
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

  /** The share of what was paid that a cancellation gives back from now on, and the number of moves that each child has. */
  async setPolicy(percent: number, freeMoves: number): Promise<void> {
    const sql = this.system.sql('enrollment')
    await sql`
      insert into change_policies (valid_from, refunds, free_moves, move_days)
      values (clock_timestamp(), ${sql.json([{ days: 1, percent }])}, ${freeMoves}, 7)`
  }

  /** Memberships of earlier walks would be renewed whenever the clock moves. */
  async #endMemberships(): Promise<void> {
    for (const { id, status } of this.system.provider.subscriptions.values())
      if (status !== 'canceled') await this.atProvider('DELETE', `/v1/subscriptions/${id}`)
  }

  /** Waits until a process has completed a job. */
  async jobDone(url: string, job: string): Promise<void> {
    await eventually(async () => (await jobRuns(url, job)).done > 0)
  }

  async #resetPrices(): Promise<void> {
    for (const [sku, amount] of openingPrices) await this.operate('billing', 'POST', '/admin/prices', { sku, amount })
    for (const [sku, state] of openingStates) await this.operate('billing', 'POST', '/admin/products', { sku, state })
    this.#pricesChanged = false
  }

  /** Notes that prices or products have changed, so that the next walk resets them. */
  pricesChanged(): void {
    this.#pricesChanged = true
  }
}

const openingPrices = [
  ...Object.entries(openingClassPrices).map(([classType, amount]) => [classSku(classType), amount] as const),
  ...membershipPlans.map((plan) => [membershipSku(plan), openingMembershipPrices[plan]] as const),
  ...Object.entries(openingProducts).map(([sku, { amount }]) => [sku, amount] as const),
]
const openingStates = Object.entries(openingProducts).map(([sku, { state }]) => [sku, state] as const)

/** Returns how often a process has run a job since its start. */
export async function jobRuns(url: string, job: string): Promise<{ done: number; failed: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const count = (outcome: string) =>
    Number(new RegExp(`^job_runs_total{name="${job}",outcome="${outcome}"[^}]*} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return { done: count('done'), failed: count('failed') }
}
