import type { ReactNode } from 'react'
import { asWritten } from './AsWritten.tsx'
import styles from './Details.module.css'

export type Row = readonly [name: string, value: ReactNode]

/** What is known, a line each. */
export function Details({ rows }: { rows: readonly Row[] }) {
  return (
    <dl className={styles.details}>
      {rows.map(([name, value], index) => (
        // By its place: a receipt may tell of two refunds.
        <div key={index} className={styles.row}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Lines of an address below each other, without the empty ones. */
export function Lines({ of }: { of: readonly string[] }) {
  return of.filter((line) => line !== '').map((line, index) => <div key={index}>{asWritten(line)}</div>)
}
