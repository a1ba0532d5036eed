import { hash, randomBytes } from 'node:crypto'
import type { FastifyRateLimitStore } from '@fastify/rate-limit'

/** With 10,000 clients in a window, one in 700 shares both of its places with another. */
const places = 2 ** 18

/**
 * How many requests each client made in the current window of time, in 2 MB however many clients there are. A store that
 * evicts can be made to forget by whoever asks from enough addresses, and an IPv6 /48 has 65,536 networks that are counted
 * each on its own; this one forgets nobody. It is a count-min sketch: a client is counted at two places, which a salted hash chooses, and
 * made as many requests as the smaller count says. That is never too few, and too many only where others were counted at
 * both of its places, by what they asked.
 */
export class RequestCounts implements FastifyRateLimitStore {
  readonly #counts = new Uint32Array(2 * places)
  /** Nobody can choose addresses that share the places of another. */
  readonly #salt = randomBytes(16).toString('hex')
  #windowEnds = -Infinity

  incr(
    client: string,
    callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    windowMs: number,
  ): void {
    const now = performance.now()
    if (now >= this.#windowEnds) {
      this.#counts.fill(0)
      this.#windowEnds = now + windowMs
    }
    const digest = hash('sha256', this.#salt + client, 'buffer')
    const first = digest.readUInt32LE(0) % places
    const second = places + (digest.readUInt32LE(4) % places)
    const current = Math.min(this.#counts[first] ?? 0, this.#counts[second] ?? 0) + 1
    // No further than that: a count that is higher already is somebody else's.
    for (const place of [first, second]) this.#counts[place] = Math.max(this.#counts[place] ?? 0, current)
    callback(null, { current, ttl: Math.ceil(this.#windowEnds - now) })
  }

  /** For a route with a limit of its own, which is counted apart. */
  child(): RequestCounts {
    return new RequestCounts()
  }
}
