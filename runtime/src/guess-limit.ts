import type { FastifyRequest } from 'fastify'
import { ClientCounts } from './client-counts.ts'
import { DomainError } from './errors.ts'
import { MinuteLog } from './minute-log.ts'
import { isInternalRequest } from './internal-requests.ts'
import { countedNetworks, type CountedNetwork } from './network-address.ts'
import type { Context } from './service.ts'
import type { Metrics } from './telemetry.ts'

export interface GuessLimitOptions {
  /** What is guessed; the value of the metric's label: `admin_secret`. */
  what: string
  /** The limit of wrong guesses per network and window; an IPv6 /48 has a multiple of it (see `countedNetworks`). */
  perNetwork: number
  /** The limit of wrong guesses of all networks together; none if omitted. */
  total?: number
  windowMs: number
}

const allNetworks = 'all networks'

/**
 * Limits guesses of secrets. A network with too many wrong guesses (or whose /48 has too many) is blocked for the rest of the
 * window; once all networks together have too many, one wrong guess is enough. So nobody is locked out by the guesses of
 * other networks: a first guess that is right is always accepted. Internal requests are never blocked, because operators
 * share their network.
 *
 * Counts over all processes of the service. Wrong guesses are counted in `wrong_guesses_total` and logged at most once a minute.
 */
export class GuessLimit {
  readonly #options: GuessLimitOptions
  readonly #counts: ClientCounts
  readonly #metrics: Metrics
  readonly #lines: MinuteLog

  constructor(context: Pick<Context<unknown>, 'bus' | 'config' | 'log' | 'metrics'>, options: GuessLimitOptions) {
    const { log, metrics } = context
    this.#options = options
    this.#counts = new ClientCounts(`guesses-${options.what}`, context)
    this.#metrics = metrics
    this.#lines = new MinuteLog(log, 'wrong guesses of a secret')
    for (const outcome of ['wrong', 'limited']) metrics.wrongGuesses.inc({ what: options.what, outcome }, 0)
  }

  /** Returns whether a request must be rejected without checking its guess. */
  isBlocked(request: FastifyRequest): boolean {
    return this.#isExhausted(countedNetworks(request.ip)) && !isInternalRequest(request)
  }

  /** Counts a wrong guess. @returns the error to throw: `rate_limited` above the limit, otherwise `error`. */
  countWrong(request: FastifyRequest, error: DomainError): DomainError {
    const networks = countedNetworks(request.ip)
    const isLimited = this.#isExhausted(networks)
    const { what, windowMs } = this.#options
    for (const { name } of networks) this.#counts.add(name, windowMs)
    this.#counts.add(allNetworks, windowMs)
    this.#metrics.wrongGuesses.inc({ what, outcome: isLimited ? 'limited' : 'wrong' })
    this.#lines.record({ what, network: networks[0].name })
    return isLimited ? this.rateLimitError() : error
  }

  /** Returns the error for a blocked network. */
  rateLimitError(): DomainError {
    return new DomainError('rate_limited', 'Too many failed attempts. Please try again later.')
  }

  #isExhausted(networks: [CountedNetwork, ...CountedNetwork[]]): boolean {
    const { perNetwork, total = Infinity } = this.#options
    if (networks.some(({ name, limitFactor }) => this.#counts.of(name) >= perNetwork * limitFactor)) return true
    return this.#counts.of(networks[0].name) > 0 && this.#counts.of(allNetworks) >= total
  }
}
