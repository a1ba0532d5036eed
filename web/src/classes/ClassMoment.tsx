import { momentForReader } from './class-time.ts'
import styles from './ClassMoment.module.css'

/** The date and time of a class. */
export function ClassMoment({ date, time }: { date: string; time: string }) {
  const moment = momentForReader(date, time)
  return (
    <>
      <span>{`${moment.day}, `}</span>
      <span className={styles.whole}>{moment.time}</span>
      {moment.elsewhere !== undefined && <div>{moment.elsewhere}</div>}
    </>
  )
}
