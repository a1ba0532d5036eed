import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import ICAL from 'ical.js'
import { tzlib_get_ical_block } from 'timezones-ical-library'

export interface CalendarEntry {
  /** The identifier of the entry, the same in every file about it. */
  uid: string
  /** The class and its children. */
  title: string
  when: Pick<RegistrationFacts, 'startDate' | 'startTime' | 'durationMinutes' | 'timeZone'>
  description: string
}

export interface CalendarFile {
  method: 'PUBLISH' | 'CANCEL'
  /** 0 for the first file and its repetitions; incremented with each change. */
  sequence: number
  /** When this version of the entries was created. */
  stamp: Temporal.Instant
  /** The sender's address. */
  organizer: string
  entries: CalendarEntry[]
}

// ical.js does not count the blank at the start of a folded line; RFC 5545 (3.1) counts it in the limit of 75 octets.
ICAL.foldLength = 74

/** Returns the time zone with its rules, because Outlook shows a class an hour off if it gets only the zone's name. */
function timeZoneComponent(timeZone: string): ICAL.Component {
  const [block] = tzlib_get_ical_block(timeZone)
  if (block === undefined) throw new Error(`No calendar rules are known for the time zone ${timeZone}.`)
  return ICAL.Component.fromString(block)
}

/** Returns the start of a class. */
export function startOf({ startDate, startTime, timeZone }: CalendarEntry['when']): Temporal.ZonedDateTime {
  return Temporal.PlainDate.from(startDate).toPlainDateTime(startTime).toZonedDateTime(timeZone)
}

/**
 * Renders the meetings of a class as an iCalendar object (RFC 5545), one entry each. A newer one with the same UID replaces the
 * entry; a repeated one changes nothing. Calendars are shared with people and programs, so it contains nothing that gives access:
 * no reference and no link.
 */
export function renderCalendar(file: CalendarFile): string {
  const { method, sequence, stamp, organizer, entries } = file
  const calendar = new ICAL.Component('vcalendar')
  calendar.addPropertyWithValue('prodid', '-//Robo Kids Learning//Classes//EN')
  calendar.addPropertyWithValue('version', '2.0')
  calendar.addPropertyWithValue('method', method)
  for (const timeZone of new Set(entries.map(({ when }) => when.timeZone)))
    calendar.addSubcomponent(timeZoneComponent(timeZone))
  for (const { uid, title, when, description } of entries) {
    const start = startOf(when)
    const event = new ICAL.Component('vevent')
    const inZone = (name: string, time: Temporal.ZonedDateTime) => {
      const wallClock = time.toPlainDateTime().toString({ smallestUnit: 'second' })
      event.addPropertyWithValue(name, ICAL.Time.fromDateTimeString(wallClock)).setParameter('tzid', when.timeZone)
    }
    event.addPropertyWithValue('uid', `${uid}@robokidslearning`)
    event.addPropertyWithValue('sequence', sequence)
    event.addPropertyWithValue('dtstamp', ICAL.Time.fromDateTimeString(stamp.toString({ smallestUnit: 'second' })))
    inZone('dtstart', start)
    inZone('dtend', start.add({ minutes: when.durationMinutes }))
    event.addPropertyWithValue('summary', `Robo Kids Learning: ${title}`)
    event.addPropertyWithValue('description', description)
    event.addPropertyWithValue('location', 'Live video call')
    event.addPropertyWithValue('status', method === 'CANCEL' ? 'CANCELLED' : 'CONFIRMED')
    event.addPropertyWithValue('organizer', `mailto:${organizer}`).setParameter('cn', 'Robo Kids Learning')
    calendar.addSubcomponent(event)
  }
  return `${calendar.toString()}\r\n`
}
