import type { CloudEvent } from '@robokids/contracts/event'
import { streams } from '@robokids/contracts/events'
import {
  AckPolicy,
  connect,
  DeliverPolicy,
  ErrorCode,
  Events,
  nanos,
  NatsError,
  StorageType,
  type ConsumerMessages,
  type JsMsg,
  type NatsConnection,
} from 'nats'
import type { Logger } from './telemetry.ts'

/** One delivery of an event to a durable consumer. Exactly one of its methods must be called. */
export interface Delivery {
  subject: string
  /** The unparsed envelope. */
  payload: string
  /** 1 for the first delivery; lost deliveries count too. */
  attempt: number
  /** The event's sequence number in its stream. */
  sequence: number
  done(): void
  retry(delayMs: number): void
  terminate(): void
}

/**
 * The outcome of publishing an event: its sequence number in the stream, or the error. `fault` is `event` if the event itself
 * is invalid and would be rejected again, otherwise `broker`.
 */
export type PublishOutcome = { sequence: number } | { error: Error; fault: 'event' | 'broker' }

/** The current state of a stream. */
export interface StreamState {
  /** Its creation time in the broker's format, which tells it from an earlier stream of the same name. */
  created: string
  lastSequence: number
}

/** A durable consumer and its events. */
export interface Subscription {
  durable: string
  stream: string
  subject: string
  /** If the durable has to be created, it skips events stored before this time; if omitted, it receives all stored events. */
  since?: Temporal.Instant | undefined
}

/** The connection to the broker. No other module knows that it is NATS JetStream. */
export interface Bus {
  /** Publishes the events and returns an outcome for each. The broker drops an id that it already has. Never rejects. */
  publish(events: CloudEvent[]): Promise<PublishOutcome[]>
  /** Publishes any text, without deduplication: lets tests act as a faulty producer. */
  publishUnchecked(subject: string, payload: string): Promise<void>
  /**
   * Delivers every event of `subject` to a durable consumer until it is stopped, concurrently and in no guaranteed order.
   * `handle` must call a method of each delivery and never reject.
   */
  consume(subscription: Subscription, handle: (delivery: Delivery) => Promise<void>): { stop(): Promise<void> }
  /** @throws if the broker does not respond. */
  hasDurable(durable: string, stream: string): Promise<boolean>
  /** @throws if the broker does not respond. */
  streamState(stream: string): Promise<StreamState>
  /**
   * Removes the subjects that this version does not know from all streams. Only an operator does this: during a roll-out, an
   * older process would remove the subjects of a newer one.
   * @returns the removed subjects.
   */
  pruneStreams(): Promise<string[]>
  /** Returns the number of times the connection was established. After a change, the state of the broker may be different. */
  epoch(): number
  /** Calls `listener` whenever the connection was established again. */
  onReconnect(listener: () => void): void
  /** Calls `onEvent` with new events, without any delivery guarantee: for a page that also polls. */
  watch(subjects: string[], onEvent: (event: CloudEvent) => void): void
  connected(): boolean
  close(): Promise<void>
}

/** How many deliveries a consumer handles concurrently: enough to fill a commit, few enough to leave connections for requests. */
const concurrency = 8

const day = 24 * 60 * 60 * 1000

/** How long the broker keeps events. */
export const streamDays = 30

/** Creates missing streams and adds missing subjects to existing ones. */
async function ensureStreams(connection: NatsConnection, replicas: number): Promise<void> {
  const manager = await connection.jetstreamManager()
  for (const { name, subjects, secret } of streams()) {
    const existing = await manager.streams.info(name).catch(() => undefined)
    const config = {
      name,
      // Keep the subjects of a newer version, which may be running during a roll-out.
      subjects: [...new Set([...(existing?.config.subjects ?? []), ...subjects])],
      storage: secret ? StorageType.Memory : StorageType.File,
      num_replicas: replicas,
      max_age: nanos(secret ? 10 * 60 * 1000 : streamDays * day),
      duplicate_window: nanos(10 * 60 * 1000),
    }
    if (existing) await manager.streams.update(name, config)
    else await manager.streams.add(config)
  }
}

const eventFaults = new Set<string>([
  ErrorCode.BadPayload,
  ErrorCode.BadSubject,
  ErrorCode.InvalidPayload,
  ErrorCode.MaxPayloadExceeded,
])
const noResponders: string = ErrorCode.NoResponders
/** JSStreamMessageExceedsMaximumErr */
const exceedsMaximum = 10_054

export interface BusOptions {
  url: string
  /** The number of replicas per stream. */
  replicas: number
  /** Whether to create missing streams and subjects now (default: true). What is lost later is created again in any case. */
  ensureStreams?: boolean
  /** The process's name in the broker's connection list. */
  name: string
  /** How long the broker waits for an acknowledgment before it redelivers. */
  ackWaitMs: number
  log: Logger
}

