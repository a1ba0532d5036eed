import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const attributeSchema = z.object({
  key: z.string(),
  value: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .transform((value) => Object.values(value)[0]),
})
const attributesSchema = z
  .array(attributeSchema)
  .default([])
  .transform((attributes) => Object.fromEntries(attributes.map(({ key, value }) => [key, value])))
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  attributes: attributesSchema,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
})
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
})

export interface CollectedSpan extends z.infer<typeof spanSchema> {
  service: string
}

/** An OpenTelemetry collector that keeps the received spans in memory. */
export interface TraceCollector {
  url: string
  spans: readonly CollectedSpan[]
  stop(): Promise<void>
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const server = createServer((request, response) => {
    void (async () => {
      for (const { resource, scopeSpans } of exportSchema.parse(JSON.parse(await text(request))).resourceSpans) {
        const service = String(resource.attributes['service.name'])
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, service })
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
