import type { FastifyRequest } from 'fastify'
import { ClientCounts } from './client-counts.ts'
import { DomainError } from './errors.ts'
import { MinuteLog } from './minute-log.ts'
import { isInternalRequest } from './internal-requests.ts'
import { countedNetworks, type CountedNetwork } from './network-address.ts'
import type { Logger, Metrics } from './telemetry.ts'

export interface GuessLimitOptions {
  /** What is guessed, as the metric names it: `admin_secret`. */
  what: string
  /** Wrong ones of one network within the window; of a /48 of IPv6 so many times that as `countedNetworks` says. */
  ofNetwork: number
  /** Wrong ones of all networks together; left out, there is no such limit. */
  ofAll?: number
  windowMs: number
}

const everybody = 'everybody'

/**
 * Limits what can be tried out: a network that was wrong too often, or whose /48 was, is not listened to any more in that window; where all
 * together were wrong too often, one wrong try is enough for that. So nobody is kept out by what others try elsewhere:
 * who is right at the first try is always let in. Neighbours are listened to in any case, since whoever looks after the
 * system shares their network, and are refused what is wrong.
 *
 * Each process counts for itself. What was wrong is counted in `wrong_guesses_total`, and told in the log once a minute.
 */
export class GuessLimit {
  readonly #options: GuessLimitOptions
  readonly #counts = new ClientCounts()
  readonly #metrics: Metrics
  readonly #lines: MinuteLog

  constructor({ log, metrics }: { log: Logger; metrics: Metrics }, options: GuessLimitOptions) {
    this.#options = options
    this.#metrics = metrics
    this.#lines = new MinuteLog(log, 'somebody guesses')
    for (const outcome of ['wrong', 'limited']) metrics.wrongGuesses.inc({ what: options.what, outcome }, 0)
  }

  /** Whether a request is refused without a look at what it tries. */
  isDeaf(request: FastifyRequest): boolean {
    return this.#isExhausted(countedNetworks(request.ip)) && !isInternalRequest(request)
  }

  /** Counts a wrong try, and says so: with `rate_limited` from the limit on, else with `refusal`. */
  wrong(request: FastifyRequest, refusal: DomainError): DomainError {
    const networks = countedNetworks(request.ip)
    const isLimited = this.#isExhausted(networks)
    const { what, windowMs } = this.#options
    for (const { name } of networks) this.#counts.add(name, windowMs)
    this.#counts.add(everybody, windowMs)
    this.#metrics.wrongGuesses.inc({ what, outcome: isLimited ? 'limited' : 'wrong' })
    this.#lines.note({ what, network: networks[0].name })
    return isLimited ? this.refusal() : refusal
  }

  /** What a network is told that is not listened to. */
  refusal(): DomainError {
    return new DomainError('rate_limited', 'Too many tries that were wrong. Please try again in a while.')
  }

  #isExhausted(networks: [CountedNetwork, ...CountedNetwork[]]): boolean {
    const { ofNetwork, ofAll = Infinity } = this.#options
    if (networks.some(({ name, times }) => this.#counts.of(name) >= ofNetwork * times)) return true
    return this.#counts.of(networks[0].name) > 0 && this.#counts.of(everybody) >= ofAll
  }
}
