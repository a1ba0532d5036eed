import { hash, randomBytes } from 'node:crypto'

/** With 10,000 clients in a window, one in 700 shares both of its slots with others. */
const slots = 2 ** 18

/**
 * Counts events per client in the current time window, using 2 MB for any number of clients. An attacker with enough
 * addresses could make an evicting store forget (an IPv6 /48 alone has 65,536 networks that are counted separately); this one
 * never evicts. It is a count-min sketch: a salted hash chooses two slots per client, and the smaller of their counts is the
 * client's. It is never too low, and too high only if other clients share both slots.
 */
export class ClientCounts {
  readonly #counts = new Uint32Array(2 * slots)
  /** Prevents choosing addresses that share the slots of another client. */
  readonly #salt = randomBytes(16).toString('hex')
  #windowEnds = -Infinity

  /** Counts an event. @returns the client's count in this window, and the milliseconds left in the window. */
  add(client: string, windowMs: number): { count: number; msLeft: number } {
    const now = performance.now()
    if (now >= this.#windowEnds) {
      this.#counts.fill(0)
      this.#windowEnds = now + windowMs
    }
    const pair = this.#slotsOf(client)
    const count = this.#minimum(pair) + 1
    // A slot with a higher count belongs to other clients and stays as it is.
    for (const slot of pair) this.#counts[slot] = Math.max(this.#counts[slot] ?? 0, count)
    return { count, msLeft: Math.ceil(this.#windowEnds - now) }
  }

  /** Returns a client's count in this window. */
  of(client: string): number {
    return performance.now() >= this.#windowEnds ? 0 : this.#minimum(this.#slotsOf(client))
  }

  #slotsOf(client: string): [number, number] {
    const digest = hash('sha256', this.#salt + client, 'buffer')
    return [digest.readUInt32LE(0) % slots, slots + (digest.readUInt32LE(4) % slots)]
  }

  #minimum([first, second]: [number, number]): number {
    return Math.min(this.#counts[first] ?? 0, this.#counts[second] ?? 0)
  }
}
