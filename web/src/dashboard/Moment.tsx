import styles from './Moment.module.css'
import { momentOf } from './moments.ts'

/** When a class begins: each time stays in one line. */
export function Moment({ of, withDay = false }: { of: string; withDay?: boolean }) {
  const { day, time, pacific } = momentOf(of)
  return (
    <>
      {withDay && <span>{`${day}, `}</span>}
      <span className={styles.whole}>{time}</span>
      {pacific !== undefined && <span> </span>}
      {pacific !== undefined && <span className={styles.whole}>{`(${pacific})`}</span>}
    </>
  )
}
