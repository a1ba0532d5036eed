import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
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
  type ConsumerMessages,
  type JetStreamManager,
  type JsMsg,
  type NatsConnection,
} from 'nats'
import { ConfigError, type BaseConfig } from './config.ts'
import { claimsSubject, copiesSubject, ensureClaims, ensureStreams, type Claims, type StreamLimits } from './streams.ts'
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
  /**
   * Called once the broker is reached: if the durable has to be created, it skips events stored before the returned time; if
   * undefined, it receives all stored events. After an error it is called again.
   */
  since?: () => Promise<Temporal.Instant | undefined>
}

/**
 * The connection to the broker, which may be away, also at the start. No module but this one and streams.ts knows that it is
 * NATS JetStream.
 */
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
  /** Returns how many events a durable has yet to handle. @throws if the broker does not respond. */
  pending(durable: string, stream: string): Promise<number>
  /** @throws if the broker does not respond. */
  streamState(stream: string): Promise<StreamState>
  /** Returns the number of times the connection was established. After a change, the state of the broker may be different. */
  epoch(): number
  /** Calls `listener` whenever the connection was established again. */
  onReconnect(listener: () => void): void
  /** Calls `onEvent` with new events, without any delivery guarantee: for a page that also polls. */
  watch(subjects: string[], onEvent: (event: CloudEvent) => void): void
  /**
   * Sends a message to the other processes of this service, without any delivery guarantee, and none while the broker is away.
   * @param topic letters, digits and dashes
   */
  notifyCopies(topic: string, message: unknown): void
  /** Calls `onMessage` with the messages of the other processes of this service. */
  watchCopies(topic: string, onMessage: (message: unknown) => void): void
  /**
   * Claims a key for the first caller of all processes of this service.
   * @param key letters, digits and dashes
   * @returns false if it was claimed before.
   * @throws if the broker does not respond.
   */
  claim(claims: Claims, key: string): Promise<boolean>
  connected(): boolean
  close(): Promise<void>
}

/** How many deliveries a consumer handles concurrently: enough to fill a commit, few enough to leave connections for requests. */
const concurrency = 8

const eventFaults = new Set<string>([
  ErrorCode.BadPayload,
  ErrorCode.BadSubject,
  ErrorCode.InvalidPayload,
  ErrorCode.MaxPayloadExceeded,
])
const noResponders: string = ErrorCode.NoResponders
const refused: string = ErrorCode.AuthorizationViolation
/** JSStreamMessageExceedsMaximumErr */
const exceedsMaximum = 10_054
/** JSStreamWrongLastSequenceErrF */
const keyExists = 10_071
/** How long a request waits for a claim: a thousand times as long as it takes. */
const claimTimeoutMs = 1_000

// The broker's answer about its JetStream is not needed, and a right fewer is.
const managerOf = (live: NatsConnection) => live.jetstreamManager({ checkAPI: false })
const jetstreamOf = (live: NatsConnection) => live.jetstream({ timeout: 2_000 })

/** How to reach the broker, and as whom. */
export interface BrokerAccess {
  /** One server, or the comma-separated servers of a cluster. */
  url: string
  /** Decides what may be published and consumed: deploy/nats/users.conf. */
  user: string
  password: string
  /** The process's name in the broker's connection list. */
  name: string
}

export interface BusOptions extends BrokerAccess {
  /** The limits of the streams that this user creates. */
  limits: StreamLimits
  /** How long the broker waits for an acknowledgment before it redelivers. */
  ackWaitMs: number
  log: Logger
}

/** Returns the broker's settings of a process. @param name the process's name */
export function busOptions(config: BaseConfig, name: string, log: Logger): BusOptions {
  return {
    url: config.NATS_URL,
    user: config.NATS_USER ?? name,
    password: config.NATS_PASSWORD,
    name,
    limits: {
      replicas: config.NATS_REPLICAS,
      days: config.NATS_STREAM_DAYS,
      megabytes: config.NATS_STREAM_MEGABYTES,
    },
    ackWaitMs: config.CONSUMER_ACK_WAIT_MS,
    log,
  }
}

/** Connects now, or throws. Once connected, it reconnects for as long as the process runs. */
function connectOnce({ url, user, password, name }: BrokerAccess): Promise<NatsConnection> {
  return connect({
    servers: url.split(','),
    name,
    user,
    pass: password,
    // Nobody else may subscribe to it, so that nobody else reads what the broker answers.
    inboxPrefix: `_INBOX.${user}`,
    timeout: 5_000,
    maxReconnectAttempts: -1,
    // The password may be changed at the broker first and in this process's settings later.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: 10_000,
    maxPingOut: 2,
  })
}

const differenceText = (difference: string) => `${difference}: an operator can change it (npm run admin -- streams)`
const isRefusal = (error: unknown) => error instanceof NatsError && error.isAuthError()
const refusalText = ({ user }: BrokerAccess) =>
  `NATS_USER, NATS_PASSWORD: the broker does not admit the user ${user} with this password`

/**
 * Runs `work` on a connection of its own, for operators and for what prepares a roll-out.
 * @throws ConfigError if the broker refuses the user, or any error of an unreachable broker
 */
