import { randomUUIDv7 } from 'node:crypto'
import { classesViewSchema, registerResponseSchema } from '@robokids/contracts/bff'
import { labelsRead, metricsRead } from '@robokids/local/prometheus'
import { fetchProven } from '@robokids/local/prove'
import { owningServices, type ServiceName } from '@robokids/local/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeSmtpServer } from '../services/notifications/test/fake-smtp-server.ts'
import { eventually } from './src/bed.ts'
import { browserCookie } from './src/browser.ts'
import { sampleFamily } from './src/samples.ts'
import { startServicesInProcess, type ServicesInProcess } from './src/services-in-process.ts'
import { startTraceCollector, type CollectedSpan, type TraceCollector } from './src/trace-collector.ts'

let collector: TraceCollector
let services: ServicesInProcess
const smtp = new FakeSmtpServer()
beforeAll(async () => {
  ;[collector] = await Promise.all([startTraceCollector(), smtp.open()])
  services = await startServicesInProcess({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    SMTP_URL: smtp.url,
  })
})
afterAll(async () => {
  await services.stop()
  await Promise.all([collector.stop(), smtp.close()])
})

const names: ServiceName[] = [...owningServices, 'bff']

/** A browser's trace, which only the page itself could have begun. */
const browserTrace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${browserTrace.traceId}-${browserTrace.spanId}-01`

const family = {
  ...sampleFamily(),
  guardianName: 'Quillon Vantreeck',
  childName: 'Zebedine',
  email: `quillon.${randomUUIDv7()}@vantreeck.example.com`,
}

/** Returns the registration's reference and its date. */
async function registerAndPay(email: string): Promise<{ reference: string; startDate: string }> {
  const { url } = services.running.bff
  const classes = classesViewSchema.parse(await (await fetch(`${url}/api/classes`)).json())
  const startDate = classes.levels.find(({ classType }) => classType === 'basic')?.sessions[0]?.date ?? ''
  const answer = await fetchProven(`${url}/api/registrations`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'robokids-web',
      cookie: browserCookie(),
      traceparent,
    },
    body: JSON.stringify({ ...family, id: randomUUIDv7(), email, classType: 'basic', startDate }),
  })
  expect(answer.status).toBe(200)
  const { registrationId, checkoutUrl } = registerResponseSchema.parse(await answer.json())
  const sessionId = new URL(checkoutUrl).pathname.split('/').at(-1)
  await fetch(`${services.simulator.url}/_sim/checkout/${sessionId}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ card: '4242424242424242' }),
  })
  return { reference: registrationId, startDate }
}

const metricsOf = async (service: ServiceName) => (await fetch(`${services.running[service].url}/metrics`)).text()

