import { meetingTimes } from '@robokids/contracts/class-link-times'
import type { Meeting } from '@robokids/contracts/meetings'
import { Icon } from '../ui/Icon.tsx'
import styles from './Meetings.module.css'
import { Moment } from './Moment.tsx'
import { shortMomentOf } from './moments.ts'

interface MeetingsProps {
  meetings: readonly Meeting[]
  /** The next or running one; without it, all are over. */
  next: Meeting | undefined
}

/** How far a program is, as a row of dots: `2 of 6 meetings are over`. */
function Dots({ meetings, next }: MeetingsProps) {
  const over = next ? next.number - 1 : meetings.length
  return (
    <svg
      viewBox={`0 0 ${meetings.length * 15 - 5} 10`}
      height="10"
      role="img"
      aria-label={`${over} of ${meetings.length} meetings are over`}
      className={styles.dots}
    >
      {meetings.map(({ number }, index) => (
        <g key={number} className={number <= over ? styles.over : number === next?.number ? styles.next : styles.ahead}>
          <circle cx={index * 15 + 5} cy={5} r={4} />
          {number === next?.number && <circle cx={index * 15 + 5} cy={5} r={1.5} className={styles.center} />}
        </g>
      ))}
    </svg>
  )
}

/** The next meeting, after the dots of the program. */
export function NextMeeting({ meetings, next }: MeetingsProps) {
  return (
    <>
      {meetings.length > 1 && <Dots meetings={meetings} next={next} />}
      {next && <span className={styles.whole}>{shortMomentOf(Date.parse(next.startsAt))}</span>}
    </>
  )
}

/** All dates of a program. */
export function AllDates({ meetings, now, open }: Pick<MeetingsProps, 'meetings'> & { now: number; open: boolean }) {
  if (meetings.length < 2) return null
  return (
    <details className={styles.all} open={open}>
      <summary className={styles.summary}>
        <span>{`All ${meetings.length} dates`}</span>
        <Icon name="down" />
      </summary>
      <ol className={styles.dates}>
        {meetings.map((meeting) => (
          <li key={meeting.number} className={now >= meetingTimes(meeting).closes ? styles.gone : undefined}>
            <span className={styles.number}>{`${meeting.number}.`}</span>
            <span>
              <Moment of={meeting.startsAt} withDay />
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}
