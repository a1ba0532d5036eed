import { setTimeout as wait } from 'node:timers/promises'
import { pino, type DestinationStream, type LogFn, type Logger } from 'pino'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { traceFields } from './trace.ts'

export type { Logger }

const maskPatterns: [RegExp, string][] = [
  // A query can contain a code, a token or an address; SQL's operator `?` is followed by a space.
  [/\?[\w%.~-]+=[^\s"'`)]*/g, '?[query]'],
  [/[^\s@<>"'(),:;]+@[\w.-]+\.\w+/g, '[address]'],
  // A truncated id is enough to find the record, but a whole id would give access to a family's pages.
  [/\b([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '$1…'],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[token]'],
  [/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [token]'],
  [/\+\d[\d ().-]{7,}\d/g, '[phone]'],
]
/** Ids that are logged whole: they give access to nothing, and error reports name them. */
const unmaskedIds = new Set(['requestId', 'eventId', 'traceId', 'spanId', 'parentSpanId'])
/** Names of fields that are not logged at any depth: personal data and secrets. */
const redactedFields =
  /^(e-?mails?|recipient|phone(number)?|(given|family|guardian|child|recipient)-?names?|children|address(line\d)?|street|city|zip-?code|ip-?address|authorization|cookies?|set-cookie|password|secret|(access|id|refresh)?-?token|query)$/i
/** A one-time code; the codes of errors are words. */
const oneTimeCode = /^\d{4,10}$/

/** Masks text for the log: addresses, phone numbers, tokens and queries are removed, and ids truncated. */
function maskForLog(text: string): string {
  return maskPatterns.reduce((masked, [pattern, replacement]) => masked.replaceAll(pattern, replacement), text)
}

/** Fields of errors that can contain personal data. */
const personalFields = new Set(['params', 'detail', 'where', 'data', 'body', 'input', 'issues', 'details'])

/**
 * Returns an error for the log. Database errors contain the values of the statement or row: personal data, and sealed or hashed
 * secrets. They are removed.
 */
export function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { message: originalMessage, stack: originalStack, ...rest } = pino.stdSerializers.err(error)
  const safeFields = Object.fromEntries(
    Object.entries(rest)
      .filter(([name]) => !personalFields.has(name))
      .map(([name, value]) => [name, typeof value === 'string' ? maskForLog(value) : value]),
  )
  let [message, stack] = [originalMessage, originalStack]
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (!('params' in cause && 'query' in cause)) continue
    const statement = `Failed query: ${String(cause.query)}`
    message = message.replaceAll(cause.message, () => statement)
    stack = stack.replaceAll(cause.message, () => statement)
  }
  return { ...safeFields, message: maskForLog(message), stack: maskForLog(stack) }
}

function maskField(name: string, value: unknown, depth = 0): unknown {
  if (redactedFields.test(name)) return '[redacted]'
  if (typeof value === 'string') {
    if (/code$/i.test(name) && oneTimeCode.test(value)) return '[redacted]'
    return unmaskedIds.has(name) ? value : maskForLog(value)
  }
  if (Array.isArray(value)) return value.map((item: unknown) => maskField('', item, depth + 1))
  // Errors have their own serializer.
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth === 4) return '[deep]'
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskField(key, item, depth + 1)]))
}

/**
 * Creates a JSON logger. Each line has the service and, inside a trace, its ids. Never log personal data: what is masked here
 * is a second line of defence.
 * @param destination default: standard output.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service },
    mixin: traceFields,
    serializers: { err: errorForLog },
    formatters: {
      log: (line: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(line).map(([name, value]) => [name, maskField(name, value)])),
    },
    hooks: {
      logMethod(parts: Parameters<LogFn>, write: LogFn) {
        const masked = parts.map((part: unknown) => (typeof part === 'string' ? maskForLog(part) : part))
        write.apply(this as unknown as Logger, masked as Parameters<LogFn>)
      },
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Gauges whose values are read from a database or a broker. */
export interface Measurement {
  /** For how long a reading is served: several scrapers, or many requests, share it. */
  everyMs: number
  /** Reads the values and sets the gauges. */
  read: () => Promise<void>
}

/** How long a scrape waits for readings. */
const readingTimeoutMs = 2_000

/** Creates the Prometheus metrics of a process. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const measurements: (() => Promise<void>)[] = []
  const readingsFailed = new Counter({
    name: 'metrics_readings_failed_total',
    help: 'Readings of metrics from the database or the broker that failed; their previous values are served',
    registers,
  })
  return {
    registry,
    /** Adds gauges to be read before each scrape, at most once in `everyMs`. */
    measure({ everyMs, read }: Measurement): void {
      let reading: Promise<void> | undefined
      let dueAt = 0
      measurements.push(async () => {
        if (performance.now() < dueAt) return
        reading ??= read()
          .catch(() => readingsFailed.inc())
          .finally(() => {
            reading = undefined
            dueAt = performance.now() + everyMs
          })
        await reading
      })
    },
    /** Returns all metrics as text. Values that cannot be read in time are those of the last reading. */
    async expose(): Promise<string> {
      const read = Promise.all(measurements.map((measurement) => measurement()))
      await Promise.race([read, wait(readingTimeoutMs, undefined, { ref: false })])
      return registry.metrics()
    },
    httpDuration: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Response time of a request',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    outboxPublished: new Counter({
      name: 'outbox_published_total',
      help: 'Events published',
      labelNames: ['type'],
      registers,
    }),
    outboxPending: new Gauge({ name: 'outbox_pending', help: 'Events to be published', registers }),
    outboxOldest: new Gauge({
      name: 'outbox_oldest_seconds',
      help: 'Age of the oldest event to be published',
      registers,
    }),
    outboxSetAside: new Gauge({
      name: 'outbox_set_aside',
      help: 'Events that the broker rejected too often and that only an operator can retry',
      registers,
    }),
    deadLetters: new Gauge({ name: 'dead_letters', help: 'Dead letters that were not replayed', registers }),
    eventsHandled: new Counter({
      name: 'events_handled_total',
      help: 'Deliveries by handler and outcome (done, duplicate, retry, dead, or before the handler existed)',
      labelNames: ['handler', 'outcome'],
      registers,
    }),
    wrongGuesses: new Counter({
      name: 'wrong_guesses_total',
      help: 'Wrong guesses by kind (admin_secret, webhook_signature, reference) and outcome (wrong, or limited after too many)',
      labelNames: ['what', 'outcome'],
      registers,
    }),
    eventLatency: new Histogram({
      name: 'event_latency_seconds',
      help: 'Time from when an event happened until its effect was committed, by handler; first deliveries only',
      labelNames: ['handler'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    }),
    consumerPending: new Gauge({
      name: 'consumer_pending',
      help: 'Events that a handler has yet to handle, those under way included',
      labelNames: ['handler'],
      registers,
    }),
    // Prometheus itself has a label called `job`.
    jobRuns: new Counter({
      name: 'job_runs_total',
      help: 'Runs by job and outcome (done, failed)',
      labelNames: ['name', 'outcome'],
      registers,
    }),
    jobDuration: new Histogram({
      name: 'job_duration_seconds',
      help: 'Duration of a run by job',
      labelNames: ['name'],
      buckets: [0.01, 0.1, 1, 10, 60, 300, 600],
      registers,
    }),
    jobLastSuccess: new Gauge({
      name: 'job_last_success_timestamp_seconds',
      help: 'When this process last completed a run, by job; each run is made by one of the processes',
      labelNames: ['name'],
      registers,
    }),
    jobInterval: new Gauge({
      name: 'job_interval_seconds',
      help: 'How often a job is due',
      labelNames: ['name'],
      registers,
    }),
    databaseUp: new Gauge({
      name: 'database_up',
      help: 'Whether the database answered the last reading (1 or 0)',
      registers,
    }),
    brokerUp: new Gauge({ name: 'broker_up', help: 'Whether the broker is connected (1 or 0)', registers }),
    databaseConnections: new Gauge({
      name: 'database_connections',
      help: 'Connections of the pool by state (in_use, idle)',
      labelNames: ['state'],
      registers,
    }),
    databaseConnectionsMax: new Gauge({
      name: 'database_connections_max',
      help: 'The size of the pool',
      registers,
    }),
    databaseWaiting: new Gauge({
      name: 'database_connections_waiting',
      help: 'Statements that wait for a connection of the pool',
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
