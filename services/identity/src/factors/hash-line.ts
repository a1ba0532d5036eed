import { MinuteLog } from '@robokids/runtime/minute-log'
import type { Context } from '@robokids/runtime/service'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import { busy } from '../protocol/errors.ts'

/** A request's place in the line of those who have passwords hashed. */
export interface HashPlace {
  /** The account that who asks is known to, or whose they have proven to be: they go before strangers. */
  account?: string
  /**
   * Does the slow work on one password when it is its turn.
   * @throws IdentityError ServiceUnavailable where the line is too long. A request that was let in once is let in again, and
   * one that was refused is refused again: who sent it has been answered.
   */
  hash<T>(work: () => Promise<T>): Promise<T>
}

interface Waiting {
  isGone(): boolean
  begin(): void
  drop(): void
}

/** What a hash is taken for until one was measured: rather too slow than too fast. */
const firstGuessMs = 50
/** How much the latest measurement counts in the average. */
const weight = 0.1
/** An account of one's own is easily had: with it, no more than these go before strangers at once. */
const placesOfAccount = 4

/**
 * Hashing takes memory and a core, so as many passwords as are set are hashed at once, and the rest wait in line. Anybody may
 * ask for it, so the line is only so long as its work is done in HASH_LINE_MS, by what hashing has really taken; who comes
 * then is told so at once. Whoever is known to the account goes before strangers, so that a flood from elsewhere keeps no
 * owner waiting, and who has gone meanwhile is skipped: the line is over when the flood is.
 */
export class HashLine {
  readonly #atOnce: number
  readonly #mostMs: number
  readonly #outcomes: Counter<'outcome'>
  readonly #refusals: MinuteLog
  readonly #known: Waiting[] = []
  readonly #strangers: Waiting[] = []
  /** How many places each account has before strangers. */
  readonly #places = new Map<string, number>()
  #running = 0
  #averageMs: number | undefined

  constructor({ config, log, metrics }: Context<Config>) {
    this.#atOnce = config.HASHES_AT_ONCE
    this.#mostMs = config.HASH_LINE_MS
    this.#refusals = new MinuteLog(log, 'more passwords are to be hashed than can be')
    this.#outcomes = new Counter({
      name: 'password_hashes_total',
      help: 'Passwords that were to be hashed by outcome (done, refused as the line was too long, gone where nobody waited any more)',
      labelNames: ['outcome'],
      registers: [metrics.registry],
    })
    for (const outcome of ['done', 'refused', 'gone']) this.#outcomes.inc({ outcome }, 0)
  }

  /** @param isGone whether nobody waits for the answer any more */
  place(isGone: () => boolean): HashPlace {
    let isIn: boolean | undefined
    const place: HashPlace = {
      hash: async (work) => {
        const { account } = place
        const mine = account === undefined ? 0 : (this.#places.get(account) ?? 0)
        const isFirst = account !== undefined && mine < placesOfAccount
        isIn ??= this.#waitMs(isFirst) <= this.#mostMs
        if (!isIn) {
          this.#outcomes.inc({ outcome: 'refused' })
          this.#refusals.record()
          throw busy()
        }
        if (!isFirst) return this.#take(this.#strangers, isGone, work)
        this.#places.set(account, mine + 1)
        try {
          return await this.#take(this.#known, isGone, work)
        } finally {
          const left = (this.#places.get(account) ?? 1) - 1
          if (left > 0) this.#places.set(account, left)
          else this.#places.delete(account)
        }
      },
    }
    return place
  }

  /** How long whoever comes now is about to wait. */
  #waitMs(isFirst: boolean): number {
    const ahead = this.#known.length + (isFirst ? 0 : this.#strangers.length)
    return (ahead * (this.#averageMs ?? firstGuessMs)) / this.#atOnce
  }

  async #take<T>(line: Waiting[], isGone: () => boolean, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    line.push({ isGone, begin: resolve, drop: () => reject(busy()) })
    this.#advance()
    await promise
    const begun = performance.now()
    try {
      return await work()
    } finally {
      const took = performance.now() - begun
      this.#averageMs = this.#averageMs === undefined ? took : this.#averageMs + weight * (took - this.#averageMs)
      this.#outcomes.inc({ outcome: 'done' })
      this.#running -= 1
      this.#advance()
    }
  }

  #advance(): void {
    while (this.#running < this.#atOnce) {
      const next = this.#known.shift() ?? this.#strangers.shift()
      if (!next) return
      if (next.isGone()) {
        this.#outcomes.inc({ outcome: 'gone' })
        next.drop()
      } else {
        this.#running += 1
        next.begin()
      }
    }
  }
}