describe('The trace of a registration', () => {
  it('A registration, its payment and its mail are one trace through all services, linked to what took the work up', async () => {
    const { reference } = await registerAndPay(family.email)
    await smtp.mailTo(family.email)
    const trace = (name: string, service: string, where: (span: CollectedSpan) => boolean = () => true) =>
      eventually(() =>
        collector.spans.find(
          (span) =>
            span.traceId === browserTrace.traceId && span.service === service && span.name === name && where(span),
        ),
      )
    const all = () => collector.spans.filter(({ traceId }) => traceId === browserTrace.traceId)
    const parentOf = ({ parentSpanId }: CollectedSpan) => all().find(({ spanId }) => spanId === parentSpanId)
    /** The names of a span's ancestors, the nearest first. */
    const path = (span: CollectedSpan | undefined): string[] => {
      const parent = span && parentOf(span)
      return parent ? [`${parent.service}: ${parent.name}`, ...path(parent)] : []
    }

    const sent = await trace('send registration_confirmed', 'notifications')
    const accepted = (span: CollectedSpan) => span.attributes['http.response.status_code'] === 200
    const request = await trace('POST /api/registrations', 'bff', accepted)
    expect(request).toMatchObject({ parentSpanId: browserTrace.spanId, kind: 2 })
    await eventually(() => {
      // The mail was enqueued by the event of the confirmation, which was caused by that of the payment, which belongs to the
      // checkout that the request created.
      expect(path(sent)).toEqual([
        'notifications: handle registration.confirmed',
        'enrollment: handle payment.completed',
        'billing: apply checkout session',
        'billing: POST /checkouts',
        'bff: POST /checkouts',
        'bff: POST /api/registrations',
      ])
      return true
    })
    expect(path(await trace('publish payment.completed', 'billing'))[0]).toBe('billing: apply checkout session')
    expect(path(await trace('publish registration.confirmed', 'enrollment'))[0]).toBe(
      'enrollment: handle payment.completed',
    )
    expect(path(await trace('POST /v1/checkout/sessions', 'billing'))).toContain('billing: POST /checkouts')

    const hold = await trace('hold_seats', 'enrollment')
    expect(hold.attributes['db.query.text']).toMatch(/update class_sessions set held = held \+ \$\d+/)
    expect(path(hold)).toEqual([
      'enrollment: POST /registrations',
      'bff: POST /registrations',
      'bff: POST /api/registrations',
    ])

    // The webhook and the jobs have traces of their own, which are linked from here.
    const linked = (span: CollectedSpan) =>
      span.links.map(({ spanId }) => collector.spans.find((other) => other.spanId === spanId)?.name)
    await eventually(async () => {
      expect(linked(sent)).toEqual(['job send-mails'])
      expect(linked(await trace('publish payment.completed', 'billing'))).toEqual(['publish events'])
      const applied = parentOf(await trace('publish payment.completed', 'billing'))
      expect(applied && linked(applied)).toEqual(['POST /webhooks/stripe'])
      return true
    })

    const exported = JSON.stringify(collector.spans)
    for (const personal of [family.guardianName, family.childName, family.email, reference])
      expect(exported.toLowerCase()).not.toContain(personal.toLowerCase())
  })

  it('A request from outside begins a trace of its own, whatever trace it names', async () => {
    const foreign = '0af7651916cd43dd8448eb211c80319c'
    const headers = { traceparent: `00-${foreign}-b7ad6b7169203331-01`, 'x-forwarded-for': '198.51.100.7' }
    const before = collector.spans.length
    await fetch(`${services.running.bff.url}/api/classes`, { headers })
    await eventually(() => collector.spans.slice(before).some(({ name }) => name === 'GET /api/classes'))
    expect(collector.spans.filter(({ traceId }) => traceId === foreign)).toEqual([])
  })
})

describe('The metrics of all processes', () => {
  it('Every metric and label that an alert rule or a dashboard reads is served by a process', async () => {
    const texts = await Promise.all(names.map(metricsOf))
    const types = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)])
    const served = new Set(
      types.flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    )
    const read = await metricsRead()
    expect(read.length).toBeGreaterThan(30)
    expect(read.filter((name) => !served.has(name))).toEqual([])

    const registries = names.map((name) => services.running[name].context.metrics.registry)
    const isLabel = (named: string) => {
      const [metric = '', label = ''] = named.split(' ')
      return registries.some((registry) => {
        const found = registry.getSingleMetric(metric.replace(/_(bucket|count|sum)$/, '')) as
          | { labelNames?: string[] }
          | undefined
        return found?.labelNames?.includes(label)
      })
    }
    const labels = await labelsRead()
    expect(labels.length).toBeGreaterThan(5)
    expect(labels.filter((label) => !isLabel(label))).toEqual([])
  })

  it('The metrics say what was sold, paid and mailed, and how long events and jobs took', async () => {
    const email = `another.${family.email}`
    const { startDate } = await registerAndPay(email)
    await smtp.mailTo(email)
    await eventually(async () => {
      const [enrollment, billing, notifications] = await Promise.all(
        (['enrollment', 'billing', 'notifications'] as const).map(metricsOf),
      )
      expect(enrollment).toMatch(
        new RegExp(`^seats\\{class_type="basic",date="${startDate}",state="sold"\\} [1-9]`, 'm'),
      )
      expect(enrollment).toMatch(/^event_latency_seconds_count\{handler="enrollment__payment-completed"\} [1-9]/m)
      expect(enrollment).toMatch(/^consumer_pending\{handler="enrollment__payment-completed"\} 0$/m)
      expect(enrollment).toMatch(/^outbox_published_total\{type="registration.rejected"\} 0$/m)
      expect(billing).toMatch(/^checkouts_live\{status="open"\} \d/m)
      expect(billing).toMatch(/^job_last_success_timestamp_seconds\{name="run-refunds"\} 1\d{9}/m)
      expect(billing).toMatch(/^database_connections\{state="idle"\} [1-9]/m)
      expect(notifications).toMatch(/^message_delay_seconds_count\{medium="EMAIL"\} [1-9]/m)
      expect(notifications).toMatch(
        /^messages_total\{kind="registration_confirmed",medium="EMAIL",outcome="sent"\} [1-9]/m,
      )
      return true
    })
  })
})
