import { formatClassDate } from '@robokids/contracts/class-date'
import { openingLevels } from '@robokids/contracts/opening-levels'
import type { ReactNode } from 'react'
import { momentForReader } from '../class-time.ts'
import { isLevel } from '../content/levels.ts'
import type { RegistrationRecord } from '../registration/record.ts'
import styles from './Details.module.css'

export type Row = readonly [name: string, value: ReactNode]

/** What is known, a line each. */
export function Details({ rows }: { rows: readonly Row[] }) {
  return (
    <dl className={styles['details']}>
      {rows.map(([name, value]) => (
        <div key={name} className={styles['row']}>
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

const known = (value: string, name: string) => value || `[Missing ${name}]`

function childLine(child: { childName: string; childAge: string }, position: string) {
  const name = known(child.childName, `${position} Name`)
  return child.childAge ? `${name}, age ${child.childAge}` : name
}

/** Lines of text below each other, without the empty ones. */
export function Lines({ of }: { of: readonly string[] }) {
  return of.filter((line) => line !== '').map((line, index) => <div key={index}>{line}</div>)
}

function AddressLines({ addressLine1, addressLine2, city, state, zipCode }: KnownDetails) {
  const lines =
    !addressLine1 && !city && !state && !zipCode
      ? ['[Missing Address]']
      : [
          known(addressLine1, 'Address Line 1'),
          addressLine2,
          `${known(city, 'City')}, ${known(state, 'State')} ${known(zipCode, 'Zip Code')}`,
        ]
  return <Lines of={lines} />
}

/** What is known of a member, who registered no child: nothing is asked for that was never asked. */
export function memberRows({ guardianName, startDate }: KnownDetails): Row[] {
  const rows: Row[] = [
    ['Guardian', guardianName],
    ['Class', 'Members’ session'],
    ['Class date', startDate && formatClassDate(startDate)],
  ]
  return rows.filter(([, value]) => value !== '')
}

export function familyRows(details: KnownDetails): Row[] {
  const children = [{ childName: details.childName, childAge: details.childAge }, ...details.siblings]
  return [
    ['Guardian', known(details.guardianName, 'Guardian Name')],
    [
      children.length === 1 ? 'Child' : 'Children',
      children.map((child, index) => <div key={index}>{childLine(child, index === 0 ? 'Child' : 'Sibling')}</div>),
    ],
    ['Email', known(details.email, 'Email')],
    ['Shipping address', <AddressLines key="address" {...details} />],
  ]
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
  const day = startDate ? formatClassDate(startDate) : '[Missing Start Date]'
  return ['Start date', startDate && startTime ? <ClassMoment date={startDate} time={startTime} /> : day]
}

export function classRow(classType: string): Row {
  return ['Class type', isLevel(classType) ? openingLevels[classType].title : known(classType, 'Class Type')]
}
