import { eq, inArray, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { Gauge } from 'prom-client'
import type { BillingContext } from './config.ts'
import { checkoutAttempts, disputes, failedEvents, memberships, payments, refunds } from './schema.ts'

const liveStatuses = ['creating', 'open', 'processing'] as const

/** Registers billing's gauges, in addition to the metrics of every service. */
export function registerMetrics({ db, clock, metrics }: BillingContext): void {
  const registers = [metrics.registry]
  const failed = new Gauge({
    name: 'stripe_events_failed',
    help: 'Events of the payment provider that could not be handled so far, and are tried again',
    registers,
  })
  const checkouts = new Gauge({
    name: 'checkouts_live',
    help: 'Payment pages of registrations and orders by status (creating, open, processing)',
    labelNames: ['status'],
    registers,
  })
  const oldestRefund = new Gauge({
    name: 'refunds_oldest_pending_seconds',
    help: 'How long ago the oldest refund that is still pending was requested',
    registers,
  })
  metrics.measure({
    everyMs: 2_000,
    async read() {
      failed.set(await db.$count(failedEvents))
      const live = await db
        .select({ status: checkoutAttempts.status, count: sql<number>`count(*)::int` })
        .from(checkoutAttempts)
        .where(inArray(checkoutAttempts.status, liveStatuses))
        .groupBy(checkoutAttempts.status)
      for (const status of liveStatuses)
        checkouts.set({ status }, live.find((one) => one.status === status)?.count ?? 0)
      const [pending] = await db
        .select({ oldest: sql<string | null>`min(${refunds.createdAt})` })
        .from(refunds)
        .where(eq(refunds.status, 'pending'))
      oldestRefund.set(pending?.oldest ? clock.now().since(Temporal.Instant.from(pending.oldest)).total('seconds') : 0)
    },
  })

  const stored: { table: PgTable; column: PgColumn; gauge: Gauge }[] = [
    { name: 'payments', table: payments, column: payments.outcome, label: 'outcome' },
    { name: 'refunds', table: refunds, column: refunds.status, label: 'status' },
    { name: 'disputes', table: disputes, column: disputes.status, label: 'status' },
    { name: 'memberships', table: memberships, column: memberships.status, label: 'status' },
  ].map(({ name, table, column, label }) => {
    const help = `All ${name} in the database by ${label}; counted once a minute`
    return { table, column, gauge: new Gauge({ name, help, labelNames: [label], registers }) }
  })
  metrics.measure({
    everyMs: 60_000,
    async read() {
      for (const { table, column, gauge } of stored) {
        const rows = await db
          .select({ value: sql<string>`${column}`, count: sql<number>`count(*)::int` })
          .from(table)
          .groupBy(column)
        for (const { value, count } of rows) gauge.set({ [column.name]: value }, count)
      }
    },
  })
}
