import { sql, type SQL } from 'drizzle-orm'
import { streamDays } from './bus.ts'
import type { Database } from './db.ts'

/** How long the runtime's tables keep what is done with: they hold families' data, and would only ever grow. */
const retention: { table: SQL; over: SQL; days: number }[] = [
  // As long as the broker has it, so that what the broker loses can be published again.
  { table: sql`outbox`, over: sql`published_at`, days: streamDays },
  // Longer than any copy of an event can arrive.
  { table: sql`inbox`, over: sql`handled_at`, days: streamDays + 15 },
  { table: sql`dead_letters`, over: sql`replayed_at`, days: 90 },
  // Every delivery is handled or given up within minutes.
  { table: sql`failed_deliveries`, over: sql`failed_at`, days: 1 },
]

const batchSize = 5_000

/** Deletes what is older than its retention, in batches that lock nothing for long. */
export async function sweep(db: Database, signal: AbortSignal): Promise<void> {
  for (const { table, over, days } of retention) {
    for (let deleted = batchSize; deleted === batchSize && !signal.aborted;) {
      const { rowCount } = await db.execute(sql`
        delete from ${table} where ctid = any(array(
          select ctid from ${table} where ${over} < now() - make_interval(days => ${days}) limit ${batchSize}))`)
      deleted = rowCount ?? 0
    }
  }
}
