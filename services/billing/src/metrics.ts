import { countRows } from '@robokids/runtime/row-counts'
import { eq, inArray, sql } from 'drizzle-orm'
import { Gauge } from 'prom-client'
import type { BillingContext } from './config.ts'
import { checkoutAttempts, disputes, failedEvents, memberships, payments, refunds } from './schema.ts'

const liveStatuses = ['creating', 'open', 'processing'] as const

/** Registers billing's gauges, in addition to the metrics of every service. */
export function registerMetrics(context: BillingContext): void {
  const { db, clock, metrics } = context
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

  countRows(context, { name: 'payments', label: 'outcome', table: payments, column: payments.outcome })
  countRows(context, { name: 'refunds', label: 'status', table: refunds, column: refunds.status })
  countRows(context, { name: 'disputes', label: 'status', table: disputes, column: disputes.status })
  countRows(context, { name: 'memberships', label: 'status', table: memberships, column: memberships.status })
}
