import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { ClientCounts } from '@robokids/runtime/client-counts'

/** `ClientCounts` as the rate limit's plugin wants them. */
export class RequestCounts implements FastifyRateLimitStore {
  readonly #counts = new ClientCounts()

  incr(
    client: string,
    callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    windowMs: number,
  ): void {
    const { count, msLeft } = this.#counts.add(client, windowMs)
    callback(null, { current: count, ttl: msLeft })
  }

  /** For a route with a limit of its own, which is counted apart. */
  child(): RequestCounts {
    return new RequestCounts()
  }
}
