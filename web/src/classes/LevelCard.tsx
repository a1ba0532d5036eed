import type { ClassesView } from '@robokids/contracts/bff'
import { formatClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { Link } from '@tanstack/react-router'
import { ButtonLink } from '../ui/Button.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { ClassTime } from './ClassTime.tsx'
import { levels } from './level-looks.ts'
import styles from './LevelCard.module.css'
import { LevelRobot } from './LevelRobot.tsx'
import { SeatsLeft } from './SeatsLeft.tsx'

type Level = ClassesView['levels'][number]

interface LevelCardProps {
  classType: LevelClassType
  /** Undefined while loading, and when that fails. */
  level: Level | undefined
  failed: boolean
}

/** A level on the landing page: topic, price, dates and free seats. */
export function LevelCard({ classType, level, failed }: LevelCardProps) {
  const { path, accent, promise } = levels[classType]
  const { title, description, programLength, recommendedAges } = level ?? openingLevels[classType]
  const shortName = title.split(' ').slice(0, 2).join(' ')
  // Assumed to be open while unknown.
  const open = !level || level.sessions.some(({ seatsLeft }) => seatsLeft > 0)
  return (
    <article className={styles.card} data-accent={accent} aria-busy={!level && !failed}>
      <div className={styles.picture}>
        <LevelRobot classType={classType} />
      </div>
      <div className={styles.words}>
        <h3 className={styles.title}>
          <span>{title}</span>
          <span className={styles.price}>
            {level ? formatMoney(level.price, true) : !failed && <Skeleton width="3.5ch" />}
          </span>
        </h3>
        <p className={styles.promise}>{promise}</p>
        <dl className={styles.facts}>
          <div>
            <dt>Program</dt>
            <dd>{programLength}</dd>
          </div>
          <div>
            <dt>Recommended ages</dt>
            <dd>{`${recommendedAges.from} to ${recommendedAges.to}`}</dd>
          </div>
        </dl>
        <h4 className={styles.datesTitle}>Upcoming dates</h4>
        <div className={styles.dates}>
          {level ? (
            <Dates sessions={level.sessions} path={path} />
          ) : failed ? (
            <span>Not loaded</span>
          ) : (
            <Lines of={4} />
          )}
          {!level && <noscript>Shown with JavaScript turned on</noscript>}
        </div>
        <div className={styles.action}>
          <ButtonLink to={path} wide variant={open ? 'primary' : 'secondary'}>
            {open ? `Register for ${shortName}` : `View ${shortName}`}
          </ButtonLink>
        </div>
        <p className={styles.description}>{description}</p>
      </div>
    </article>
  )
}

function Lines({ of }: { of: number }) {
  return Array.from({ length: of }, (_, line) => (
    <Skeleton key={line} width={line % 2 ? '70%' : '92%'} height="0.9em" />
  ))
}

/** Links to the form with the date selected. */
function Dates({ sessions, path }: { sessions: Level['sessions']; path: string }) {
  const first = sessions[0]
  if (!first) {
    return (
      <p className={styles.none}>
        New dates are coming. <Link to="/contact">Ask us</Link> to let you know first.
      </p>
    )
  }
  return (
    <>
      <ul className={styles.list}>
        {sessions.map(({ classSessionId, date, seatsLeft, familiesWaiting }) => (
          <li key={classSessionId} className={seatsLeft === 0 ? styles.full : undefined}>
            {seatsLeft === 0 ? (
              <span>{formatClassDate(date)}</span>
            ) : (
              <Link to={path} search={{ startDate: date }}>
                {formatClassDate(date)}
              </Link>
            )}
            <SeatsLeft of={seatsLeft} waiting={familiesWaiting} />
          </li>
        ))}
      </ul>
      <p className={styles.time}>
        <ClassTime date={first.date} time={first.startTime} />
        <span>, live video call</span>
      </p>
    </>
  )
}
