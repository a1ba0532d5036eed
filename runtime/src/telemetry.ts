import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { pino, type DestinationStream, type Logger } from 'pino'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type { Logger }

/** Where the running code belongs: one HTTP request or one event's handling. */
interface Trace {
  traceId: string
  spanId: string
  /** The span that this one follows from: the caller's, or the one that published the event. */
  parentSpanId?: string
  requestId?: string
}

const traces = new AsyncLocalStorage<Trace>()
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/

/**
 * Runs `work` in a span of its own, continuing the trace of `traceparent` (W3C Trace Context,
 * https://www.w3.org/TR/trace-context/) where that is valid, else starting a new trace.
 */
export function inTrace<T>(traceparent: string | undefined, requestId: string | undefined, work: () => T): T {
  const parent = traceparentPattern.exec(traceparent ?? '')
  const trace: Trace = {
    traceId: parent?.[1] ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    ...(parent?.[2] === undefined ? {} : { parentSpanId: parent[2] }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  return traces.run(trace, work)
}

/** The `traceparent` to send along with a request or an event; undefined outside of any trace. */
export function currentTraceparent(): string | undefined {
  const trace = traces.getStore()
  return trace && `00-${trace.traceId}-${trace.spanId}-01`
}

/** The id of the HTTP request that is being answered, to send along to the next service. */
export function currentRequestId(): string | undefined {
  return traces.getStore()?.requestId
}

const addressPattern = /[^\s@<>"'(),:;]+@[\w.-]+\.\w+/g
const idPattern = /\b([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
/** Of one request or event: they open nothing, and whoever reports a fault names them whole. */
const openIds = new Set(['requestId', 'eventId'])

/**
 * Text as it is logged: without mail addresses, and with the beginning of each id, by which its record is found and
 * which opens nothing. A family's pages are opened by an id alone.
 */
function maskForLog(text: string): string {
  return text.replaceAll(addressPattern, '[address]').replaceAll(idPattern, '$1…')
}

/** What an error was about, with what somebody sent or was answered. */
const personal = new Set(['params', 'detail', 'where', 'data', 'body', 'input', 'issues', 'details'])

/**
 * An error as it is logged. A database's refusal tells of the values that were sent with the statement, or of the row: what
 * people typed, and secrets that are sealed or hashed. They stay out of logs.
 */
export function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { message: said, stack: from, ...rest } = pino.stdSerializers.err(error)
  const told = Object.fromEntries(
    Object.entries(rest)
      .filter(([name]) => !personal.has(name))
      .map(([name, value]) => [name, typeof value === 'string' ? maskForLog(value) : value]),
  )
  let [message, stack] = [said, from]
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (!('params' in cause && 'query' in cause)) continue
    const statement = `Failed query: ${String(cause.query)}`
    message = message.replaceAll(cause.message, () => statement)
    stack = stack.replaceAll(cause.message, () => statement)
  }
  return { ...told, message: maskForLog(message), stack: maskForLog(stack) }
}

/**
 * A JSON logger whose every line carries the service and, inside a trace, its ids. Personal data does not belong in it.
 * @param destination where its lines go; standard output, where left out.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service },
    // A copy: pino writes the line's own fields into what it is given.
    mixin: () => ({ ...traces.getStore() }),
    serializers: { err: errorForLog },
    formatters: {
      log: (line: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(line).map(([name, value]) => [
            name,
            typeof value === 'string' && !openIds.has(name) ? maskForLog(value) : value,
          ]),
        ),
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** What a process counts, for Prometheus. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    httpDuration: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer a request',
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
    outboxPending: new Gauge({ name: 'outbox_pending', help: 'Events that wait to be published', registers }),
    outboxOldest: new Gauge({
      name: 'outbox_oldest_seconds',
      help: 'For how long the oldest event that waits to be published has been waiting',
      registers,
    }),
    outboxSetAside: new Gauge({
      name: 'outbox_set_aside',
      help: 'Events that the broker refused so often that only an operator has them tried again',
      registers,
    }),
    deadLetters: new Gauge({ name: 'dead_letters', help: 'Dead letters that wait for an operator', registers }),
    eventsHandled: new Counter({
      name: 'events_handled_total',
      help: 'Deliveries by handler and outcome (done, duplicate, retry, dead, or before the handler existed)',
      labelNames: ['handler', 'outcome'],
      registers,
    }),
    wrongGuesses: new Counter({
      name: 'wrong_guesses_total',
      help: 'Wrong tries of strangers by what they try (admin_secret, webhook_signature, reference) and outcome (wrong, or limited after too many)',
      labelNames: ['what', 'outcome'],
      registers,
    }),
    jobRuns: new Counter({
      name: 'job_runs_total',
      help: 'Runs by job and outcome',
      labelNames: ['job', 'outcome'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
