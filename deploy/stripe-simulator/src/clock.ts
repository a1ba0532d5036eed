/** The simulator's time: the machine's clock plus whatever a test has advanced it by. */
export class Clock {
  readonly #source: () => number
  #offsetMs: number

  constructor(source: () => number, offsetMs = 0) {
    this.#source = source
    this.#offsetMs = offsetMs
  }

  /** Milliseconds since the epoch. */
  ms(): number {
    return this.#source() + this.#offsetMs
  }

  /** Whole seconds since the epoch, the unit of every timestamp in the API. */
  seconds(): number {
    return Math.floor(this.ms() / 1000)
  }

  get offsetMs(): number {
    return this.#offsetMs
  }

  set offsetMs(value: number) {
    this.#offsetMs = value
  }
}
