import type { CloudEvent } from '@robokids/contracts/event'
import { streams } from '@robokids/contracts/events'
import {
  AckPolicy,
  connect,
  DeliverPolicy,
  Events,
  nanos,
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
  /** 1 for the first delivery. */
  attempt: number
  done(): void
  retry(delayMs: number): void
  giveUp(): void
}

/** The connection to the broker (NATS JetStream): the only place that knows which one it is. */
export interface Bus {
  /** Resolves when the broker has stored all of them; an id that it already has is dropped there. */
  publish(events: CloudEvent[]): Promise<void>
  /** Publishes any text, and again if it is called again: what a faulty producer would do. */
  publishUnchecked(subject: string, payload: string): Promise<void>
  /**
   * Delivers every event of `subject` to a durable consumer until it is stopped: several side by side and in no order
   * that may be relied on. `handle` answers each delivery and never rejects.
   */
  consume(
    durable: string,
    stream: string,
    subject: string,
    handle: (delivery: Delivery) => Promise<void>,
  ): { stop(): Promise<void> }
  /** Calls `see` with events as they pass, without any guarantee: for a screen that also asks from time to time. */
  watch(subjects: string[], see: (event: CloudEvent) => void): void
  connected(): boolean
  close(): Promise<void>
}

/** How many deliveries a consumer handles side by side: enough to fill a commit, few enough to leave the pool to requests. */
const atOnce = 8

const day = 24 * 60 * 60 * 1000

async function ensureStreams(connection: NatsConnection, replicas: number): Promise<void> {
  const manager = await connection.jetstreamManager()
  for (const { name, subjects, secret } of streams()) {
    const config = {
      name,
      subjects,
      storage: secret ? StorageType.Memory : StorageType.File,
      num_replicas: replicas,
      max_age: nanos(secret ? 10 * 60 * 1000 : 30 * day),
      duplicate_window: nanos(10 * 60 * 1000),
    }
    const known = await manager.streams.info(name).catch(() => undefined)
    if (known) await manager.streams.update(name, config)
    else await manager.streams.add(config)
  }
}

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
  await ensureStreams(connection, options.replicas)
  const jetstream = connection.jetstream({ timeout: 2_000 })

  let up = true
  /** Pulls that were sent before a reconnect are lost with the old connection: each loop is told to send a new one. */
  const pulls = new Set<ConsumerMessages>()
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) up = false
      if (status.type !== Events.Reconnect) continue
      up = true
      log.info('reconnected to the broker')
      for (const pull of pulls) pull.stop()
    }
  })()

  function deliver(message: JsMsg): Delivery {
    return {
      subject: message.subject,
      payload: message.string(),
      attempt: message.info.deliveryCount,
      done: () => message.ack(),
      retry: (delayMs) => message.nak(delayMs),
      // Without a reason: a server before 2.10 does not know one, and would deliver it again and again.
      giveUp: () => message.term(),
    }
  }

  async function pull(
    durable: string,
    stream: string,
    subject: string,
    handle: (delivery: Delivery) => Promise<void>,
    stopped: () => boolean,
  ) {
    const manager = await connection.jetstreamManager()
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(options.ackWaitMs),
      deliver_policy: DeliverPolicy.All,
      max_deliver: -1,
      max_ack_pending: 1000,
    }
    const known = await manager.consumers.info(stream, durable).catch(() => undefined)
    if (!known) await manager.consumers.add(stream, config)
    else if (known.config.ack_wait !== config.ack_wait) await manager.consumers.update(stream, durable, config)
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
    async publish(events) {
      await Promise.all(
        events.map((event) => jetstream.publish(event.type, JSON.stringify(event), { msgID: event.id })),
      )
    },
    async publishUnchecked(subject, payload) {
      await jetstream.publish(subject, payload)
    },
    consume(durable, stream, subject, handle) {
      let stopped = false
      let waiting: (() => void) | undefined
      const loop = (async () => {
        while (!stopped) {
          try {
            await pull(durable, stream, subject, handle, () => stopped)
          } catch (error) {
            if (stopped || connection.isClosed()) return
            log.warn({ durable, err: error }, 'consumer was interrupted and starts again')
            // After a broker came back without its data, the streams have to be made again.
            await ensureStreams(connection, options.replicas).catch(() => {})
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
    connected: () => up && !connection.isClosed(),
    async close() {
      await connection.drain().catch(() => connection.close())
    },
  }
}
