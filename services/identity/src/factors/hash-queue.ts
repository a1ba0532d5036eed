import { MinuteLog } from '@robokids/runtime/minute-log'
import type { Context } from '@robokids/runtime/service'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import { busy } from '../protocol/errors.ts'

/** A request's slot in the queue of password hashes. */
export interface HashSlot {
  /**
   * The account that the caller is known to or has proven to own: such requests come before those of unknown callers.
   */
  account?: string
  /**
   * Runs the slow work on one password when it is next in the queue.
   * @throws IdentityError ServiceUnavailable if the queue is too long. The first decision holds for the whole request:
   * an admitted request stays admitted, a rejected one has been answered.
   */
  hash<T>(work: () => Promise<T>): Promise<T>
}

interface Waiting {
  isCancelled(): boolean
  begin(): void
  drop(): void
}

/** Estimated duration until the first measurement: rather too slow than too fast. */
const initialEstimateMs = 50
/** Weight of the latest measurement in the moving average. */
const averageWeight = 0.1
/** Anybody can create an account, so each gets only this many priority slots at once. */
const maxPriorityPerAccount = 4

/**
 * Hashing takes memory and a core, so concurrency is limited and further requests are queued. Anybody can cause it, so
 * the queue is bounded: by measured durations, it is worked off within HASH_LINE_MS, and further requests are rejected
 * at once. Callers known to the account come first, so that a flood from elsewhere does not delay the owner. Requests
 * whose client has disconnected are skipped, so the queue ends with the flood.
 */
export class HashQueue {
  readonly #concurrency: number
  readonly #maxWaitMs: number
  readonly #outcomes: Counter<'outcome'>
  readonly #rejectionLog: MinuteLog
  readonly #known: Waiting[] = []
  readonly #strangers: Waiting[] = []
  /** Priority slots in use, by account. */
  readonly #priorityCounts = new Map<string, number>()
  #running = 0
  #averageMs: number | undefined

  constructor({ config, log, metrics }: Context<Config>) {
    this.#concurrency = config.HASHES_AT_ONCE
    this.#maxWaitMs = config.HASH_LINE_MS
    this.#rejectionLog = new MinuteLog(log, 'too many passwords to hash')
    this.#outcomes = new Counter({
      name: 'password_hashes_total',
      help: 'Password hash requests by outcome (done, refused because the queue was too long, gone because the client had disconnected)',
      labelNames: ['outcome'],
      registers: [metrics.registry],
    })
    for (const outcome of ['done', 'refused', 'gone']) this.#outcomes.inc({ outcome }, 0)
  }

  /** @param isCancelled whether the client has disconnected */
  slot(isCancelled: () => boolean): HashSlot {
    let isAdmitted: boolean | undefined
    const slot: HashSlot = {
      hash: async (work) => {
        const { account } = slot
        const used = account === undefined ? 0 : (this.#priorityCounts.get(account) ?? 0)
        const hasPriority = account !== undefined && used < maxPriorityPerAccount
        isAdmitted ??= this.#waitMs(hasPriority) <= this.#maxWaitMs
        if (!isAdmitted) {
          this.#outcomes.inc({ outcome: 'refused' })
          this.#rejectionLog.record()
          throw busy()
        }
        if (!hasPriority) return this.#take(this.#strangers, isCancelled, work)
        this.#priorityCounts.set(account, used + 1)
        try {
          return await this.#take(this.#known, isCancelled, work)
        } finally {
          const left = (this.#priorityCounts.get(account) ?? 1) - 1
          if (left > 0) this.#priorityCounts.set(account, left)
          else this.#priorityCounts.delete(account)
        }
      },
    }
    return slot
  }

  /** Estimated waiting time of a new request. */
  #waitMs(hasPriority: boolean): number {
    const ahead = this.#known.length + (hasPriority ? 0 : this.#strangers.length)
    return (ahead * (this.#averageMs ?? initialEstimateMs)) / this.#concurrency
  }

  async #take<T>(queue: Waiting[], isCancelled: () => boolean, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    queue.push({ isCancelled, begin: resolve, drop: () => reject(busy()) })
    this.#advance()
    await promise
    const begun = performance.now()
    try {
      return await work()
    } finally {
      const took = performance.now() - begun
      this.#averageMs =
        this.#averageMs === undefined ? took : this.#averageMs + averageWeight * (took - this.#averageMs)
      this.#outcomes.inc({ outcome: 'done' })
      this.#running -= 1
      this.#advance()
    }
  }

  #advance(): void {
    while (this.#running < this.#concurrency) {
      const next = this.#known.shift() ?? this.#strangers.shift()
      if (!next) return
      if (next.isCancelled()) {
        this.#outcomes.inc({ outcome: 'gone' })
        next.drop()
      } else {
        this.#running += 1
        next.begin()
      }
    }
  }
}
