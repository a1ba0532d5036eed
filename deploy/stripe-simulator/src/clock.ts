/** The simulated time: the machine's clock plus the offset set by tests. */
export class Clock {
  readonly #source: () => number
  #offsetMs: number
  #pinnedMs: number | undefined

  constructor(source: () => number, offsetMs = 0) {
    this.#source = source
    this.#offsetMs = offsetMs
  }

  /** Milliseconds since the epoch. */
  ms(): number {
    return this.#pinnedMs ?? this.#source() + this.#offsetMs
  }

  /** Whole seconds since the epoch, the unit of every timestamp in the API. */
  seconds(): number {
    return Math.floor(this.ms() / 1000)
  }

  /** Runs something at another time: that of a due event, or of a customer's test clock. */
  at<T>(seconds: number, run: () => T): T {
    const before = this.#pinnedMs
    this.#pinnedMs = seconds * 1000
    try {
      return run()
    } finally {
      this.#pinnedMs = before
    }
  }

  get offsetMs(): number {
    return this.#offsetMs
  }

  set offsetMs(value: number) {
    this.#offsetMs = value
  }
}