export async function withBroker<Result>(
  access: BrokerAccess,
  work: (manager: JetStreamManager) => Promise<Result>,
): Promise<Result> {
  const connection = await connectOnce(access).catch((error: unknown) => {
    throw isRefusal(error) ? new ConfigError(`These settings are wrong:\n  ${refusalText(access)}`) : error
  })
  try {
    return await work(await connection.jetstreamManager({ checkAPI: false }))
  } finally {
    await connection.close()
  }
}

/** How long a preparation waits for a broker that is starting. */
const maxPrepareMs = 60_000

/**
 * Ensures the streams of a user before a roll-out: the operator also gives existing ones the subjects of this version.
 * @throws ConfigError if the broker refuses the user, or any error of a broker that is not reached within a minute
 */
export async function prepareStreams(options: BusOptions): Promise<void> {
  const giveUpAt = performance.now() + maxPrepareMs
  for (;;) {
    try {
      const left = await withBroker(options, (manager) => ensureStreams(manager, options.user, options.limits))
      for (const difference of left) options.log.warn(differenceText(difference))
      return
    } catch (error) {
      if (error instanceof ConfigError || performance.now() > giveUpAt) throw error
      options.log.warn({ err: error }, 'waiting for the broker')
      await wait(lastRetryMs)
    }
  }
}

/** How long the start waits for the broker before it continues without. */
const firstConnectMs = 2_000
const firstRetryMs = 250
const lastRetryMs = 2_000

