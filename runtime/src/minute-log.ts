import type { Logger } from './telemetry.ts'

const everyMs = 60_000

/**
 * Logs warnings that anyone on the internet can trigger, at a limited rate: the first one immediately, then at most one line a
 * minute with the count.
 */
export class MinuteLog {
  readonly #log: Logger
  readonly #message: string
  #waiting = false
  #count = 0
  #about: object = {}

  constructor(log: Logger, message: string) {
    this.#log = log
    this.#message = message
  }

  /** @param about the line's fields about the latest event; no personal data. */
  record(about: object = {}): void {
    this.#count += 1
    this.#about = about
    if (!this.#waiting) this.#write()
  }

  #write(): void {
    this.#waiting = this.#count > 0
    if (!this.#waiting) return
    this.#log.warn({ ...this.#about, count: this.#count }, this.#message)
    this.#count = 0
    setTimeout(() => this.#write(), everyMs).unref()
  }
}
