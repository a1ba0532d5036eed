/** The clock that business rules use. Only tests and rehearsals give it an offset from the real time. */
export class Clock {
  #offset: Temporal.Duration

  /** @param offset added to the real time. */
  constructor(offset: Temporal.Duration = new Temporal.Duration()) {
    this.#offset = offset
  }

  now(): Temporal.Instant {
    return Temporal.Now.instant().add(this.#offset)
  }

  /** Sets this clock to `instant`; it continues from there. */
  set(instant: Temporal.Instant): void {
    this.#offset = Temporal.Now.instant().until(instant)
  }

  /** Advances this clock, or sets it back by a negative duration. The largest unit is hours. */
  advance(duration: Temporal.DurationLike): void {
    this.set(this.now().add(duration))
  }
}
