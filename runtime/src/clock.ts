/** The time that rules go by. Its offset is zero except where a test or an operator's rehearsal sets another. */
export class Clock {
  #offset: Temporal.Duration

  /** @param offset added to the real time. */
  constructor(offset: Temporal.Duration = new Temporal.Duration()) {
    this.#offset = offset
  }

  now(): Temporal.Instant {
    return Temporal.Now.instant().add(this.#offset)
  }

  /** Moves this clock so that it now reads `instant`; it goes on from there. */
  set(instant: Temporal.Instant): void {
    this.#offset = Temporal.Now.instant().until(instant)
  }

  /** Moves this clock forward (or back, with a negative duration of hours or less). */
  advance(duration: Temporal.DurationLike): void {
    this.set(this.now().add(duration))
  }
}
