import type { Resealed } from '@robokids/contracts/operator'
import { sql } from 'drizzle-orm'
import type { Database } from './db.ts'
import type { Sealer } from './seal.ts'

/** A column with sealed values, by its SQL names. */
export interface SealedColumn<Config> {
  table: string
  column: string
  /** The primary key column. */
  key: string
  /** The SQL expression whose value is passed to `purpose`; default: the key. */
  of?: string
  purpose: (of: string) => string
  keys: (config: Config) => Sealer
}

const batchSize = 200

/**
 * Reseals values that are sealed under older keys. Safe to run concurrently with reads and writes, and to be killed and called
 * again. A row that is written meanwhile is left to the next call.
 * @param maxMs the time limit, after which it returns even if rows are left.
 */
export async function reseal<Config>(
  db: Database,
  columns: SealedColumn<Config>[],
  config: Config,
  maxMs = 10_000,
): Promise<Resealed> {
  const until = performance.now() + maxMs
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
