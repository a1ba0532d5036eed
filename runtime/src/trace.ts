import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** The identity of a span in W3C Trace Context (https://www.w3.org/TR/trace-context/). */
export interface SpanIds {
  traceId: string
  spanId: string
  /** Whether the trace is recorded, by those processes that record traces. */
  sampled: boolean
}

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'
/** Never personal data, nor what gives access to it, such as the id of a registration. */
export type SpanAttributes = Record<string, string | number | boolean>

/** The description of a span at its start. */
export interface SpanStart {
  name: string
  kind?: SpanKind
  attributes?: SpanAttributes
}

/** A span that is being recorded. */
export interface RecordedSpan extends SpanIds {
  setAttributes(attributes: SpanAttributes): void
  /** Marks it as failed; only the type of the error is recorded, because messages can contain personal data. */
  fail(errorType: string): void
  /** Hands it over to the exporter; a span that is never ended is not exported. */
  end(): void
}

/** Records the spans of a process: `span-recorder.ts`, if traces are exported at all. */
export interface SpanRecorder {
  start(start: SpanStart, parent: SpanIds | undefined, links: SpanIds[]): RecordedSpan
  /** Exports what is not exported yet. */
  close(): Promise<void>
}

/** The trace of the running code: one HTTP request, the handling of one event, or one run of a job. */
interface Trace extends SpanIds {
  /** The span of the caller, or the one that published the event. */
  parentSpanId?: string | undefined
  requestId?: string | undefined
  recorder?: SpanRecorder | undefined
  recorded?: RecordedSpan | undefined
  /** Whether this is a run of a loop that mostly finds nothing to do. */
  isLoop: boolean
  /** Whether a loop's run found something to do. */
  isUsed: boolean
}

const traces = new AsyncLocalStorage<Trace>()
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function parseTraceparent(traceparent: string | null | undefined): SpanIds | undefined {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** A span of the current process. Without a recorder it only has the ids for logs and events. */
export class Span {
  readonly #trace: Trace

  constructor(trace: Trace) {
    this.#trace = trace
  }

  /** Runs `work` in the span, so that its logs, events and calls belong to it. */
  run<T>(work: () => T): T {
    return traces.run(this.#trace, work)
  }

  setAttributes(attributes: SpanAttributes): void {
    this.#trace.recorded?.setAttributes(attributes)
  }

  /** Marks the span as failed. @param error an error, or the name of a kind of errors. */
  fail(error: unknown): void {
    this.#trace.isUsed = true
    this.#trace.recorded?.fail(error instanceof Error ? error.name : String(error))
  }

  /** Ends the span. A loop's run that found nothing to do is forgotten. */
  end(): void {
    if (!this.#trace.isLoop || this.#trace.isUsed) this.#trace.recorded?.end()
  }
}

function begin(
  start: SpanStart,
  parent: SpanIds | undefined,
  links: SpanIds[],
  {
    requestId,
    recorder,
    isLoop = false,
  }: { requestId?: string | undefined; recorder?: SpanRecorder | undefined; isLoop?: boolean },
): Span {
  const recorded = recorder?.start(start, parent, links)
  return new Span({
    traceId: recorded?.traceId ?? parent?.traceId ?? randomBytes(16).toString('hex'),
    spanId: recorded?.spanId ?? randomBytes(8).toString('hex'),
    sampled: recorded?.sampled ?? parent?.sampled ?? true,
    parentSpanId: parent?.spanId,
    requestId,
    recorder,
    recorded,
    isLoop,
    isUsed: false,
  })
}

async function complete<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

/** Where a trace enters the process. */
export interface TraceEntry extends SpanStart {
  /** The caller's `traceparent`, or that of the event; without a valid one a new trace starts. */
  traceparent?: string | undefined
  requestId?: string | undefined
  recorder?: SpanRecorder | undefined
  /** Whether this is a run of a loop: its own statements are not recorded, and itself only if it found something to do. */
  isLoop?: boolean
}

/** Begins the span with which a trace enters the process. The caller has to end it. */
export function beginTrace({ traceparent, requestId, recorder, isLoop = false, ...start }: TraceEntry): Span {
  return begin(start, parseTraceparent(traceparent), [], { requestId, recorder, isLoop })
}

/** Runs `work` in the span with which a trace enters the process. */
export function inTrace<T>(entry: TraceEntry, work: (span: Span) => Promise<T>): Promise<T> {
  return complete(beginTrace(entry), work)
}

/**
 * Begins a span of an earlier trace, for work that was stored with its `traceparent` and is taken up now: by a job, a batch or
 * the request of somebody else. The span is linked to the current one. Without a `traceparent` it is a child of the current
 * one. The caller has to end it.
 */
export function beginContinued(traceparent: string | null | undefined, start: SpanStart): Span {
  const current = traces.getStore()
  if (current) current.isUsed = true
  const stored = parseTraceparent(traceparent)
  const parent = stored && stored.traceId !== current?.traceId ? stored : (current ?? stored)
  const links = current && parent !== current ? [current] : []
  return begin(start, parent, links, { requestId: current?.requestId, recorder: current?.recorder })
}

/** Runs `work` in a span of an earlier trace, as `beginContinued` describes. */
export function continueTrace<T>(
  traceparent: string | null | undefined,
  start: SpanStart,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return complete(beginContinued(traceparent, start), work)
}

/** Whether a span begun now would be recorded: not without a recorder or in an unsampled trace, nor for a loop's own statements. */
export function isRecording(): boolean {
  const trace = traces.getStore()
  return trace?.recorded !== undefined && trace.sampled && !trace.isLoop
}

/** Runs `work` in a child of the current span if that is recorded, and otherwise without any effort. */
export function inSpan<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  const current = traces.getStore()
  if (!current || !isRecording()) return work()
  return complete(begin(start, current, [], current), work)
}

/** Returns the `traceparent` of an event; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  const trace = traces.getStore()
  return trace && `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`
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

/** Returns the fields of a log line about the current trace. */
export function traceFields(): Record<string, string> {
  const trace = traces.getStore()
  if (!trace) return {}
  const { traceId, spanId, parentSpanId, requestId } = trace
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    ...(requestId === undefined ? {} : { requestId }),
  }
}
