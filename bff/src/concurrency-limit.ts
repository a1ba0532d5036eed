/** Lets so many run at once; the others wait in the order in which they came. */
export class ConcurrencyLimit {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#free = most
  }

  /** Resolves once there is room, which `release` gives back. @throws the reason of the first signal that aborts before. */
  async acquire(...signals: AbortSignal[]): Promise<void> {
    for (const signal of signals) signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = ({ target }: Event) => {
      this.#waiting.delete(resolve)
      reject((target as AbortSignal).reason as Error)
    }
    this.#waiting.add(resolve)
    for (const signal of signals) signal.addEventListener('abort', giveUp)
    try {
      await promise
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', giveUp)
    }
  }

  /** Whether whoever comes now has to wait. */
  get isFull(): boolean {
    return this.#free === 0
  }

  release(): void {
    const [next] = this.#waiting
    if (next) {
      this.#waiting.delete(next)
      next()
    } else {
      this.#free += 1
    }
  }
}
