import { formatClassTime } from '@robokids/contracts/class-date'
import { useHydrated } from '../browser/use-hydrated.ts'
import { timeForReader } from './class-time.ts'

interface ClassTimeProps {
  /** `YYYY-MM-DD` */
  date: string
  /** `HH:MM` at the school */
  time: string
}

/** The time of a class beside its date. A prerendered page does not know the reader's zone. */
export function ClassTime({ date, time }: ClassTimeProps) {
  const known = useHydrated()
  return <span>{known ? timeForReader(date, time) : `${formatClassTime(time)} Pacific`}</span>
}
