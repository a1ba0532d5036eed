import { classCalendar } from '@robokids/contracts/class-calendar'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { renderCalendar } from '@robokids/runtime/calendar'

export interface CalendarEntry {
  /** The identifier of the entry, the same in every file about it. */
  uid: string
  /** The class and its children. */
  title: string
  when: Pick<RegistrationFacts, 'startDate' | 'startTime' | 'durationMinutes' | 'timeZone'>
  description: string
  /** Whether it does not take place any more. */
  isCancelled?: boolean
}

export interface ClassCalendar {
  method: 'PUBLISH' | 'CANCEL'
  /** 0 for the first file and its repetitions; incremented with each change. */
  sequence: number
  /** When this version of the entries was created. */
  stamp: Temporal.Instant
  /** The sender's address. */
  organizer: string
  entries: CalendarEntry[]
}

/** Returns the start of a class. */
function startOf({ startDate, startTime, timeZone }: CalendarEntry['when']): Temporal.ZonedDateTime {
  return Temporal.PlainDate.from(startDate).toPlainDateTime(startTime).toZonedDateTime(timeZone)
}

/**
 * Renders the meetings of a class as an iCalendar object, one entry each. Calendars are shared with people and programs, so it
 * contains nothing that gives access: no reference and no link.
 */
export function renderClassCalendar({ method, sequence, stamp, organizer, entries }: ClassCalendar): string {
  return renderCalendar({
    product: classCalendar.product,
    method,
    organizer: { name: classCalendar.organizerName, address: organizer },
    events: entries.map(({ uid, title, when, description, isCancelled = method === 'CANCEL' }) => ({
      uid: classCalendar.uid(uid),
      summary: classCalendar.summary(title),
      description,
      location: classCalendar.location,
      start: startOf(when),
      durationMinutes: when.durationMinutes,
      isCancelled,
      sequence,
      stamp,
    })),
  })
}
