import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { pino, type DestinationStream, type Logger } from 'pino'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type { Logger }

/** The trace of the running code: one HTTP request or the handling of one event. */
interface Trace {
  traceId: string
  spanId: string
  /** The span of the caller, or the one that published the event. */
  parentSpanId?: string
  requestId?: string
}

const traces = new AsyncLocalStorage<Trace>()
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/

/**
 * Runs `work` in a new span, which continues the trace of `traceparent` (W3C Trace Context,
 * https://www.w3.org/TR/trace-context/) if that is valid, or starts a new trace.
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

/** Returns the `traceparent` of an event; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  const trace = traces.getStore()
  return trace && `00-${trace.traceId}-${trace.spanId}-01`
}

/** Returns the headers by which the next service continues the trace and names the same request; none outside of a trace. */
export function traceHeaders(): Record<string, string> {
  const traceparent = currentTraceparent()
  const requestId = traces.getStore()?.requestId
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
  }
}

const addressPattern = /[^\s@<>"'(),:;]+@[\w.-]+\.\w+/g
const idPattern = /\b([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
/** Ids that are logged whole: they give access to nothing, and error reports name them. */
const unmaskedIds = new Set(['requestId', 'eventId'])

/**
 * Masks text for the log: removes mail addresses and truncates ids. A truncated id is enough to find the record, but a whole
 * id would give access to a family's pages.
 */
function maskForLog(text: string): string {
  return text.replaceAll(addressPattern, '[address]').replaceAll(idPattern, '$1…')
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

/**
 * Creates a JSON logger. Each line has the service and, inside a trace, its ids. Never log personal data.
 * @param destination default: standard output.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service },
    // A copy, because pino adds the line's own fields to the returned object.
    mixin: () => ({ ...traces.getStore() }),
    serializers: { err: errorForLog },
    formatters: {
      log: (line: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(line).map(([name, value]) => [
            name,
            typeof value === 'string' && !unmaskedIds.has(name) ? maskForLog(value) : value,
          ]),
        ),
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Creates the Prometheus metrics of a process. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    httpDuration: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Response time',
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
    jobRuns: new Counter({
      name: 'job_runs_total',
      help: 'Runs by job and outcome',
      labelNames: ['job', 'outcome'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
