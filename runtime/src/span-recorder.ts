import {
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type SpanContext,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { SpanIds, SpanKind, SpanRecorder } from './trace.ts'

const kinds: Record<SpanKind, OtelKind> = {
  internal: OtelKind.INTERNAL,
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
}

function contextOf({ traceId, spanId, sampled }: SpanIds): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true }
}

export interface SpanRecorderOptions {
  /** The process's name: `service.name`. */
  service: string
  /** The system's name: `deployment.environment.name`. */
  system: string
  exporter: SpanExporter
  /** The share of new traces that are recorded; those of a caller are recorded if the caller's are. */
  ratio: number
  /** How long spans are collected before they are sent. */
  delayMs: number
}

/** Returns an exporter to a collector. @param endpoint its base URL (OTLP over HTTP), without `/v1/traces`. */
export function exportTo(endpoint: string): SpanExporter {
  return new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })
}

/**
 * Records spans by OpenTelemetry's SDK. Only imported if a collector is configured: it takes memory and start-up time. The
 * context is `trace.ts`'s own, so nothing is registered globally and no module is patched.
 */
export function createSpanRecorder({ service, system, exporter, ratio, delayMs }: SpanRecorderOptions): SpanRecorder {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'deployment.environment.name': system }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: { attributeValueLengthLimit: 2_000 },
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: delayMs })],
  })
  const tracer = provider.getTracer('robokids')
  return {
    start({ name, kind = 'internal', attributes = {} }, parent, links) {
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)) : ROOT_CONTEXT
      const options = {
        kind: kinds[kind],
        attributes,
        links: links.map((link) => ({ context: contextOf(link) })),
      }
      const span = tracer.startSpan(name, options, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceId,
        spanId,
        sampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
        setAttributes: (more) => void span.setAttributes(more),
        fail: (errorType) => void span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR }),
        end: () => span.end(),
      }
    },
    close: () => provider.shutdown(),
  }
}
