import { MinuteLog } from '@robokids/runtime/minute-log'
import type { Context } from '@robokids/runtime/service'
import type { Claims } from '@robokids/runtime/streams'

/** How long a proof is valid: long enough to fill in a form with an interruption. */
export const proofLifetimeMs = 20 * 60_000
export const spentProofs: Claims = { name: 'spent-proofs', forMs: proofLifetimeMs }

/** Remembers the spent proofs of all BFFs, so that none is accepted twice. */
export class SpentProofs {
  readonly #bus: Pick<Context<unknown>['bus'], 'claim'>
  readonly #failures: MinuteLog
  /** Those that this BFF has accepted, in order of expiry, because all have the same lifetime. */
  readonly #own = new Map<string, number>()

  constructor({ bus, log }: Pick<Context<unknown>, 'bus' | 'log'>) {
    this.#bus = bus
    this.#failures = new MinuteLog(log, 'spent proofs are known to this process alone: the broker does not respond')
  }

  /**
   * Spends a proof. While the broker is away, a proof is spent at this BFF alone: families can register meanwhile, and a proof is
   * worth as many requests as there are BFFs.
   * @param proof letters and digits, already verified.
   * @param until when the proof expires, in milliseconds: it can be forgotten then.
   * @returns false if it was spent before.
   */
  async spend(proof: string, until: number): Promise<boolean> {
    if (!this.#spendHere(proof, until)) return false
    try {
      return await this.#bus.claim(spentProofs, proof)
    } catch (error) {
      this.#failures.record({ err: error })
      return true
    }
  }

  #spendHere(proof: string, until: number): boolean {
    const now = Date.now()
    for (const [known, end] of this.#own) {
      if (end > now) break
      this.#own.delete(known)
    }
    if (this.#own.has(proof)) return false
    this.#own.set(proof, until)
    return true
  }
}
