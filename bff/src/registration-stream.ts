import type { ServerResponse } from 'node:http'
import type { RegistrationView } from '@robokids/contracts/bff'
import { registrationEvents } from '@robokids/contracts/events'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { networkOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'

/** How often an open stream asks by itself: notices of the bus may be missed, the page must not wait for them. */
const askEveryMs = 3_000
/** A stream ends by then; the browser opens another one. */
const lifetimeMs = 10 * 60_000

type Listener = (view: RegistrationView) => void
type Ask = (registrationId: string) => Promise<RegistrationView>

/** One registration, asked about once for everybody who looks at it. */
class Watch {
  readonly listeners = new Set<Listener>()
  /** Fails where the first answer does. */
  readonly first: Promise<RegistrationView>
  readonly #ask: () => Promise<RegistrationView>
  readonly #timer: ReturnType<typeof setInterval>
  readonly #failed: (error: unknown) => void
  #latest: RegistrationView | undefined
  #asking = true
  #again = false

  constructor(ask: () => Promise<RegistrationView>, failed: (error: unknown) => void) {
    this.#ask = ask
    this.#failed = failed
    this.first = this.#answer().finally(() => {
      this.#asking = false
      if (this.#again) this.refresh()
    })
    this.#timer = setInterval(() => this.refresh(), askEveryMs)
  }

  /** What was last answered; undefined before the first answer. */
  get latest(): RegistrationView | undefined {
    return this.#latest
  }

  /** Asks anew; where that is under way already, once more after it. */
  refresh(): void {
    this.#again = true
    if (!this.#asking) void this.#askAgain()
  }

  end(): void {
    clearInterval(this.#timer)
  }

  async #answer(): Promise<RegistrationView> {
    this.#latest = await this.#ask()
    return this.#latest
  }

  async #askAgain(): Promise<void> {
    this.#asking = true
    while (this.#again && this.listeners.size > 0) {
      this.#again = false
      try {
        const view = await this.#answer()
        for (const listener of this.listeners) listener(view)
      } catch (error) {
        this.#failed(error)
      }
    }
    this.#asking = false
  }
}

/** Tells whoever looks at a registration what is true of it, and what becomes of it. */
export class RegistrationStreams {
  readonly #ask: Ask
  readonly #log: Context<Config>['log']
  readonly #mostPerAddress: number
  readonly #watches = new Map<string, Watch>()
  readonly #openOf = new Map<string, number>()
  readonly #open = new Set<ServerResponse>()
  #closing = false

  constructor(http: Http, { bus, config, log }: Context<Config>, ask: Ask) {
    this.#ask = ask
    this.#log = log
    this.#mostPerAddress = config.STREAMS_PER_ADDRESS
    bus.watch(
      registrationEvents.map((event) => event.type),
      (event) => {
        const { registrationId } = (event.data ?? {}) as { registrationId?: string | null }
        if (registrationId) this.#watches.get(registrationId)?.refresh()
      },
    )
    // The browser opens a stream that ended anew, by then at a process that stays.
    http.addHook('preClose', (done) => {
      this.#closing = true
      for (const raw of this.#open) raw.end()
      done()
    })
  }

  /** How many streams are open, and how many registrations are asked about for them. */
  get size(): { streams: number; registrations: number } {
    return { streams: this.#open.size, registrations: this.#watches.size }
  }

  /**
   * Sends `state` events with the registration's view: at once, and whenever it has changed. A HEAD request is answered
   * as a GET would begin.
   * @throws DomainError `rate_limited` where the address has too many streams open, and whatever asking throws.
   */
  async stream(request: FastifyRequest, reply: FastifyReply, registrationId: string): Promise<void> {
    const { raw } = reply
    const address = networkOf(request.ip)
    if ((this.#openOf.get(address) ?? 0) >= this.#mostPerAddress)
      throw new DomainError('rate_limited', 'Too many pages are open at once. Please close some of them.')

    const watch = this.#watch(registrationId)
    let sent = ''
    let begun = false
    const listener = (view: RegistrationView) => {
      if (!begun || raw.destroyed || raw.writableEnded) return
      const data = JSON.stringify(view)
      if (data !== sent) raw.write(`event: state\ndata: ${data}\n\n`)
      // A comment keeps proxies from taking a quiet stream for a dead one.
      else raw.write(': still here\n\n')
      sent = data
    }
    watch.listeners.add(listener)
    this.#count(address, 1)
    this.#open.add(raw)
    let end: ReturnType<typeof setTimeout> | undefined
    // Before the first answer: a page that is closed while it waits leaves nothing behind.
    const leave = () => {
      if (!watch.listeners.delete(listener)) return
      clearTimeout(end)
      this.#open.delete(raw)
      this.#count(address, -1)
      if (watch.listeners.size > 0) return
      watch.end()
      if (this.#watches.get(registrationId) === watch) this.#watches.delete(registrationId)
    }
    raw.once('close', leave)

    try {
      await watch.first
    } catch (error) {
      leave()
      throw error
    }
    const headers = Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
    reply.hijack()
    if (raw.destroyed) {
      leave()
      return
    }
    raw.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Kept alive after its stream, the connection would hold up a stop.
      connection: 'close',
      'x-accel-buffering': 'no',
    })
    raw.write('retry: 2000\n\n')
    begun = true
    if (watch.latest) listener(watch.latest)
    if (this.#closing || request.method === 'HEAD') raw.end()
    else end = setTimeout(() => raw.end(), lifetimeMs)
  }

  #watch(registrationId: string): Watch {
    const known = this.#watches.get(registrationId)
    if (known) return known
    const watch = new Watch(
      () => this.#ask(registrationId),
      (error) => this.#log.warn({ err: error }, 'registration stream could not ask'),
    )
    this.#watches.set(registrationId, watch)
    return watch
  }

  #count(address: string, change: 1 | -1): void {
    const count = (this.#openOf.get(address) ?? 0) + change
    if (count > 0) this.#openOf.set(address, count)
    else this.#openOf.delete(address)
  }
}
