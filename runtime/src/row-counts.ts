import { sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { Gauge } from 'prom-client'
import type { Context } from './service.ts'

/** How often the rows of a whole table are counted, which takes time. */
const countEveryMs = 60_000

/**
 * Registers a gauge of all rows of a table by the values of a column. A value that no row has now counts as zero, or is no
 * longer shown if the column does not list its values.
 * @param name the metric and what it counts: `refunds`
 * @param label of the values: `status`
 */
export function countRows(
  { db, metrics }: Pick<Context<unknown>, 'db' | 'metrics'>,
  { name, label, table, column }: { name: string; label: string; table: PgTable; column: PgColumn },
  everyMs = countEveryMs,
): void {
  const help = `All ${name} in the database by ${label}; counted once a minute`
  const gauge = new Gauge({ name, help, labelNames: [label], registers: [metrics.registry] })
  metrics.measure({
    everyMs,
    async read() {
      const rows = await db
        .select({ value: sql<string>`${column}`, count: sql<number>`count(*)::int` })
        .from(table)
        .groupBy(column)
      gauge.reset()
      for (const value of column.enumValues ?? []) gauge.set({ [label]: value }, 0)
      for (const { value, count } of rows) gauge.set({ [label]: value }, count)
    },
  })
}
