import type { ServerResponse } from 'node:http'
import type { RegistrationView } from '@robokids/contracts/bff'
import { registrationEvents } from '@robokids/contracts/events'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { networkOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'

/** How often an open stream polls, because events of the bus may be missed. */
const pollEveryMs = 3_000
/** The lifetime of a stream; the browser then opens another one. */
const lifetimeMs = 10 * 60_000

type Listener = (view: RegistrationView) => void
type FetchView = (registrationId: string) => Promise<RegistrationView>

/** Polls one registration for all of its streams. */
class SharedPoller {
  readonly listeners = new Set<Listener>()
  /** Rejects if the first fetch fails. */
  readonly first: Promise<RegistrationView>
  readonly #fetch: () => Promise<RegistrationView>
  readonly #timer: ReturnType<typeof setInterval>
  readonly #failed: (error: unknown) => void
  #latest: RegistrationView | undefined
  #isFetching = true
  #again = false

  constructor(fetch: () => Promise<RegistrationView>, failed: (error: unknown) => void) {
    this.#fetch = fetch
    this.#failed = failed
    this.first = this.#fetchLatest().finally(() => {
      this.#isFetching = false
      if (this.#again) this.refresh()
    })
    this.#timer = setInterval(() => this.refresh(), pollEveryMs)
  }

  /** The latest view; undefined before the first fetch. */
  get latest(): RegistrationView | undefined {
    return this.#latest
  }

  /** Fetches again, after the current fetch if one is in flight. */
  refresh(): void {
    this.#again = true
    if (!this.#isFetching) void this.#fetchAgain()
  }

  end(): void {
    clearInterval(this.#timer)
  }

  async #fetchLatest(): Promise<RegistrationView> {
    this.#latest = await this.#fetch()
    return this.#latest
  }

  async #fetchAgain(): Promise<void> {
    this.#isFetching = true
    while (this.#again && this.listeners.size > 0) {
      this.#again = false
      try {
        const view = await this.#fetchLatest()
        for (const listener of this.listeners) listener(view)
      } catch (error) {
        this.#failed(error)
      }
    }
    this.#isFetching = false
  }
}

/** Server-sent events with the state of a registration. */
export class RegistrationStreams {
  readonly #fetchView: FetchView
  readonly #log: Context<Config>['log']
  readonly #maxPerNetwork: number
  readonly #pollers = new Map<string, SharedPoller>()
  readonly #openPerNetwork = new Map<string, number>()
  readonly #open = new Set<ServerResponse>()
  #closing = false

  constructor(http: Http, { bus, config, log }: Context<Config>, fetchView: FetchView) {
    this.#fetchView = fetchView
    this.#log = log
    this.#maxPerNetwork = config.STREAMS_PER_ADDRESS
    bus.watch(
      registrationEvents.map((event) => event.type),
      (event) => {
        const { registrationId } = (event.data ?? {}) as { registrationId?: string | null }
        if (registrationId) this.#pollers.get(registrationId)?.refresh()
      },
    )
    // The browser reconnects, to a process that is not stopping.
    http.addHook('preClose', (done) => {
      this.#closing = true
      for (const raw of this.#open) raw.end()
      done()
    })
  }

  /** The number of open streams, and of the registrations polled for them. */
  get size(): { streams: number; registrations: number } {
    return { streams: this.#open.size, registrations: this.#pollers.size }
  }

  /**
   * Sends `state` events with the registration's view: immediately, and on each change. A HEAD request gets only the start of the
   * stream.
   * @throws DomainError `rate_limited` if the network has too many open streams, and any error of the first fetch.
   */
  async stream(request: FastifyRequest, reply: FastifyReply, registrationId: string): Promise<void> {
    const { raw } = reply
    const address = networkOf(request.ip)
    if ((this.#openPerNetwork.get(address) ?? 0) >= this.#maxPerNetwork)
      throw new DomainError('rate_limited', 'Too many pages are open at once. Please close some of them.')

    const poller = this.#pollerFor(registrationId)
    let sent = ''
    let begun = false
    const listener = (view: RegistrationView) => {
      if (!begun || raw.destroyed || raw.writableEnded) return
      const data = JSON.stringify(view)
      if (data !== sent) raw.write(`event: state\ndata: ${data}\n\n`)
      // A comment keeps proxies from closing an idle stream.
      else raw.write(': still here\n\n')
      sent = data
    }
    poller.listeners.add(listener)
    this.#count(address, 1)
    this.#open.add(raw)
    let end: ReturnType<typeof setTimeout> | undefined
    // Registered before the first fetch ends, so that a page that is closed meanwhile leaves nothing behind.
    const leave = () => {
      if (!poller.listeners.delete(listener)) return
      clearTimeout(end)
      this.#open.delete(raw)
      this.#count(address, -1)
      if (poller.listeners.size > 0) return
      poller.end()
      if (this.#pollers.get(registrationId) === poller) this.#pollers.delete(registrationId)
    }
    raw.once('close', leave)

    try {
      await poller.first
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
      // A connection that is kept alive after its stream would delay a shutdown.
      connection: 'close',
      'x-accel-buffering': 'no',
    })
    raw.write('retry: 2000\n\n')
    begun = true
    if (poller.latest) listener(poller.latest)
    if (this.#closing || request.method === 'HEAD') raw.end()
    else end = setTimeout(() => raw.end(), lifetimeMs)
  }

  #pollerFor(registrationId: string): SharedPoller {
    const known = this.#pollers.get(registrationId)
    if (known) return known
    const poller = new SharedPoller(
      () => this.#fetchView(registrationId),
      (error) => this.#log.warn({ err: error }, 'a registration stream could not fetch its view'),
    )
    this.#pollers.set(registrationId, poller)
    return poller
  }

  #count(address: string, change: 1 | -1): void {
    const count = (this.#openPerNetwork.get(address) ?? 0) + change
    if (count > 0) this.#openPerNetwork.set(address, count)
    else this.#openPerNetwork.delete(address)
  }
}