/**
 * Connects to the broker and ensures that the streams of all services exist. Waits if the broker is not available yet, and
 * reconnects for as long as the process runs.
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { log } = options
  const connection = await connect({
    servers: options.url.split(','),
    name: options.name,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: 10_000,
    maxPingOut: 2,
  })
  let pendingEnsure: Promise<void> | undefined
  /** Concurrent calls share one run. */
  function ensure(): Promise<void> {
    pendingEnsure ??= ensureStreams(connection, options.replicas).finally(() => (pendingEnsure = undefined))
    return pendingEnsure
  }
  if (options.ensureStreams ?? true) await ensure()
  const jetstream = connection.jetstream({ timeout: 2_000 })

  let isConnected = true
  let epoch = 1
  /** Pull requests are lost when the connection is: after a reconnect, each loop has to send a new one. */
  const pulls = new Set<ConsumerMessages>()
  const reconnected: (() => void)[] = []
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) isConnected = false
      if (status.type !== Events.Reconnect) continue
      isConnected = true
      epoch += 1
      log.info('reconnected to the broker')
      for (const pull of pulls) pull.stop()
      for (const listener of reconnected) listener()
    }
  })()

  function deliver(message: JsMsg): Delivery {
    return {
      subject: message.subject,
      payload: message.string(),
      attempt: message.info.deliveryCount,
      sequence: message.seq,
      done: () => message.ack(),
      retry: (delayMs) => message.nak(delayMs),
      // Without a reason: servers before 2.10 do not support one and would redeliver the event forever.
      terminate: () => message.term(),
    }
  }

  /** Returns true if the broker responds and no stream has the subject. */
  async function isUnknownSubject(subject: string): Promise<boolean> {
    try {
      const manager = await connection.jetstreamManager()
      await manager.streams.find(subject)
      return false
    } catch (error) {
      return error instanceof Error && error.message.includes('no stream matches subject')
    }
  }

  async function publishOne(event: CloudEvent): Promise<PublishOutcome> {
    try {
      const { seq } = await jetstream.publish(event.type, JSON.stringify(event), { msgID: event.id })
      return { sequence: seq }
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      const { code = '', api_error: refusal } = error instanceof NatsError ? error : {}
      // A stream that was lost or lacks the subject is repaired before the next attempt.
      const isUnroutable = code === noResponders && (await isUnknownSubject(event.type))
      if (isUnroutable) await ensure().catch(() => {})
      const fault = isUnroutable || eventFaults.has(code) || refusal?.err_code === exceedsMaximum ? 'event' : 'broker'
      return { error, fault }
    }
  }

  async function pull(
    { durable, stream, subject, since }: Subscription,
    handle: (delivery: Delivery) => Promise<void>,
    stopped: () => boolean,
  ) {
    const manager = await connection.jetstreamManager()
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(options.ackWaitMs),
      ...(since
        ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: since.toString() }
        : { deliver_policy: DeliverPolicy.All }),
      max_deliver: -1,
      max_ack_pending: 1000,
    }
    const existing = await manager.consumers.info(stream, durable).catch(() => undefined)
    if (!existing) await manager.consumers.add(stream, config)
    else if (existing.config.ack_wait !== config.ack_wait)
      await manager.consumers.update(stream, durable, { ...existing.config, ack_wait: config.ack_wait })
    const consumer = await jetstream.consumers.get(stream, durable)
    while (!stopped()) {
      const messages = await consumer.fetch({ max_messages: concurrency, expires: 10_000, idle_heartbeat: 2_000 })
      pulls.add(messages)
      const handling: Promise<void>[] = []
      try {
        for await (const message of messages) handling.push(handle(deliver(message)))
      } finally {
        pulls.delete(messages)
        await Promise.all(handling)
      }
    }
  }

  return {
    publish: (events) => Promise.all(events.map(publishOne)),
    async publishUnchecked(subject, payload) {
      await jetstream.publish(subject, payload)
    },
    consume(subscription, handle) {
      let stopped = false
      let waiting: (() => void) | undefined
      const loop = (async () => {
        while (!stopped) {
          try {
            await pull(subscription, handle, () => stopped)
          } catch (error) {
            if (stopped || connection.isClosed()) return
            log.warn({ durable: subscription.durable, err: error }, 'consumer was interrupted and restarts')
            // If the broker restarted without its data, the streams have to be created again.
            await ensure().catch(() => {})
            await new Promise<void>((resolve) => {
              waiting = resolve
              setTimeout(resolve, 500)
            })
          }
        }
      })()
      return {
        async stop() {
          stopped = true
          waiting?.()
          for (const open of pulls) open.stop()
          await loop
        },
      }
    },
    watch(subjects, onEvent) {
      for (const subject of subjects) {
        connection.subscribe(subject, {
          callback(error, message) {
            if (error) return
            try {
              onEvent(JSON.parse(message.string()) as CloudEvent)
            } catch (cause) {
              log.debug({ err: cause, subject }, 'a watched event could not be parsed')
            }
          },
        })
      }
    },
    async hasDurable(durable, stream) {
      const manager = await connection.jetstreamManager()
      try {
        await manager.consumers.info(stream, durable)
        return true
      } catch (error) {
        if (error instanceof NatsError && error.api_error?.code === 404) return false
        throw error
      }
    },
    async streamState(stream) {
      const manager = await connection.jetstreamManager()
      const info = () => manager.streams.info(stream)
      const { created, state } = await info().catch(() => ensure().then(info))
      return { created, lastSequence: state.last_seq }
    },
    async pruneStreams() {
      const manager = await connection.jetstreamManager()
      const removed: string[] = []
      for (const { name, subjects } of streams()) {
        const { config } = await manager.streams.info(name)
        removed.push(...config.subjects.filter((subject) => !subjects.includes(subject)))
        await manager.streams.update(name, { ...config, subjects })
      }
      return removed
    },
    connected: () => isConnected && !connection.isClosed(),
    epoch: () => epoch,
    onReconnect: (listener) => void reconnected.push(listener),
    async close() {
      await connection.drain().catch(() => connection.close())
    },
  }
}
