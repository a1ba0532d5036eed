import type { Context } from '@robokids/runtime/service'
import { Counter } from 'prom-client'
import type { Config } from './config.ts'

const counters = {
  member_seats_total: {
    help: 'New members by whether they got the seat they chose (seated, or why not)',
    labelNames: ['outcome'],
  },
} as const
type CounterName = keyof typeof counters

/** What enrollment counts, beside what every service does. */
export function registerMetrics({ metrics: { registry } }: Context<Config>): void {
  const registers: [] = []
  for (const [name, { help, labelNames }] of Object.entries(counters)) {
    registry.registerMetric(new Counter({ name, help, labelNames: [...labelNames], registers }))
  }
}

export function count({ metrics }: Context<Config>, name: CounterName, labels: { outcome: string }): void {
  ;(metrics.registry.getSingleMetric(name) as Counter<'outcome'>).inc(labels)
}
