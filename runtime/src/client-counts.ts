import { hash, randomBytes } from 'node:crypto'

/** With 10,000 clients in a window, one in 700 shares both of its places with another. */
const places = 2 ** 18

/**
 * How often each client did something in the current window of time, in 2 MB however many clients there are. A store that
 * evicts can be made to forget by whoever comes from enough addresses, and an IPv6 /48 has 65,536 networks that are counted
 * each on its own; this one forgets nobody. It is a count-min sketch: a client is counted at two places, which a salted hash
 * chooses, and did it as often as the smaller count says. That is never too few, and too many only where others were counted
 * at both of its places, by what they did.
 */
export class ClientCounts {
  readonly #counts = new Uint32Array(2 * places)
  /** Nobody can choose addresses that share the places of another. */
  readonly #salt = randomBytes(16).toString('hex')
  #windowEnds = -Infinity

  /** Counts one more. @returns how many there are in this window, and how many milliseconds are left of it. */
  add(client: string, windowMs: number): { count: number; msLeft: number } {
    const now = performance.now()
    if (now >= this.#windowEnds) {
      this.#counts.fill(0)
      this.#windowEnds = now + windowMs
    }
    const both = this.#placesOf(client)
    const count = this.#least(both) + 1
    // No further than that: a count that is higher already is somebody else's.
    for (const place of both) this.#counts[place] = Math.max(this.#counts[place] ?? 0, count)
    return { count, msLeft: Math.ceil(this.#windowEnds - now) }
  }

  /** How many there are of a client in this window. */
  of(client: string): number {
    return performance.now() >= this.#windowEnds ? 0 : this.#least(this.#placesOf(client))
  }

  #placesOf(client: string): [number, number] {
    const digest = hash('sha256', this.#salt + client, 'buffer')
    return [digest.readUInt32LE(0) % places, places + (digest.readUInt32LE(4) % places)]
  }

  #least([first, second]: [number, number]): number {
    return Math.min(this.#counts[first] ?? 0, this.#counts[second] ?? 0)
  }
}
