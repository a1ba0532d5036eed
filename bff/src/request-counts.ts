import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { ClientCounts } from '@robokids/runtime/client-counts'
import type { Context } from '@robokids/runtime/service'

/** Adapts `ClientCounts` to the rate limit plugin. */
export class RequestCounts implements FastifyRateLimitStore {
  readonly #context: Pick<Context<unknown>, 'bus' | 'config'>
  readonly #counts: ClientCounts

  constructor(context: Pick<Context<unknown>, 'bus' | 'config'>, name = 'requests') {
    this.#context = context
    this.#counts = new ClientCounts(name, context)
  }

  incr(
    client: string,
    callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    windowMs: number,
  ): void {
    const { count, msLeft } = this.#counts.add(client, windowMs)
    callback(null, { current: count, ttl: msLeft })
  }

  /** For a route with its own limit, which is counted separately. */
  child(route: object): RequestCounts {
    // The plugin passes another object than it declares.
    const { url } = (route as { routeInfo: { url: string } }).routeInfo
    return new RequestCounts(this.#context, `requests${url.replaceAll(/[^a-z]+/gi, '-')}`)
  }
}
