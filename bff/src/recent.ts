import { within } from './within.ts'

/** Nothing is shown that is older than this while it can be asked for. */
const freshForMs = 5_000
/** From this age on it is asked for anew, while what is known is still fresh enough: nobody has to wait. */
const renewAfterMs = 2_500
/** However often it changes, it is asked for no more often than this. */
const askEveryMs = 500
/** How long whoever wants to know waits for an answer. */
const waitForMs = 400
/** For how long what is known is shown where nobody answers. */
const lastKnownForMs = 60_000

interface Asked<Answer> {
  at: number
  answer: Promise<Answer | undefined>
}

/**
 * What was asked a moment ago, asked anew before it is old. It is as old as the question, not as the answer: the question may
 * have been answered before something changed.
 */
export class Recent<Answer> {
  readonly #ask: () => Promise<Answer>
  readonly #failed: (error: unknown) => void
  readonly #now: () => number
  #last: Asked<Answer> | undefined
  #known: { at: number; answer: Answer } | undefined
  #changedAt = -Infinity

  constructor(ask: () => Promise<Answer>, failed: (error: unknown) => void, now = () => performance.now()) {
    this.#ask = ask
    this.#failed = failed
    this.#now = now
  }

  /** It has changed: what was asked before is not shown any more, unless it was asked just now. */
  change(): void {
    this.#changedAt = this.#now()
  }

  /** @returns undefined where it is not known and no answer comes in time. */
  async get(): Promise<Answer | undefined> {
    const now = this.#now()
    const last = this.#upToDate(now)
    const known = this.#known
    const isCurrent = known && (known.at > this.#changedAt || known.at === last.at)
    if (isCurrent && now - known.at < freshForMs) return known.answer
    // Whoever comes later waits for the same answer, and no longer than the first one did.
    const left = known ? last.at + waitForMs - now : waitForMs
    await within(Math.max(0, left), last.answer)
    return this.#known && this.#now() - this.#known.at < lastKnownForMs ? this.#known.answer : undefined
  }

  #upToDate(now: number): Asked<Answer> {
    const last = this.#last
    if (last && now - last.at < (last.at > this.#changedAt ? renewAfterMs : askEveryMs)) return last
    const asked: Asked<Answer> = { at: now, answer: this.#answer(now) }
    this.#last = asked
    return asked
  }

  async #answer(at: number): Promise<Answer | undefined> {
    try {
      const answer = await this.#ask()
      // An answer that took long may come after that to a later question.
      if (!this.#known || at > this.#known.at) this.#known = { at, answer }
      return answer
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }
}
