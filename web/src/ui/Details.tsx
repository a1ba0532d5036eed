import type { ReactNode } from 'react'
import { asWritten } from './AsWritten.tsx'
import styles from './Details.module.css'

export type Row = readonly [name: string, value: ReactNode]

/** A description list. */
export function Details({ rows }: { rows: readonly Row[] }) {
  return (
    <dl className={styles.details}>
      {rows.map(([name, value], index) => (
        // By index: a receipt may list two equal refunds.
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

/** Address lines, without the empty ones. */
export function Lines({ of }: { of: readonly string[] }) {
  return of.filter((line) => line !== '').map((line, index) => <div key={index}>{asWritten(line)}</div>)
}
