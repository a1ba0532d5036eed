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

/** One delivery of an event to a durable consumer. Exactly one of its methods is to be called. */
export interface Delivery {
  subject: string
  /** The envelope as it came off the wire. */
  payload: string
  /** 1 for the first delivery; counts those that were lost as well. */
  attempt: number
  /** The event's place in its stream. */
  sequence: number
  done(): void
  retry(delayMs: number): void
  giveUp(): void
}

/**
 * What became of an event that was to be published: its place in the stream, or why the broker does not have it, and
 * whether that is the event's own fault, so that it would be refused again.
 */
export type PublishOutcome = { sequence: number } | { error: Error; fault: 'event' | 'broker' }

/** A stream as it is now. */
export interface StreamState {
  /** When it was made, as the broker spells it: another stream of the same name has another. */
  created: string
  lastSequence: number
}

/** A durable consumer: who wants which events. */
export interface Subscription {
  durable: string
  stream: string
  subject: string
  /** Where the durable is made anew, it leaves out what the broker stored before this; left out, it gets all there is. */
  since?: Temporal.Instant | undefined
}

/** The connection to the broker (NATS JetStream): the only place that knows which one it is. */
export interface Bus {
  /** Publishes each of them, or tells why not; an id that the broker already has is dropped there. Never rejects. */
  publish(events: CloudEvent[]): Promise<PublishOutcome[]>
  /** Publishes any text, and again if it is called again: what a faulty producer would do. */
  publishUnchecked(subject: string, payload: string): Promise<void>
  /**
   * Delivers every event of `subject` to a durable consumer until it is stopped: several side by side and in no order
   * that may be relied on. `handle` answers each delivery and never rejects.
   */
  consume(subscription: Subscription, handle: (delivery: Delivery) => Promise<void>): { stop(): Promise<void> }
  /** @throws where the broker does not answer. */
  hasDurable(durable: string, stream: string): Promise<boolean>
  /** @throws where the broker does not answer. */
  streamState(stream: string): Promise<StreamState>
  /**
   * Removes the subjects of all streams that this version does not know. Nothing else ever does: a process of an older
   * version would take away what a newer one publishes.
   * @returns the subjects that were removed.
   */
  pruneStreams(): Promise<string[]>
  /** Counts how often the connection was made: what was known of the broker before may not hold any more. */
  epoch(): number
  /** Calls `see` with events as they pass, without any guarantee: for a screen that also asks from time to time. */
  watch(subjects: string[], see: (event: CloudEvent) => void): void
  connected(): boolean
  close(): Promise<void>
}

/** How many deliveries a consumer handles side by side: enough to fill a commit, few enough to leave the pool to requests. */
const atOnce = 8

const day = 24 * 60 * 60 * 1000

/** How long the broker keeps events. */
export const streamDays = 30

/** Makes the streams that are missing, and adds the subjects that are missing in the others. */
async function ensureStreams(connection: NatsConnection, replicas: number): Promise<void> {
  const manager = await connection.jetstreamManager()
  for (const { name, subjects, secret } of streams()) {
    const known = await manager.streams.info(name).catch(() => undefined)
    const config = {
      name,
      // Those of a newer version stay, whose processes may be running beside this one.
      subjects: [...new Set([...(known?.config.subjects ?? []), ...subjects])],
      storage: secret ? StorageType.Memory : StorageType.File,
      num_replicas: replicas,
      max_age: nanos(secret ? 10 * 60 * 1000 : streamDays * day),
      duplicate_window: nanos(10 * 60 * 1000),
    }
    if (known) await manager.streams.update(name, config)
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
  /** Copies of each stream. */
  replicas: number
  /** The process's name, for the broker's own lists. */
  name: string
  /** After how long a delivery that is not answered is made again. */
  ackWaitMs: number
  log: Logger
}

/**
 * Connects to the broker and makes sure that the streams of all services exist. Waits for a broker that is not there
 * yet, and reconnects for as long as the process runs.
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
  let ensuring: Promise<void> | undefined
  /** Once for all who want it at the same time. */
  function ensure(): Promise<void> {
    ensuring ??= ensureStreams(connection, options.replicas).finally(() => (ensuring = undefined))
    return ensuring
  }
  await ensure()
  const jetstream = connection.jetstream({ timeout: 2_000 })

  let up = true
  let epoch = 1
  /** Pulls that were sent before a reconnect are lost with the old connection: each loop is told to send a new one. */
  const pulls = new Set<ConsumerMessages>()
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) up = false
      if (status.type !== Events.Reconnect) continue
      up = true
      epoch += 1
      log.info('reconnected to the broker')
      for (const pull of pulls) pull.stop()
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
      // Without a reason: a server before 2.10 does not know one, and would deliver it again and again.
      giveUp: () => message.term(),
    }
  }

  /** Whether the broker is well and no stream takes the subject. */
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
      // A stream that was lost, or never had the subject, is made right before the next try.
      const homeless = code === noResponders && (await isUnknownSubject(event.type))
      if (homeless) await ensure().catch(() => {})
      const fault = homeless || eventFaults.has(code) || refusal?.err_code === exceedsMaximum ? 'event' : 'broker'
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
    const known = await manager.consumers.info(stream, durable).catch(() => undefined)
    if (!known) await manager.consumers.add(stream, config)
    else if (known.config.ack_wait !== config.ack_wait)
      await manager.consumers.update(stream, durable, { ...known.config, ack_wait: config.ack_wait })
    const consumer = await jetstream.consumers.get(stream, durable)
    while (!stopped()) {
      const messages = await consumer.fetch({ max_messages: atOnce, expires: 10_000, idle_heartbeat: 2_000 })
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
            log.warn({ durable: subscription.durable, err: error }, 'consumer was interrupted and starts again')
            // After a broker came back without its data, the streams have to be made again.
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
    watch(subjects, see) {
      for (const subject of subjects) {
        connection.subscribe(subject, {
          callback(error, message) {
            if (error) return
            try {
              see(JSON.parse(message.string()) as CloudEvent)
            } catch (cause) {
              log.debug({ err: cause, subject }, 'an event that was watched could not be read')
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
    connected: () => up && !connection.isClosed(),
    epoch: () => epoch,
    async close() {
      await connection.drain().catch(() => connection.close())
    },
  }
}
