/** Asks the provider through billing, but for one reference only every so often, however many pages ask. */
export class CheckoutSync {
  readonly #everyMs: number
  readonly #asked = new Map<string, number>()

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  isDue(registrationId: string): boolean {
    const now = performance.now()
    if (now - (this.#asked.get(registrationId) ?? -Infinity) < this.#everyMs) return false
    this.#asked.delete(registrationId)
    this.#asked.set(registrationId, now)
    for (const [oldest, at] of this.#asked) {
      if (now - at < this.#everyMs && this.#asked.size < 10_000) break
      this.#asked.delete(oldest)
    }
    return true
  }
}
