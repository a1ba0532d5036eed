import { InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { createSpanRecorder } from './span-recorder.ts'
import { continueTrace, currentTraceparent, inSpan, inTrace, isRecording, traceFields, traceHeaders } from './trace.ts'

/** Records the spans of `work`. @returns the finished ones by name. */
async function record(work: (recorder: ReturnType<typeof createSpanRecorder>) => Promise<unknown>, ratio = 1) {
  const exporter = new InMemorySpanExporter()
  // Its spans would be forgotten at the end.
  const kept = Object.assign(exporter, { shutdown: async () => {} })
  const recorder = createSpanRecorder({ service: 'test', system: 'test', exporter: kept, ratio, delayMs: 1_000 })
  await work(recorder)
  await recorder.close()
  return new Map(exporter.getFinishedSpans().map((span) => [span.name, span]))
}

describe('a trace', () => {
  it('continues that of its caller, and its logs, events and calls have the ids of its recorded span', async () => {
    const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
    let seen: unknown
    const spans = await record((recorder) =>
      inTrace(
        {
          name: 'GET /classes',
          kind: 'server',
          traceparent: `00-${caller.traceId}-${caller.spanId}-01`,
          requestId: 'request-1',
          recorder,
        },
        () =>
          inSpan({ name: 'SELECT levels', kind: 'client' }, async () => {
            seen = { fields: traceFields(), traceparent: currentTraceparent(), headers: traceHeaders() }
          }),
      ),
    )
    const [server, statement] = [spans.get('GET /classes'), spans.get('SELECT levels')]
    expect(server?.parentSpanContext).toMatchObject(caller)
    const { traceId, spanId } = statement!.spanContext()
    expect(statement?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId)
    expect(seen).toEqual({
      fields: { traceId: caller.traceId, spanId, parentSpanId: server?.spanContext().spanId, requestId: 'request-1' },
      traceparent: `00-${traceId}-${spanId}-01`,
      headers: { traceparent: `00-${traceId}-${spanId}-01`, 'x-request-id': 'request-1' },
    })
  })

  it('is taken up by a job with a link to its run, and a run that finds nothing to do is not recorded', async () => {
    let stored: string | undefined
    const spans = await record(async (recorder) => {
      await inTrace({ name: 'request', recorder }, async () => {
        stored = currentTraceparent()
      })
      await inTrace({ name: 'idle run', recorder, isLoop: true }, () => inSpan({ name: 'poll' }, async () => {}))
      await inTrace({ name: 'run', recorder, isLoop: true }, () =>
        continueTrace(stored, { name: 'send mail' }, () => inSpan({ name: 'statement' }, async () => {})),
      )
    })
    expect([...spans.keys()].toSorted()).toEqual(['request', 'run', 'send mail', 'statement'])
    const request = spans.get('request')!.spanContext()
    expect(spans.get('send mail')?.parentSpanContext).toMatchObject({
      traceId: request.traceId,
      spanId: request.spanId,
    })
    expect(spans.get('send mail')?.links.map(({ context }) => context.spanId)).toEqual([
      spans.get('run')?.spanContext().spanId,
    ])
    expect(spans.get('run')?.spanContext().traceId).not.toBe(request.traceId)
    expect(spans.get('statement')?.spanContext().traceId).toBe(request.traceId)
  })

  it('says of a failed span only the kind of the error', async () => {
    const spans = await record((recorder) =>
      inTrace({ name: 'fails', recorder }, async () => {
        throw new TypeError('maren@example.com is unknown')
      }).catch(() => {}),
    )
    const failed = spans.get('fails')
    expect(failed?.attributes).toEqual({ 'error.type': 'TypeError' })
    expect(failed?.status).toEqual({ code: 2 })
    expect(failed?.events).toEqual([])
  })

  it('is recorded as often as set, unless its caller has decided', async () => {
    const never = await record(async (recorder) => {
      await inTrace({ name: 'new', recorder }, async () => {
        expect(isRecording()).toBe(false)
        expect(currentTraceparent()).toMatch(/-00$/)
      })
      const sampled = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      await inTrace({ name: 'called', traceparent: sampled, recorder }, async () => {})
    }, 0)
    expect([...never.keys()]).toEqual(['called'])
  })

  it('has ids for logs and events without a recorder, and no spans inside', async () => {
    await inTrace({ name: 'request', traceparent: 'not one' }, async () => {
      const outer = currentTraceparent()
      expect(outer).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
      await inSpan({ name: 'statement' }, async () => expect(currentTraceparent()).toBe(outer))
      const stored = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      await continueTrace(stored, { name: 'mail' }, async () =>
        expect(currentTraceparent()?.slice(0, 35)).toBe(stored.slice(0, 35)),
      )
    })
    expect(currentTraceparent()).toBeUndefined()
    expect(traceHeaders()).toEqual({})
  })
})
