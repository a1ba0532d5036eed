/**
 * Sends events to the webhook endpoints: signed, with retries and backoff, unordered and at least once. A test can
 * hold, drop, duplicate, delay or reverse deliveries, as a network does.
 */
import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { latestApiVersion, renderFor } from '../protocol/api-versions.ts'
import { randomToken } from '../protocol/ids.ts'
import type { DeliveryRecord, EndpointRecord, EventRecord, Store } from '../store/store.ts'

export interface DeliveryMode {
  /** Keep new deliveries in a queue until they are released. */
  paused: boolean
  /** Never deliver, as if the network had lost them. */
  dropped: boolean
  /** Deliver each this many times. */
  duplicate: number
  /** Release the queue backwards. */
  reverse: boolean
  /** Ignore this many responses, as if they had been lost: the event is delivered again. */
  lostAnswers: number
  /** Wait before the first attempt. */
  delayMs: number
  /** The event types that it applies to (`charge.*` is a group); null for all. */
  types: string[] | null
  /** Render snapshots for this API version; null for the endpoint's own. */
  apiVersion: string | null
}

export const normalMode: DeliveryMode = {
  paused: false,
  dropped: false,
  duplicate: 1,
  reverse: false,
  lostAnswers: 0,
  delayMs: 0,
  types: null,
  apiVersion: null,
}

const second = 1000
const minute = 60 * second

/** Stripe retries for three days; faster at the start here, so that a restarted service soon catches up. */
const defaultRetryDelaysMs: readonly number[] = [
  ...[1, 2, 4, 8, 16, 32].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * minute),
  ...Array.from({ length: 72 }, () => 60 * minute),
]

const answerTimeoutMs = 20 * second

export class Deliveries {
  mode: DeliveryMode = normalMode

  readonly #store: Store
  readonly #retryDelaysMs: readonly number[]
  readonly #byEvent = new Map<string, DeliveryRecord[]>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #inFlight = new Map<string, AbortController>()
  #waiters: { done: () => boolean; resolve: () => void }[] = []
  #stopped = false

  constructor(store: Store, retryDelaysMs: readonly number[] = defaultRetryDelaysMs) {
    this.#store = store
    this.#retryDelaysMs = retryDelaysMs
  }

  /** Schedules the deliveries left over from the last run. */
  start(): void {
    for (const delivery of this.#store.deliveries.values()) {
      this.#index(delivery)
      if (delivery.status === 'held') {
        delivery.status = 'pending'
        this.#store.deliveries.save(delivery.id)
      }
      if (delivery.status === 'pending') this.#schedule(delivery)
    }
  }

  /** Aborts attempts in flight; they stay pending and are repeated after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    for (const controller of this.#inFlight.values()) controller.abort()
    await this.#until(() => this.#inFlight.size === 0)
    for (const waiter of this.#waiters) waiter.resolve()
  }

  send(record: EventRecord): void {
    for (const endpoint of this.#store.endpoints.values()) {
      const { status, enabled_events: enabled } = endpoint.object
      if (status !== 'enabled') continue
      if (!enabled.some((one) => matchesType(one, record.snapshot.type))) continue
      this.#sendTo(endpoint, record)
    }
  }

  #sendTo(endpoint: EndpointRecord, record: EventRecord): void {
    const { types } = this.mode
    const applies = types === null || types.some((one) => matchesType(one, record.snapshot.type))
    const mode = applies ? this.mode : normalMode
    for (let copy = 0; copy < mode.duplicate; copy++) {
      const delivery: DeliveryRecord = {
        id: `dlv_${randomToken(16)}`,
        eventId: record.snapshot.id,
        endpointId: endpoint.object.id,
        status: mode.dropped ? 'dropped' : mode.paused ? 'held' : 'pending',
        attempts: [],
        nextAt: Date.now() + mode.delayMs,
        ...(mode.lostAnswers > 0 ? { lostAnswers: mode.lostAnswers } : {}),
      }
      this.#store.deliveries.set(delivery.id, delivery)
      this.#index(delivery)
      if (delivery.status === 'pending') this.#schedule(delivery)
    }
  }

  /** Sends an event again to every subscribed endpoint, as the dashboard's button does. */
  resend(record: EventRecord): void {
    this.send(record)
  }

