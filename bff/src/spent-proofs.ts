/** The proofs that were taken, so that none is taken twice. */
export interface SpentProofs {
  /**
   * Takes a proof, unless it was taken before.
   * @param until when nobody would take it any more, in milliseconds: it need not be known for longer.
   */
  spend(proof: string, until: number): Promise<boolean>
}

/**
 * In the memory of this process. Each of several BFFs takes a proof once, so that it is good for as many requests as there are
 * BFFs; a store that they share would be another one of these.
 */
export class SpentProofsInMemory implements SpentProofs {
  /** By when they end, soonest first: all last as long from when they were given out. */
  readonly #spent = new Map<string, number>()

  async spend(proof: string, until: number): Promise<boolean> {
    const now = Date.now()
    for (const [known, end] of this.#spent) {
      if (end > now) break
      this.#spent.delete(known)
    }
    if (this.#spent.has(proof)) return false
    this.#spent.set(proof, until)
    return true
  }
}
