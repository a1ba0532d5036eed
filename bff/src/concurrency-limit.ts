/** A semaphore; waiters are served in order. */
export class ConcurrencyLimit {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(max: number) {
    this.#free = max
  }

  /** Resolves once there is a free slot; `release` it afterwards. @throws the reason of the first signal that aborts before. */
  async acquire(...signals: AbortSignal[]): Promise<void> {
    for (const signal of signals) signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = ({ target }: Event) => {
      this.#waiting.delete(resolve)
      reject((target as AbortSignal).reason as Error)
    }
    this.#waiting.add(resolve)
    for (const signal of signals) signal.addEventListener('abort', abort)
    try {
      await promise
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', abort)
    }
  }

  /** Whether the next caller has to wait. */
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
