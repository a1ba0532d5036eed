import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import ICAL from 'ical.js'
import { tzlib_get_ical_block } from 'timezones-ical-library'

export interface CalendarEntry {
  method: 'PUBLISH' | 'CANCEL'
  /** What the entry is known by: the same in all that is ever sent about it. */
  uid: string
  /** The class, and who goes there. */
  title: string
  when: Pick<RegistrationFacts, 'startDate' | 'startTime' | 'durationMinutes' | 'timeZone'>
  /** 0 when the entry is first sent, and again when that is repeated; one more for each change. */
  sequence: number
  /** When this state of the entry came to be. */
  stamp: Temporal.Instant
  /** The address that it comes from. */
  organizer: string
  description: string
}

// ical.js counts without the blank that a folded line begins with, and RFC 5545 (3.1) counts it among the 75 octets.
ICAL.foldLength = 74

/** The zone with its rules: Outlook places a class in a zone that it is only told the name of an hour off. */
function timeZoneComponent(timeZone: string): ICAL.Component {
  const [block] = tzlib_get_ical_block(timeZone)
  if (block === undefined) throw new Error(`No calendar rules are known for the time zone ${timeZone}.`)
  return ICAL.Component.fromString(block)
}

/** When a class begins. */
export function startOf({ startDate, startTime, timeZone }: CalendarEntry['when']): Temporal.ZonedDateTime {
  return Temporal.PlainDate.from(startDate).toPlainDateTime(startTime).toZonedDateTime(timeZone)
}

/**
 * A class as an iCalendar object (RFC 5545): a newer one of the same UID replaces the entry, a repeated one changes nothing.
 * Calendars are shared with people and programs, so nothing in it opens or does anything: no reference, no link with one.
 */
export function renderCalendar(entry: CalendarEntry): string {
  const { method, uid, title, when, sequence, stamp, organizer, description } = entry
  const start = startOf(when)
  const calendar = new ICAL.Component('vcalendar')
  calendar.addPropertyWithValue('prodid', '-//Robo Kids Learning//Classes//EN')
  calendar.addPropertyWithValue('version', '2.0')
  calendar.addPropertyWithValue('method', method)
  calendar.addSubcomponent(timeZoneComponent(when.timeZone))

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
  return `${calendar.toString()}\r\n`
}
