import { sql, type SQL } from 'drizzle-orm'
import type { Database } from './db.ts'

/** How long the runtime's tables keep completed rows, which contain families' data and would grow forever. */
const retention = (streamDays: number): { table: SQL; timestamp: SQL; days: number }[] => [
  // As long as the broker stores events, so that lost ones can be published again.
  { table: sql`outbox`, timestamp: sql`published_at`, days: streamDays },
  // Longer than an event can be redelivered.
  { table: sql`inbox`, timestamp: sql`handled_at`, days: streamDays + 15 },
  { table: sql`dead_letters`, timestamp: sql`replayed_at`, days: 90 },
  // Every delivery is handled or becomes a dead letter within minutes.
  { table: sql`failed_deliveries`, timestamp: sql`failed_at`, days: 1 },
]

const batchSize = 5_000

/**
 * Deletes rows after their retention, in batches to keep locks short.
 * @param streamDays how long the broker keeps events
 */
export async function sweep(db: Database, streamDays: number, signal: AbortSignal): Promise<void> {
  for (const { table, timestamp, days } of retention(streamDays)) {
    for (let deleted = batchSize; deleted === batchSize && !signal.aborted;) {
      const { rowCount } = await db.execute(sql`
        delete from ${table} where ctid = any(array(
          select ctid from ${table} where ${timestamp} < now() - make_interval(days => ${days}) limit ${batchSize}))`)
      deleted = rowCount ?? 0
    }
  }
}
