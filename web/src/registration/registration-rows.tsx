import { formatClassDate } from '@robokids/contracts/class-date'
import { childLine, classDetail, type Detail, familyDetails, startDay } from '@robokids/contracts/details'
import { isolate } from '@robokids/contracts/isolate'
import { formatMeetingDates } from '@robokids/contracts/meeting-dates'
import type { Meeting } from '@robokids/contracts/meetings'
import { ClassMoment } from '../classes/ClassMoment.tsx'
import { AsWritten, asWritten } from '../ui/AsWritten.tsx'
import type { Row } from '../ui/Details.tsx'
import type { RegistrationRecord } from './record.ts'

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

/** Marks user text inside a detail line. */
const isolated = /\u2068([^\u2069]*)\u2069/

/** Renders a detail whose lines contain isolated user text, which page translation must not change. */
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

/** The rows of a member's record, without those that a membership does not have. */
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

/** A calendar date, never shifted by the reader's zone. */
export function startRow(startDate: string, startTime?: string): Row {
  return [
    'Start date',
    startDate && startTime ? <ClassMoment date={startDate} time={startTime} /> : startDay(startDate),
  ]
}

/** All dates of a program; nothing for a single meeting, or while they are not known. */
export function datesRows(meetings: readonly Meeting[] = []): Row[] {
  return meetings.length > 1 ? [[`All ${meetings.length} dates`, formatMeetingDates(meetings)]] : []
}

export function classRow(classType: string): Row {
  return rowOf(classDetail(classType))
}
