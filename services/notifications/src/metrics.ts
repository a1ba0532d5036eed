import { countRows } from '@robokids/runtime/row-counts'
import type { Context } from '@robokids/runtime/service'
import { and, eq, lte, sql } from 'drizzle-orm'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { Config } from './config.ts'
import { hasNoEarlierMail } from './earlier-mails.ts'
import { mails, type MailRow } from './schema.ts'

const delayBuckets = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400]

/** The metrics of messages, by the registry that they belong to. */
function create({ metrics: { registry } }: Context<Config>) {
  const registers = [registry]
  const labelNames = ['medium'] as const
  return {
    outcomes: new Counter({
      name: 'messages_total',
      help: 'Attempts to send a message by kind, medium and outcome (sent, retry, give_up, drop)',
      labelNames: ['kind', 'medium', 'outcome'],
      registers,
    }),
    delay: new Histogram({
      name: 'message_delay_seconds',
      help: 'Time from when a message was enqueued until the server accepted it; not of those sent again by an operator',
      labelNames,
      buckets: delayBuckets,
      registers,
    }),
    pending: new Gauge({ name: 'messages_pending', help: 'Messages to be sent, due or later', labelNames, registers }),
    due: new Gauge({
      name: 'messages_due',
      help: 'Messages that are due, not being sent, and wait for no earlier one',
      labelNames,
      registers,
    }),
    oldestDue: new Gauge({
      name: 'messages_oldest_due_seconds',
      help: 'How long the oldest of the due messages has been due',
      labelNames,
      registers,
    }),
  }
}

type MessageMetrics = ReturnType<typeof create>
const metricsOf = new WeakMap<Context<Config>['metrics'], MessageMetrics>()

/** Registers the metrics of messages, in addition to those of every service. */
export function registerMetrics(context: Context<Config>): void {
  const { db, clock, metrics } = context
  const created = create(context)
  const { pending, due, oldestDue } = created
  metricsOf.set(metrics, created)
  metrics.measure({
    everyMs: 10_000,
    async read() {
      const now = clock.now().toString()
      // Those being sent have the end of their lease as the time of their next attempt.
      const isDue = and(lte(mails.nextTryAt, sql`${now}::timestamptz`), hasNoEarlierMail(context))
      const rows = await db
        .select({
          medium: mails.medium,
          pending: sql<number>`count(*)::int`,
          due: sql<number>`(count(*) filter (where ${isDue}))::int`,
          oldest: sql<number>`coalesce(extract(epoch from ${now}::timestamptz - min(${mails.nextTryAt}) filter (where ${isDue})), 0)::float8`,
        })
        .from(mails)
        .where(eq(mails.status, 'pending'))
        .groupBy(mails.medium)
      for (const medium of ['EMAIL', 'SMS'] as const) {
        const row = rows.find((one) => one.medium === medium)
        pending.set({ medium }, row?.pending ?? 0)
        due.set({ medium }, row?.due ?? 0)
        oldestDue.set({ medium }, row?.oldest ?? 0)
      }
    },
  })
  countRows(context, { name: 'messages', label: 'status', table: mails, column: mails.status })
}

/** Counts an attempt to send a message. */
export function countAttempt(
  { metrics, clock }: Pick<Context<Config>, 'metrics' | 'clock'>,
  { kind, medium, sending, createdAt }: MailRow,
  outcome: 'sent' | 'retry' | 'give_up' | 'drop',
): void {
  const registered = metricsOf.get(metrics)
  registered?.outcomes.inc({ kind, medium, outcome })
  if (outcome === 'sent' && sending === 1)
    registered?.delay.observe({ medium }, Math.max(0, clock.now().since(createdAt).total('seconds')))
}
