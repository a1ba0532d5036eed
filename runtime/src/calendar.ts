import ICAL from 'ical.js'
import { tzlib_get_ical_block } from 'timezones-ical-library'

export interface CalendarEvent {
  /** The identifier of the entry, the same in every file about it. */
  uid: string
  summary: string
  description: string
  location: string
  start: Temporal.ZonedDateTime
  durationMinutes: number
  isCancelled: boolean
  /** 0 at first; incremented with each change. */
  sequence: number
  /** When this version of the entry was created. */
  stamp: Temporal.Instant
}

export interface CalendarFile {
  /** Identifies the program that made it. */
  product: string
  /** Of an attachment; a calendar that programs subscribe to has none. */
  method?: 'PUBLISH' | 'CANCEL'
  /** Of a calendar that programs subscribe to: its name, and how often they should look for changes, as `PT1H`. */
  subscription?: { name: string; refresh: string }
  /** Of an attachment. */
  organizer?: { name: string; address: string }
  events: CalendarEvent[]
}

// ical.js does not count the blank at the start of a folded line; RFC 5545 (3.1) counts it in the limit of 75 octets.
ICAL.foldLength = 74

/** Returns the time zone with its rules, because Outlook shows an entry an hour off if it gets only the zone's name. */
function timeZoneComponent(timeZone: string): ICAL.Component {
  const [block] = tzlib_get_ical_block(timeZone)
  if (block === undefined) throw new Error(`No calendar rules are known for the time zone ${timeZone}.`)
  return ICAL.Component.fromString(block)
}

/**
 * Renders an iCalendar object (RFC 5545). A newer entry with the same UID replaces the older one; a repeated one changes nothing.
 * @throws Error if a time zone is unknown
 */
export function renderCalendar({ product, method, subscription, organizer, events }: CalendarFile): string {
  const calendar = new ICAL.Component('vcalendar')
  calendar.addPropertyWithValue('prodid', product)
  calendar.addPropertyWithValue('version', '2.0')
  if (method) calendar.addPropertyWithValue('method', method)
  if (subscription) {
    // Programs know either the standard's names or the older ones.
    calendar.addPropertyWithValue('name', subscription.name)
    calendar.addPropertyWithValue('x-wr-calname', subscription.name)
    calendar.addPropertyWithValue('refresh-interval', ICAL.Duration.fromString(subscription.refresh))
    calendar.addPropertyWithValue('x-published-ttl', subscription.refresh)
  }
  for (const timeZone of new Set(events.map(({ start }) => start.timeZoneId)))
    calendar.addSubcomponent(timeZoneComponent(timeZone))
  for (const { uid, summary, description, location, start, durationMinutes, isCancelled, sequence, stamp } of events) {
    const event = new ICAL.Component('vevent')
    const inZone = (name: string, time: Temporal.ZonedDateTime) => {
      const wallClock = time.toPlainDateTime().toString({ smallestUnit: 'second' })
      event.addPropertyWithValue(name, ICAL.Time.fromDateTimeString(wallClock)).setParameter('tzid', time.timeZoneId)
    }
    event.addPropertyWithValue('uid', uid)
    event.addPropertyWithValue('sequence', sequence)
    event.addPropertyWithValue('dtstamp', ICAL.Time.fromDateTimeString(stamp.toString({ smallestUnit: 'second' })))
    inZone('dtstart', start)
    inZone('dtend', start.add({ minutes: durationMinutes }))
    event.addPropertyWithValue('summary', summary)
    event.addPropertyWithValue('description', description)
    event.addPropertyWithValue('location', location)
    event.addPropertyWithValue('status', isCancelled ? 'CANCELLED' : 'CONFIRMED')
    if (organizer)
      event.addPropertyWithValue('organizer', `mailto:${organizer.address}`).setParameter('cn', organizer.name)
    calendar.addSubcomponent(event)
  }
  return `${calendar.toString()}\r\n`
}