/**
 * Connects to the broker, ensures that the streams of this user exist, and reconnects for as long as the process runs. If the
 * broker is not reached within two seconds, the connection is made later, in the background: events wait in the outbox.
 * @throws ConfigError if the broker refuses the user
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { log } = options
  let connection: NatsConnection | undefined
  let isConnected = false
  let epoch = 0
  const closing = new AbortController()
  /** Resolves with the first connection. */
  const first = Promise.withResolvers<NatsConnection>()
  /** Pull requests are lost when the connection is: after a reconnect, each loop has to send a new one. */
  const pulls = new Set<ConsumerMessages>()
  /** What the relay and the pages wait for. */
  const watches: (() => void)[] = []

  const reconnected: (() => void)[] = []
  let pendingEnsure: Promise<void> | undefined
  /** Concurrent calls share one run. */
  function ensure(): Promise<void> {
    pendingEnsure ??= (async () => {
      for (const left of await ensureStreams(await managerOf(await first.promise), options.user, options.limits))
        log.warn(differenceText(left))
    })().finally(() => (pendingEnsure = undefined))
    return pendingEnsure
  }
  /** Distinguishes its own messages. */
  const processId = randomUUID()

  async function follow(live: NatsConnection): Promise<void> {
    for await (const status of live.status()) {
      if (status.type === Events.Disconnect) isConnected = false
      if (status.type === Events.Error && status.permissionContext)
        log.error({ right: status.permissionContext }, 'the broker refuses what this process asks for')
      else if (status.type === Events.Error && status.data === refused) log.error(refusalText(options))
      if (status.type !== Events.Reconnect) continue
      isConnected = true
      epoch += 1
      log.info('reconnected to the broker')
      for (const pull of pulls) pull.stop()
      for (const listener of reconnected) listener()
      // The broker has lost what it kept in memory.
      void tryToEnsure()
    }
  }

  /** Without its streams, the relay and the consumers ensure them again. */
  const tryToEnsure = () =>
    ensure().catch((error: unknown) => log.warn({ err: error }, 'the streams could not be ensured yet'))

  async function begin(live: NatsConnection): Promise<void> {
    connection = live
    isConnected = true
    epoch = 1
    void follow(live)
    for (const subscribe of watches) subscribe()
    first.resolve(live)
    for (const listener of reconnected) listener()
    await tryToEnsure()
  }

  /** @throws ConfigError if the broker refuses the user */
  async function tryToConnect(): Promise<boolean> {
    try {
      const live = await connectOnce(options)
      if (closing.signal.aborted) await live.close()
      else await begin(live)
      return true
    } catch (error) {
      if (isRefusal(error)) throw new ConfigError(`These settings are wrong:\n  ${refusalText(options)}`)
      log.debug({ err: error }, 'the broker is not reached')
      return false
    }
  }

  async function connectLater(): Promise<void> {
    for (let pause = firstRetryMs; !closing.signal.aborted; pause = Math.min(pause * 2, lastRetryMs)) {
      await wait(pause, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      const isDone = await tryToConnect().catch((error: unknown) => {
        log.error(error instanceof Error ? error.message : 'the broker refuses this process')
        return false
      })
      if (isDone && !closing.signal.aborted) log.info('connected to the broker')
      if (isDone) return
    }
  }

  const giveUpAt = performance.now() + firstConnectMs
  while (!(await tryToConnect())) {
    if (performance.now() + firstRetryMs > giveUpAt) {
      log.warn('the broker is away: starting without it, and connecting in the background')
      void connectLater()
      break
    }
    await wait(firstRetryMs)
  }

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

  /** Returns true if the broker responds and the event's stream does not have its subject. */
  async function isUnknownSubject(live: NatsConnection, { source, type }: CloudEvent): Promise<boolean> {
    const own = streams().filter(({ producer }) => source === `/${producer}`)
    try {
      const manager = await managerOf(live)
      const known = await Promise.all(own.map(async ({ name }) => (await manager.streams.info(name)).config.subjects))
      return !known.flat().includes(type)
    } catch (error) {
      return error instanceof NatsError && error.api_error?.code === 404
    }
  }

  async function publishOne(event: CloudEvent): Promise<PublishOutcome> {
    const live = connection
    // Sent later by the connection itself, it could overtake what is published after it.
    if (!live || !isConnected) return { error: new Error('The broker is away.'), fault: 'broker' }
    try {
      const { seq } = await jetstreamOf(live).publish(event.type, JSON.stringify(event), { msgID: event.id })
      return { sequence: seq }
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      const { code = '', api_error: refusal } = error instanceof NatsError ? error : {}
      // A stream that was lost or lacks the subject is repaired before the next attempt.
      const isUnroutable = code === noResponders && (await isUnknownSubject(live, event))
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
    const live = await first.promise
    const manager = await managerOf(live)
    const start = await since?.()
    const config = {
      durable_name: durable,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(options.ackWaitMs),
      ...(start
        ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: start.toString() }
        : { deliver_policy: DeliverPolicy.All }),
      max_deliver: -1,
      max_ack_pending: 1000,
    }
    const existing = await manager.consumers.info(stream, durable).catch(() => undefined)
    if (!existing) await manager.consumers.add(stream, config)
    else if (existing.config.ack_wait !== config.ack_wait)
      await manager.consumers.update(stream, durable, { ...existing.config, ack_wait: config.ack_wait })
    const consumer = await jetstreamOf(live).consumers.get(stream, durable)
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
      await jetstreamOf(await first.promise).publish(subject, payload)
    },
    consume(subscription, handle) {
      let stopped = false
      let waiting: (() => void) | undefined
      const loop = (async () => {
        while (!stopped) {
          try {
            await pull(subscription, handle, () => stopped)
          } catch (error) {
            if (stopped || closing.signal.aborted) return
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
          // A loop that waits for the first connection has nothing to end.
          if (connection) await loop
        },
      }
    },
    watch(subjects, onEvent) {
      const subscribe = () => {
        for (const subject of subjects) {
          connection?.subscribe(subject, {
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
      }
      watches.push(subscribe)
      if (connection) subscribe()
    },
    notifyCopies(topic, message) {
      // Otherwise the client would keep it until the broker is back.
      if (!connection || !isConnected || connection.isClosed() || connection.isDraining()) return
      connection.publish(copiesSubject(options.name, topic), JSON.stringify({ from: processId, message }))
    },
    watchCopies(topic, onMessage) {
      const subscribe = () => {
        connection?.subscribe(copiesSubject(options.name, topic), {
          callback(error, received) {
            if (error) return
            try {
              const { from, message } = JSON.parse(received.string()) as { from?: unknown; message?: unknown }
              if (from !== processId) onMessage(message)
            } catch (cause) {
              log.debug({ err: cause, topic }, 'a message of another process could not be used')
            }
          },
        })
      }
      watches.push(subscribe)
      if (connection) subscribe()
    },
    async claim(claims, key) {
      const live = connection
      if (!live || !isConnected) throw new Error('The broker is away.')
      const subject = claimsSubject(options.name, claims, key)
      const jetstream = live.jetstream({ timeout: claimTimeoutMs })
      // The broker rejects it if there is a message with this subject already.
      const create = () => jetstream.publish(subject, '', { expect: { lastSubjectSequence: 0 } })
      try {
        await create().catch(async (error: unknown) => {
          if (!(error instanceof NatsError) || error.code !== noResponders) throw error
          // The first claim, or the broker has lost the keys.
          await ensureClaims(await managerOf(live), options.name, claims, options.limits)
          await create()
        })
        return true
      } catch (error) {
        if (error instanceof NatsError && error.api_error?.err_code === keyExists) return false
        throw error
      }
    },
    async hasDurable(durable, stream) {
      const manager = await managerOf(await first.promise)
      try {
        await manager.consumers.info(stream, durable)
        return true
      } catch (error) {
        if (error instanceof NatsError && error.api_error?.code === 404) return false
        throw error
      }
    },
    async pending(durable, stream) {
      const manager = await managerOf(await first.promise)
      const { num_pending: undelivered, num_ack_pending: inFlight } = await manager.consumers.info(stream, durable)
      return undelivered + inFlight
    },
    async streamState(stream) {
      const manager = await managerOf(await first.promise)
      const info = () => manager.streams.info(stream)
      const { created, state } = await info().catch(() => ensure().then(info))
      return { created, lastSequence: state.last_seq }
    },
    connected: () => isConnected && connection?.isClosed() === false,
    epoch: () => epoch,
    onReconnect: (listener) => void reconnected.push(listener),
    async close() {
      closing.abort()
      await connection?.drain().catch(() => connection?.close())
    },
  }
}
