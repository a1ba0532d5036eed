import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import ICAL from 'ical.js'
import { tzlib_get_ical_block } from 'timezones-ical-library'

export interface CalendarEntry {
  method: 'PUBLISH' | 'CANCEL'
  /** What the entry is known by: the same in all that is ever sent about it. */
  uid: string
  facts: RegistrationFacts
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

/**
 * A class as an iCalendar object (RFC 5545): a newer one of the same UID replaces the entry, a repeated one changes nothing.
 * Calendars are shared with people and programs, so nothing in it opens or does anything: no reference, no link with one.
 */
export function renderCalendar({ method, uid, facts, sequence, stamp, organizer, description }: CalendarEntry): string {
  const start = Temporal.PlainDate.from(facts.startDate)
    .toPlainDateTime(facts.startTime)
    .toZonedDateTime(facts.timeZone)
  const calendar = new ICAL.Component('vcalendar')
  calendar.addPropertyWithValue('prodid', '-//Robo Kids Learning//Classes//EN')
  calendar.addPropertyWithValue('version', '2.0')
  calendar.addPropertyWithValue('method', method)
  calendar.addSubcomponent(timeZoneComponent(facts.timeZone))

  const event = new ICAL.Component('vevent')
  const inZone = (name: string, time: Temporal.ZonedDateTime) => {
    const wallClock = time.toPlainDateTime().toString({ smallestUnit: 'second' })
    event.addPropertyWithValue(name, ICAL.Time.fromDateTimeString(wallClock)).setParameter('tzid', facts.timeZone)
  }
  event.addPropertyWithValue('uid', `${uid}@robokidslearning`)
  event.addPropertyWithValue('sequence', sequence)
  event.addPropertyWithValue('dtstamp', ICAL.Time.fromDateTimeString(stamp.toString({ smallestUnit: 'second' })))
  inZone('dtstart', start)
  inZone('dtend', start.add({ minutes: facts.durationMinutes }))
  const names = facts.children.map((child) => child.childName).join(', ')
  event.addPropertyWithValue('summary', `Robo Kids Learning: ${facts.levelTitle} (${names})`)
  event.addPropertyWithValue('description', description)
  event.addPropertyWithValue('location', 'Live video call')
  event.addPropertyWithValue('status', method === 'CANCEL' ? 'CANCELLED' : 'CONFIRMED')
  event.addPropertyWithValue('organizer', `mailto:${organizer}`).setParameter('cn', 'Robo Kids Learning')
  calendar.addSubcomponent(event)
  return `${calendar.toString()}\r\n`
}
