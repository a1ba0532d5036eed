import type { ServerResponse } from 'node:http'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { networkOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'

/** The lifetime of a stream; the browser then opens another one. */
const lifetimeMs = 10 * 60_000

/** What a kind of stream shows, and when it may have changed. */
export interface LiveView<View> {
  /** Reads the view of a subject, such as a registration. */
  fetch(id: string): Promise<View>
  /** The events about such subjects. */
  events: readonly EventDefinition[]
  /** Whether an event may have changed a subject's view; undefined before its first one. */
  concerns(event: CloudEvent, id: string, view: View | undefined): boolean
  /** The parts of a view by the names of their events: a part is sent when it has changed. */
  partsOf(view: View): Record<string, unknown>
  /** How often an open stream polls, because events of the bus may be missed. */
  pollEveryMs: number
}

type Listener = () => void

/** Polls one subject for all of its streams. */
class SharedPoller<View> {
  readonly listeners = new Set<Listener>()
  /** Rejects if the first fetch fails. */
  readonly first: Promise<View>
  readonly #fetch: () => Promise<View>
  readonly #timer: ReturnType<typeof setInterval>
  readonly #failed: (error: unknown) => void
  #latest: View | undefined
  #isFetching = true
  #again = false

  constructor(fetch: () => Promise<View>, pollEveryMs: number, failed: (error: unknown) => void) {
    this.#fetch = fetch
    this.#failed = failed
    this.first = this.#fetchLatest().finally(() => {
      this.#isFetching = false
      if (this.#again) this.refresh()
    })
    this.#timer = setInterval(() => this.refresh(), pollEveryMs)
  }

  /** The latest view; undefined before the first fetch. */
  get latest(): View | undefined {
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

  async #fetchLatest(): Promise<View> {
    this.#latest = await this.#fetch()
    return this.#latest
  }

  async #fetchAgain(): Promise<void> {
    this.#isFetching = true
    while (this.#again && this.listeners.size > 0) {
      this.#again = false
      try {
        await this.#fetchLatest()
        for (const listener of this.listeners) listener()
      } catch (error) {
        this.#failed(error)
      }
    }
    this.#isFetching = false
  }
}

/** The open streams of each network: the tabs of a household or a school, of every kind together. */
export class StreamCounts {
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor({ STREAMS_PER_ADDRESS }: Pick<Config, 'STREAMS_PER_ADDRESS'>) {
    this.#max = STREAMS_PER_ADDRESS
  }

  isFull(network: string): boolean {
    return (this.#open.get(network) ?? 0) >= this.#max
  }

  count(network: string, change: 1 | -1): void {
    const count = (this.#open.get(network) ?? 0) + change
    if (count > 0) this.#open.set(network, count)
    else this.#open.delete(network)
  }
}

/** Server-sent events with what is shown of a subject: each part at the start, and whenever it has changed. */
export class LiveStreams<View> {
  readonly #view: LiveView<View>
  readonly #log: Context<Config>['log']
  readonly #counts: StreamCounts
  readonly #pollers = new Map<string, SharedPoller<View>>()
  readonly #open = new Set<ServerResponse>()
  #closing = false

  constructor(http: Http, { bus, log }: Context<Config>, counts: StreamCounts, view: LiveView<View>) {
    this.#view = view
    this.#log = log
    this.#counts = counts
    bus.watch(
      view.events.map((event) => event.type),
      (event) => {
        for (const [id, poller] of this.#pollers) if (view.concerns(event, id, poller.latest)) poller.refresh()
      },
    )
    // The browser reconnects, to a process that is not stopping.
    http.addHook('preClose', (done) => {
      this.#closing = true
      for (const raw of this.#open) raw.end()
      done()
    })
  }

  /** The number of open streams, and of the subjects polled for them. */
  get size(): { streams: number; subjects: number } {
    return { streams: this.#open.size, subjects: this.#pollers.size }
  }

  /**
   * Sends the events of a subject. A HEAD request gets only the start of the stream.
   * @param isAllowed whether the requester may see the next change; the stream ends if not.
   * @throws DomainError `rate_limited` if the network has too many open streams, and any error of the first fetch.
   */
  async stream(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    isAllowed: () => Promise<boolean> = async () => true,
  ): Promise<void> {
    const { raw } = reply
    const address = networkOf(request.ip)
    if (this.#counts.isFull(address))
      throw new DomainError('rate_limited', 'Too many pages are open at once. Please close some of them.')

    const poller = this.#pollerFor(id)
    const sent = new Map<string, string>()
    let begun = false
    const listener = () => {
      if (!begun) return
      isAllowed().then(
        // The latest one: the answers of the check may come in another order.
        (allowed) => (allowed && poller.latest ? send(poller.latest) : raw.end()),
        () => raw.end(),
      )
    }
    const send = (view: View) => {
      if (raw.destroyed || raw.writableEnded) return
      const parts = Object.entries(this.#view.partsOf(view)).map(
        ([name, part]) => [name, JSON.stringify(part)] as const,
      )
      const changed = parts.filter(([name, data]) => sent.get(name) !== data)
      for (const [name, data] of changed) {
        raw.write(`event: ${name}\ndata: ${data}\n\n`)
        sent.set(name, data)
      }
      // A comment keeps proxies from closing an idle stream.
      if (changed.length === 0) raw.write(': still here\n\n')
    }
    poller.listeners.add(listener)
    this.#counts.count(address, 1)
    this.#open.add(raw)
    let end: ReturnType<typeof setTimeout> | undefined
    // Registered before the first fetch ends, so that a page that is closed meanwhile leaves nothing behind.
    const leave = () => {
      if (!poller.listeners.delete(listener)) return
      clearTimeout(end)
      this.#open.delete(raw)
      this.#counts.count(address, -1)
      if (poller.listeners.size > 0) return
      poller.end()
      if (this.#pollers.get(id) === poller) this.#pollers.delete(id)
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
    if (poller.latest) send(poller.latest)
    if (this.#closing || request.method === 'HEAD') raw.end()
    else end = setTimeout(() => raw.end(), lifetimeMs)
  }

  #pollerFor(id: string): SharedPoller<View> {
    const known = this.#pollers.get(id)
    if (known) return known
    const poller = new SharedPoller(
      () => this.#view.fetch(id),
      this.#view.pollEveryMs,
      (error) => this.#log.warn({ err: error }, 'a live stream could not fetch its view'),
    )
    this.#pollers.set(id, poller)
    return poller
  }
}
