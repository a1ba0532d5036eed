/** The spent proofs, so that none is accepted twice. */
export interface SpentProofs {
  /**
   * Spends a proof. @returns false if it was spent before.
   * @param until when the proof expires, in milliseconds: it can be forgotten then.
   */
  spend(proof: string, until: number): Promise<boolean>
}

/**
 * In the memory of this process, so that each of several BFFs accepts a proof once. A shared store would be another
 * implementation.
 */
export class SpentProofsInMemory implements SpentProofs {
  /** In order of expiry, because all proofs have the same lifetime. */
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
