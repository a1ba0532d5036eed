import { formatClassDate } from '@robokids/contracts/class-date'
import { childLine, classDetail, type Detail, familyDetails, startDay } from '@robokids/contracts/details'
import { isolate } from '@robokids/contracts/isolate'
import type { ReactNode } from 'react'
import { momentForReader } from '../class-time.ts'
import type { RegistrationRecord } from '../registration/record.ts'
import { AsWritten, asWritten } from './AsWritten.tsx'
import styles from './Details.module.css'

export type Row = readonly [name: string, value: ReactNode]

/** What is known, a line each. */
export function Details({ rows }: { rows: readonly Row[] }) {
  return (
    <dl className={styles['details']}>
      {rows.map(([name, value], index) => (
        // By its place: a receipt may tell of two refunds.
        <div key={index} className={styles['row']}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

export type KnownDetails = Pick<
  RegistrationRecord,
  | 'guardianName'
  | 'email'
  | 'childName'
  | 'childAge'
  | 'siblings'
  | 'addressLine1'
  | 'addressLine2'
  | 'city'
  | 'state'
  | 'zipCode'
  | 'startDate'
>

/** Lines of an address below each other, without the empty ones. */
export function Lines({ of }: { of: readonly string[] }) {
  return of.filter((line) => line !== '').map((line, index) => <div key={index}>{asWritten(line)}</div>)
}

/** What a family wrote inside a line of ours, as `isolate` sets it apart. */
const isolated = /\u2068([^\u2069]*)\u2069/

/** Draws a detail in whose lines `isolate` has set apart what a family wrote, which no translator may change. */
export function rowOf([name, lines]: Detail): Row {
  const drawn = lines.map((line, index) => (
    <div key={index}>
      {line.split(isolated).map((part, nth) => {
        if (nth % 2 === 1) return <AsWritten key={nth}>{part}</AsWritten>
        return part && <span key={nth}>{part}</span>
      })}
    </div>
  ))
  return [name, drawn]
}

export function childRow(child: { childName: string; childAge: string }): Row {
  return rowOf(['Child', [childLine(child, 'Child', isolate)]])
}

/** What is known of a member, who registered no child: nothing is asked for that was never asked. */
export function memberRows({ guardianName, startDate }: KnownDetails): Row[] {
  const rows: Row[] = [
    ['Guardian', asWritten(guardianName)],
    ['Class', 'Members’ session'],
    ['Class date', startDate && formatClassDate(startDate)],
  ]
  return rows.filter(([, value]) => value !== '')
}

export function familyRows(details: KnownDetails): Row[] {
  const children = [{ childName: details.childName, childAge: details.childAge }, ...details.siblings]
  return familyDetails({ ...details, children }, isolate).map(rowOf)
}

/** The date and time of a class. */
export function ClassMoment({ date, time }: { date: string; time: string }) {
  const moment = momentForReader(date, time)
  return (
    <>
      <span>{`${moment.day}, `}</span>
      <span className={styles['whole']}>{moment.time}</span>
      {moment.elsewhere !== undefined && <div>{moment.elsewhere}</div>}
    </>
  )
}

/** The date as a calendar day, never moved by the reader's own zone. */
export function startRow(startDate: string, startTime?: string): Row {
  return [
    'Start date',
    startDate && startTime ? <ClassMoment date={startDate} time={startTime} /> : startDay(startDate),
  ]
}

export function classRow(classType: string): Row {
  return rowOf(classDetail(classType))
}
