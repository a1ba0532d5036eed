import { formatClassTime } from '@robokids/contracts/class-date'
import { useHydrated } from '../browser/use-hydrated.ts'
import { timeForReader } from './class-time.ts'

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
