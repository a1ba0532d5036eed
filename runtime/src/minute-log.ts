import type { Logger } from './telemetry.ts'

const everyMs = 60_000

/**
 * Warns of what strangers can make happen as often as they like: at once of the first, and from then on in one line a
 * minute, with how many there were.
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

  /** @param about what the line says of the latest one; nothing personal */
  note(about: object = {}): void {
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