  /** Releases held deliveries and returns their number. */
  release(): number {
    const held = [...this.#store.deliveries.values()].filter((one) => one.status === 'held')
    if (this.mode.reverse) held.reverse()
    for (const [index, delivery] of held.entries()) {
      delivery.status = 'pending'
      // Slightly staggered, so that they arrive in the requested order.
      delivery.nextAt = Date.now() + index * 15
      this.#store.deliveries.save(delivery.id)
      this.#schedule(delivery)
    }
    return held.length
  }

  /** Counts the endpoints that have not accepted this event yet. */
  pendingFor(eventId: string): number {
    const all = this.#byEvent.get(eventId) ?? []
    const taken = new Set(all.filter((one) => one.status === 'delivered').map((one) => one.endpointId))
    return new Set(all.map((one) => one.endpointId)).size - taken.size
  }

  /** Resolves once the first attempt of this event has ended or is not pending at every endpoint, or after `ms`. */
  async firstAttempt(eventId: string, ms: number): Promise<void> {
    const answered = () =>
      (this.#byEvent.get(eventId) ?? []).every((one) => one.attempts.length > 0 || one.status !== 'pending')
    await this.#until(answered, ms)
  }

  /** Resolves once no attempt is in flight or due now. Scheduled retries do not count. */
  async idle(): Promise<void> {
    const soon = (one: DeliveryRecord) => one.status === 'pending' && one.attempts.length === 0
    await this.#until(() => this.#inFlight.size === 0 && ![...this.#store.deliveries.values()].some(soon))
  }

  counts(): Record<DeliveryRecord['status'], number> {
    const counts = { pending: 0, held: 0, delivered: 0, failed: 0, dropped: 0 }
    for (const delivery of this.#store.deliveries.values()) counts[delivery.status] += 1
    return counts
  }

  attemptsFor(eventId: string): DeliveryRecord[] {
    return this.#byEvent.get(eventId) ?? []
  }

  #index(delivery: DeliveryRecord): void {
    const known = this.#byEvent.get(delivery.eventId)
    if (known === undefined) this.#byEvent.set(delivery.eventId, [delivery])
    else known.push(delivery)
  }

  #schedule(delivery: DeliveryRecord): void {
    if (this.#stopped) return
    const timer = setTimeout(
      () => {
        this.#timers.delete(delivery.id)
        void this.#attempt(delivery)
      },
      Math.max(0, delivery.nextAt - Date.now()),
    )
    timer.unref()
    this.#timers.set(delivery.id, timer)
  }

  async #attempt(delivery: DeliveryRecord): Promise<void> {
    const record = this.#store.events.get(delivery.eventId)
    const endpoint = this.#store.endpoints.get(delivery.endpointId)
    if (record === undefined || endpoint?.object.status !== 'enabled') {
      delivery.status = 'failed'
      this.#store.deliveries.save(delivery.id)
      this.#wake()
      return
    }
    const controller = new AbortController()
    this.#inFlight.set(delivery.id, controller)
    const payload = this.#payload(endpoint, record)
    const answer = await postOnce(endpoint.object.url, payload, signingSecrets(endpoint), controller.signal)
    this.#inFlight.delete(delivery.id)
    const isIgnored = (delivery.lostAnswers ?? 0) > delivery.attempts.length
    const received = isIgnored ? { status: null, error: 'The answer was lost, as a test has ordered.' } : answer
    if (!this.#stopped) this.#settle(delivery, received)
    this.#wake()
  }

  #settle(delivery: DeliveryRecord, answer: Answer): void {
    delivery.attempts.push({ at: Date.now(), ...answer })
    const pause = this.#retryDelaysMs[delivery.attempts.length - 1]
    if (answer.status !== null && answer.status >= 200 && answer.status < 300) {
      delivery.status = 'delivered'
    } else if (pause === undefined) {
      delivery.status = 'failed'
    } else {
      delivery.nextAt = Date.now() + pause
      this.#schedule(delivery)
    }
    this.#store.deliveries.save(delivery.id)
  }

  #payload(endpoint: EndpointRecord, record: EventRecord): string {
    const event =
      endpoint.payload === 'thin'
        ? record.thin
        : renderFor(this.mode.apiVersion ?? endpoint.object.api_version ?? latestApiVersion, {
            ...record.snapshot,
            pending_webhooks: this.pendingFor(record.snapshot.id),
          })
    // Indented, as Stripe sends it: a receiver that verifies a re-serialized body fails here as well.
    return JSON.stringify(event, null, 2)
  }

  async #until(done: () => boolean, ms?: number): Promise<void> {
    if (done()) return
    await new Promise<void>((resolve) => {
      this.#waiters.push({ done, resolve })
      if (ms !== undefined) setTimeout(resolve, ms).unref()
    })
  }

  #wake(): void {
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.done()) return true
      waiter.resolve()
      return false
    })
  }
}

/**
 * The `Stripe-Signature` header. Its timestamp is the machine's time, not the simulated one: receivers compare it with
 * their own clock.
 */
function signatureHeader(payload: string, secrets: readonly string[], seconds = Math.floor(Date.now() / 1000)): string {
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${seconds}.${payload}`).digest('hex')}`,
  )
  return [`t=${seconds}`, ...signatures].join(',')
}

/** The endpoint's secrets, including rolled ones that have not expired. */
function signingSecrets({ secrets, retiring = [] }: EndpointRecord): string[] {
  const now = Date.now()
  return [...secrets, ...retiring.filter((one) => one.until > now).map((one) => one.secret)]
}

/** `*` is every type; `charge.*` names a group. */
export function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}

interface Answer {
  status: number | null
  error: string | null
}

/** Each request on its own connection: a pooled one may belong to a receiver that has been restarted. */
function postOnce(url: string, payload: string, secrets: readonly string[], signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (error: unknown) => resolve({ status: null, error: String(error) })
    try {
      const send = url.startsWith('https:') ? httpsRequest : httpRequest
      const outgoing = send(
        url,
        {
          method: 'POST',
          agent: false,
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'content-length': Buffer.byteLength(payload),
            'user-agent': 'Stripe/1.0 (payment simulator)',
            'stripe-signature': signatureHeader(payload, secrets),
            accept: '*/*; q=0.5, application/xml',
            'cache-control': 'no-cache',
          },
        },
        (response) => {
          response.on('error', failed)
          response.on('end', () => resolve({ status: response.statusCode ?? null, error: null }))
          response.resume()
        },
      )
      outgoing.on('error', failed)
      outgoing.end(payload)
    } catch (error) {
      failed(error)
    }
  })
}
