import { formatClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { type ReactNode, useId } from 'react'
import { FieldError } from '../ui/Labelled.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { nextOpenDate } from './class-offer.ts'
import { ClassTime } from './ClassTime.tsx'
import styles from './DateCards.module.css'
import { SeatsLeft } from './SeatsLeft.tsx'
import { WaitLink } from './WaitLink.tsx'

/** A class date. */
export interface DateOption {
  /** `YYYY-MM-DD` */
  date: string
  /** `HH:MM` in the school's time zone, if known. */
  startTime: string | undefined
  seatsLeft: number
  /** The number of families that wait for it. */
  familiesWaiting?: number | undefined
  /** This family may hold a seat of it already, although it is full. */
  held?: boolean
}

const isOpen = ({ seatsLeft, held = false }: DateOption) => seatsLeft > 0 || held

interface DateCardsProps {
  label: string
  hint: ReactNode
  name: string
  id?: string
  /** Undefined while loading. */
  dates: readonly DateOption[] | undefined
  /** The length of the program. */
  length?: string
  /** The selected date, which may turn out to be unavailable. */
  value: string
  error: string | undefined
  onChoose: (date: string) => void
  /** The level whose full dates have a waitlist. */
  waitlistOf?: LevelClassType
}

/** A choice of class dates, each with its time, also in the reader's zone, and its seats left. */
export function DateCards({
  label,
  hint,
  name,
  id,
  dates,
  length,
  value,
  error,
  onChoose,
  waitlistOf,
}: DateCardsProps) {
  const ownId = useId()
  const groupId = id ?? ownId
  const wanted = dates?.find(({ date }) => date === value)
  // Selected by a link, or by the draft for another level.
  const gone = dates && dates.length > 0 && value !== '' && !wanted
  const next =
    dates && value !== '' && !(wanted && isOpen(wanted)) ? nextOpenDate(dates.filter(isOpen), value) : undefined
  return (
    // Gets the focus if no date is selected: a full date is disabled and cannot.
    <fieldset
      id={groupId}
      role="radiogroup"
      className={styles.group}
      tabIndex={-1}
      aria-labelledby={`${groupId}-label`}
      aria-describedby={`${error ? `${groupId}-error ` : ''}${groupId}-hint`}
      aria-invalid={error ? true : undefined}
      aria-required
      aria-busy={!dates}
    >
      <legend id={`${groupId}-label`}>{label}</legend>
      <FieldError id={`${groupId}-error`} error={error} />
      <p id={`${groupId}-hint`} className={styles.hint}>
        {hint}
      </p>
      {!dates && (
        <div className={styles.waiting}>
          {Array.from({ length: 4 }, (_, line) => (
            <Skeleton key={line} height="var(--card)" />
          ))}
          <TakesLonger />
        </div>
      )}
      {dates?.map((option) => (
        <label key={option.date} className={`${styles.card} ${isOpen(option) ? '' : styles.full}`}>
          <input
            type="radio"
            name={name}
            value={option.date}
            checked={isOpen(option) && option.date === value}
            disabled={!isOpen(option)}
            onChange={() => onChoose(option.date)}
          />
          <span className={styles.when}>
            <strong>{formatClassDate(option.date)}</strong>
            <span className={styles.soft}>
              {option.startTime && <ClassTime date={option.date} time={option.startTime} />}
            </span>
          </span>
          <span className={styles.left}>
            {option.seatsLeft === 0 && option.held ? (
              <span className={styles.soft}>Full, but we may be holding your seat</span>
            ) : (
              <SeatsLeft of={option.seatsLeft} waiting={option.familiesWaiting} />
            )}
            {!isOpen(option) && waitlistOf ? (
              <span className={styles.wait}>
                <WaitLink classType={waitlistOf} startDate={option.date} />
              </span>
            ) : (
              length && <span className={styles.soft}>{length}</span>
            )}
          </span>
        </label>
      ))}
      {(next || gone || (wanted && !isOpen(wanted))) && (
        <output className={styles.next}>
          <span>{`${formatClassDate(value)} ${gone ? 'isn’t available' : 'is full'}.`}</span>{' '}
          {next && (
            <button type="button" onClick={() => onChoose(next.date)}>
              {`Choose ${formatClassDate(next.date)}`}
            </button>
          )}
        </output>
      )}
    </fieldset>
  )
}
