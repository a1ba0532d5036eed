import { formatClassTime } from '@robokids/contracts/class-date'
import { momentForReader, timeForReader } from '../class-time.ts'
import { useHydrated } from '../use-hydrated.ts'
import styles from './Details.module.css'

interface ClassTimeProps {
  /** `YYYY-MM-DD` */
  date: string
  /** `HH:MM` at the school */
  time: string
}

/** The time of a class whose date stands beside it. A page that was rendered before knows no reader. */
export function ClassTime({ date, time }: ClassTimeProps) {
  const known = useHydrated()
  return <span>{known ? timeForReader(date, time) : `${formatClassTime(time)} Pacific`}</span>
}

/** The date and time of a class. */
export function ClassMoment({ date, time }: ClassTimeProps) {
  const moment = momentForReader(date, time)
  return (
    <>
      <span>{`${moment.day}, `}</span>
      <span className={styles['whole']}>{moment.time}</span>
      {moment.elsewhere !== undefined && <div>{moment.elsewhere}</div>}
    </>
  )
}
