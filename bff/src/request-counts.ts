import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { ClientCounts } from '@robokids/runtime/client-counts'

/** Adapts `ClientCounts` to the rate limit plugin. */
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

  /** For a route with its own limit, which is counted separately. */
  child(): RequestCounts {
    return new RequestCounts()
  }
}
