import { within } from './within.ts'

/** The maximum age of a value while it can be fetched. */
const maxAgeMs = 5_000
/** From this age on, it is refreshed in the background. */
const refreshAfterMs = 2_500
/** The minimum time between two fetches, however often it is invalidated. */
const minIntervalMs = 500
/** How long callers wait for a fetch. */
const timeoutMs = 400
/** How long a value is returned while fetches fail. */
const maxStaleMs = 60_000

interface Fetch<Value> {
  startedAt: number
  value: Promise<Value | undefined>
}

/**
 * A cached value that is refreshed before it is too old. Its age counts from the start of its fetch, because the value may have
 * changed while the response was on its way.
 */
export class Cached<Value> {
  readonly #fetch: () => Promise<Value>
  readonly #failed: (error: unknown) => void
  readonly #now: () => number
  #last: Fetch<Value> | undefined
  #known: { fetchedAt: number; value: Value } | undefined
  #changedAt = -Infinity

  constructor(fetch: () => Promise<Value>, failed: (error: unknown) => void, now = () => performance.now()) {
    this.#fetch = fetch
    this.#failed = failed
    this.#now = now
  }

  /** Marks the value as changed: older fetches are not used any more, unless the next one is not allowed yet. */
  invalidate(): void {
    this.#changedAt = this.#now()
  }

  /** @returns undefined if there is no value and the fetch does not finish in time. */
  async get(): Promise<Value | undefined> {
    const now = this.#now()
    const last = this.#upToDate(now)
    const known = this.#known
    const isCurrent = known && (known.fetchedAt > this.#changedAt || known.fetchedAt === last.startedAt)
    if (isCurrent && now - known.fetchedAt < maxAgeMs) return known.value
    // Later callers wait for the same fetch, and no longer than the first one.
    const left = known ? last.startedAt + timeoutMs - now : timeoutMs
    await within(Math.max(0, left), last.value)
    return this.#known && this.#now() - this.#known.fetchedAt < maxStaleMs ? this.#known.value : undefined
  }

  #upToDate(now: number): Fetch<Value> {
    const last = this.#last
    if (last && now - last.startedAt < (last.startedAt > this.#changedAt ? refreshAfterMs : minIntervalMs)) return last
    const next: Fetch<Value> = { startedAt: now, value: this.#fetchValue(now) }
    this.#last = next
    return next
  }

  async #fetchValue(startedAt: number): Promise<Value | undefined> {
    try {
      const value = await this.#fetch()
      // A slow fetch may end after a later one.
      if (!this.#known || startedAt > this.#known.fetchedAt) this.#known = { fetchedAt: startedAt, value }
      return value
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }
}
