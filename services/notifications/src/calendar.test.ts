import ICAL from 'ical.js'
import { sync } from 'node-ical'
import { describe, expect, it } from 'vitest'
import { renderClassCalendar, type CalendarEntry, type ClassCalendar } from './calendar.ts'

function entry(
  when: Partial<CalendarEntry['when']> = {},
  { method = 'PUBLISH', sequence = 0, ...changes }: Partial<CalendarEntry & ClassCalendar> = {},
): string {
  const one = {
    uid: 'class-0196f3c0-0000-4000-8000-000000000009',
    description: 'One line\nand another',
    title: 'Level 1 Foundations (Ivo)',
    when: {
      startDate: '2027-01-08',
      startTime: '16:00',
      durationMinutes: 60,
      timeZone: 'America/Los_Angeles',
      ...when,
    },
    ...changes,
  }
  return renderClassCalendar({
    method,
    sequence,
    stamp: Temporal.Instant.from('2026-11-28T03:15:30.123Z'),
    organizer: 'hello@example.com',
    entries: [one],
  })
}

/** Returns start and end as read by two independent parsers. */
function times(source: string): string[] {
  const event = Object.values(sync.parseICS(source)).find((part) => part?.type === 'VEVENT')
  if (event?.type !== 'VEVENT') throw new Error('There is no event.')
  const calendar = new ICAL.Component(ICAL.parse(source) as unknown[] as never)
  const zone = new ICAL.Timezone(calendar.getFirstSubcomponent('vtimezone') ?? undefined)
  const own = calendar.getFirstSubcomponent('vevent')
  return ['dtstart', 'dtend'].map((name, index) => {
    const value = own?.getFirstPropertyValue(name)
    if (!(value instanceof ICAL.Time)) throw new Error(`There is no ${name}.`)
    value.zone = zone
    const instant = new Date(value.toUnixTime() * 1000).toISOString()
    expect((index === 0 ? event.start : event.end)?.toISOString()).toBe(instant)
    return instant
  })
}

describe('a calendar entry', () => {
  it.each([
    ['a winter class', '2027-01-08', '16:00', 60, ['2027-01-09T00:00:00.000Z', '2027-01-09T01:00:00.000Z']],
    ['a summer class', '2027-07-09', '16:00', 75, ['2027-07-09T23:00:00.000Z', '2027-07-10T00:15:00.000Z']],
    ['a class at midnight', '2027-01-01', '00:00', 60, ['2027-01-01T08:00:00.000Z', '2027-01-01T09:00:00.000Z']],
    [
      'a class that ends the next day',
      '2027-01-01',
      '23:30',
      75,
      ['2027-01-02T07:30:00.000Z', '2027-01-02T08:45:00.000Z'],
    ],
    [
      'a class on the day the clocks go forward',
      '2027-03-14',
      '16:00',
      60,
      ['2027-03-14T23:00:00.000Z', '2027-03-15T00:00:00.000Z'],
    ],
    [
      'a class on the day the clocks go back',
      '2027-11-07',
      '16:00',
      60,
      ['2027-11-08T00:00:00.000Z', '2027-11-08T01:00:00.000Z'],
    ],
  ] as const)('puts %s at the right time', (_case, startDate, startTime, durationMinutes, moments) => {
    expect(times(entry({ startDate, startTime, durationMinutes }))).toEqual(moments)
  })

  it('defines its time zone with the yearly rules of standard and daylight time', () => {
    const source = entry()
    const zone = /BEGIN:VTIMEZONE\r\n(.*?)END:VTIMEZONE/s.exec(source)?.[1] ?? ''
    expect(source.match(/BEGIN:VTIMEZONE/g)).toHaveLength(1)
    expect(zone).toContain('TZID:America/Los_Angeles')
    expect(/BEGIN:STANDARD(.*?)END:STANDARD/s.exec(zone)?.[1]).toContain('RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU')
    expect(/BEGIN:DAYLIGHT(.*?)END:DAYLIGHT/s.exec(zone)?.[1]).toContain('RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU')
  })

  it('has the properties that RFC 5546 requires of a publication: UID, SEQUENCE, a UTC stamp and an organizer', () => {
    const source = entry()
    expect(source).toContain('METHOD:PUBLISH\r\n')
    expect(source).toContain('UID:class-0196f3c0-0000-4000-8000-000000000009@robokidslearning\r\n')
    expect(source).toContain('SEQUENCE:0\r\n')
    expect(source).toContain('DTSTAMP:20261128T031530Z\r\n')
    expect(source).toContain('ORGANIZER;CN=Robo Kids Learning:mailto:hello@example.com\r\n')
    expect(source.endsWith('END:VCALENDAR\r\n')).toBe(true)
  })

  it('renders the same entry to the same text', () => {
    expect(entry()).toBe(entry())
  })

  it('escapes the special characters of iCalendar', () => {
    const source = entry({}, { title: 'Level 1 Foundations (Jo; "Bug", \\o/)' })
    expect(source.replaceAll('\r\n ', '')).toContain('(Jo\\; "Bug"\\, \\\\o/)')
    expect(source).toContain('DESCRIPTION:One line\\nand another\r\n')
  })
})
