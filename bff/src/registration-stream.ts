import { allEvents } from '@robokids/contracts/events'
import type { RegistrationView } from '@robokids/contracts/bff'
import type { Bus } from '@robokids/runtime/bus'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** How often an open stream asks by itself: notices of the bus may be missed, the page must not wait for them. */
const askEveryMs = 3_000
/** A stream ends by then; the browser opens another one. */
const lifetimeMs = 10 * 60_000

type Listener = () => void

/** Tells whoever looks at a registration that something has happened to it. */
export class RegistrationNotices {
  readonly #listeners = new Map<string, Set<Listener>>()

  constructor(bus: Bus) {
    bus.watch(
      allEvents.map((event) => event.type),
      (event) => {
        const { registrationId } = (event.data ?? {}) as { registrationId?: string }
        if (registrationId !== undefined) for (const listener of this.#listeners.get(registrationId) ?? []) listener()
      },
    )
  }

  /** @returns how to stop listening. */
  listen(registrationId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(registrationId) ?? new Set()
    this.#listeners.set(registrationId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(registrationId)
    }
  }
}

/** Sends `state` events with the registration's view: at once, and whenever it has changed. */
export function streamRegistration(
  request: FastifyRequest,
  reply: FastifyReply,
  first: RegistrationView,
  notices: RegistrationNotices,
  ask: () => Promise<RegistrationView>,
): void {
  const headers = Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.write('retry: 2000\n\n')

  let sent = ''
  const send = (view: RegistrationView) => {
    const data = JSON.stringify(view)
    if (data !== sent) raw.write(`event: state\ndata: ${data}\n\n`)
    // A comment keeps proxies from taking a quiet stream for a dead one.
    else raw.write(': still here\n\n')
    sent = data
  }
  send(first)

  let asking = false
  let again = false
  const refresh = async () => {
    again = true
    if (asking) return
    asking = true
    while (again && !raw.destroyed) {
      again = false
      try {
        const view = await ask()
        if (!raw.destroyed) send(view)
      } catch (error) {
        request.log.warn({ err: error }, 'registration stream could not ask')
      }
    }
    asking = false
  }
  const stopListening = notices.listen(first.registrationId, () => void refresh())
  const timer = setInterval(() => void refresh(), askEveryMs)
  const end = setTimeout(() => raw.end(), lifetimeMs)
  raw.on('close', () => {
    stopListening()
    clearInterval(timer)
    clearTimeout(end)
  })
}
