import { sql } from 'drizzle-orm'
import type { Clock } from './clock.ts'
import type { Database } from './db.ts'

/** Rows that are deleted once they are old enough. */
export interface Expiry {
  /** How long they are kept after the time in `since`. */
  days: number
  /** The SQL of that time, of a column with an index unless the table stays small. Rows without one are kept. */
  since: string
  /** The SQL condition on these rows; by default all. */
  only?: string
  /** Whether `since` is in real time, as the times of brokers and providers are, and does not follow a test clock. */
  realTime?: boolean
  /** Why they are kept for so long, and not longer. */
  why: string
}

/**
 * What becomes of the rows of a table: they are deleted after a while, here or by what `until` names, or all are `kept` for a
 * reason. Every table has to say, because one that only grows slows everything down at last, and keeps families' data for
 * nothing.
 */
export type TableLife = Expiry | Expiry[] | { until: string } | { kept: string }

/** The tables by name. If the rows of one refer to another's, it comes before that one. */
export type TableLives = Record<string, TableLife>

/**
 * The runtime's own tables, which every service has.
 * @param streamDays how long the broker stores events
 */
export const runtimeTables = (streamDays: number): TableLives => ({
  outbox: {
    days: streamDays,
    since: 'published_at',
    realTime: true,
    why: 'As long as the broker stores events, so that lost ones can be published again',
  },
  inbox: {
    days: streamDays + 15,
    since: 'handled_at',
    realTime: true,
    why: 'Longer than an event can be delivered again',
  },
  dead_letters: {
    days: 90,
    since: 'replayed_at',
    realTime: true,
    why: 'To look up what had failed. Those that were not replayed are kept',
  },
  failed_deliveries: {
    days: 1,
    since: 'failed_at',
    realTime: true,
    why: 'Every delivery is handled or becomes a dead letter within minutes',
  },
  broker_streams: { kept: 'One row' },
  handlers: { kept: 'One row for each handler' },
  heartbeat: { kept: 'One row' },
})

const batchSize = 5_000

/** The rules by which rows of these tables are deleted. */
export function expiriesOf(tables: TableLives): (Expiry & { table: string })[] {
  return Object.entries(tables).flatMap(([table, life]) => {
    if ('until' in life || 'kept' in life) return []
    return (Array.isArray(life) ? life : [life]).map((expiry) => ({ ...expiry, table }))
  })
}

/** Deletes rows that are old enough, in batches to keep locks short. Leaves rows that are locked right now to the next run. */
export async function sweep(db: Database, tables: TableLives, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const { table, days, since, only = 'true', realTime = false } of expiriesOf(tables)) {
    const now = realTime ? Temporal.Now.instant() : clock.now()
    const before = now.subtract({ hours: Math.round(days * 24) }).toString()
    for (let deleted = batchSize; deleted === batchSize && !signal.aborted;) {
      const { rowCount } = await db.execute(sql`
        delete from ${sql.identifier(table)} where ctid = any(array(
          select ctid from ${sql.identifier(table)} where ${sql.raw(since)} < ${before}::timestamptz and (${sql.raw(only)})
          limit ${batchSize} for update skip locked))`)
      deleted = rowCount ?? 0
    }
  }
}
