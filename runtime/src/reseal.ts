import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Database } from './db.ts'
import type { Sealer } from './seal.ts'

/** A column in which a service keeps what it has sealed, in SQL's names. */
export interface SealedColumn<Config> {
  table: string
  column: string
  /** The column that tells the rows apart. */
  key: string
  /** What a row's purpose is made of, in SQL, where that is not its key. */
  of?: string
  purpose: (of: string) => string
  keys: (config: Config) => Sealer
}

/** What has become of what older keys sealed. */
export const resealedSchema = z.object({
  resealed: z.int(),
  /** Rows that are still under older keys: to be called again for. */
  left: z.int(),
  /** Those of them that no key opens that is here. */
  unreadable: z.int(),
})

const batchSize = 200

/**
 * Opens and seals again what a service keeps under older keys, for a while; safe beside everything that reads and writes
 * it, and to be killed and called again. A row that is written meanwhile is left to the next call.
 * @param forMs after how long it answers, whatever is left.
 */
export async function reseal<Config>(
  db: Database,
  columns: SealedColumn<Config>[],
  config: Config,
  forMs = 10_000,
): Promise<z.infer<typeof resealedSchema>> {
  const until = performance.now() + forMs
  const sum = { resealed: 0, left: 0, unreadable: 0 }
  for (const { table, column, key, of = key, purpose, keys } of columns) {
    const sealer = keys(config)
    const [from, sealed, id] = [sql.identifier(table), sql.identifier(column), sql`${sql.identifier(key)}::text`]
    const isOld = sql`split_part(${sealed}, '.', 1) <> ${sealer.newest}`
    for (let after = ''; performance.now() < until;) {
      const { rows } = await db.execute<{ id: string; of: string; sealed: string }>(sql`
        select ${id} as id, (${sql.raw(of)})::text as of, ${sealed} as sealed from ${from}
        where ${isOld} and ${id} > ${after} order by ${id} limit ${batchSize}`)
      for (const row of rows) {
        const content = sealer.open(row.sealed, purpose(row.of))
        if (content === undefined) {
          sum.unreadable += 1
          continue
        }
        const { rowCount } = await db.execute(sql`
          update ${from} set ${sealed} = ${sealer.seal(content, purpose(row.of))}
          where ${id} = ${row.id} and ${sealed} = ${row.sealed}`)
        sum.resealed += rowCount ?? 0
      }
      if (rows.length < batchSize) break
      after = rows.at(-1)?.id ?? ''
    }
    const { rows } = await db.execute<{ left: string }>(sql`select count(*) as left from ${from} where ${isOld}`)
    sum.left += Number(rows[0]?.left)
  }
  return sum
}
