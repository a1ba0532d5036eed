import type { Context } from '@robokids/runtime/service'
import { isNull } from 'drizzle-orm'
import { Counter, Gauge } from 'prom-client'
import type { Config } from './config.ts'
import { waivers } from './schema.ts'

const counters = {
  member_seats_total: {
    help: 'New members by whether they got the seat they chose (seated, or why not)',
    labelNames: ['outcome'],
  },
  signed_pdfs_total: { help: 'Tries to make a signed PDF by outcome (made, failed)', labelNames: ['outcome'] },
} as const
type CounterName = keyof typeof counters

/** Registers enrollment's metrics, in addition to those of every service. */
export function registerMetrics({ db, metrics: { registry } }: Context<Config>): void {
  const registers: [] = []
  for (const [name, { help, labelNames }] of Object.entries(counters)) {
    registry.registerMetric(new Counter({ name, help, labelNames: [...labelNames], registers }))
  }
  const pending = new Gauge({
    name: 'signed_pdfs_pending',
    help: 'Signatures whose PDF is still to be made',
    registers,
    async collect() {
      this.set(await db.$count(waivers, isNull(waivers.signedPdf)))
    },
  })
  registry.registerMetric(pending)
}

export function count({ metrics }: Context<Config>, name: CounterName, labels: { outcome: string }): void {
  ;(metrics.registry.getSingleMetric(name) as Counter<'outcome'>).inc(labels)
}
