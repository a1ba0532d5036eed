import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  classTimeZone,
  formatClassDate,
  formatClassTime,
  formatDay,
  formatShortClassDate,
  schoolDate,
  schoolInstant,
} from './class-date.ts'
import { schoolTime } from './school-date.ts'

const anyDate = fc.integer({ min: 0, max: 40_000 }).map((days) => Temporal.PlainDate.from('1990-01-01').add({ days }))
const american = (date: Temporal.PlainDate, options: Intl.DateTimeFormatOptions) =>
  date.toLocaleString('en-US', options)

describe('the format of a class date', () => {
  it('is American English for every date', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(formatClassDate(date.toString())).toBe(american(date, { dateStyle: 'full' }))
        expect(formatDay(date.toString())).toBe(american(date, { month: 'long', day: 'numeric', year: 'numeric' }))
        expect(formatShortClassDate(date.toString())).toBe(american(date, { month: 'short', day: 'numeric' }))
      }),
    )
  })

  it('has the time on a 12-hour clock', () => {
    expect(['00:00', '00:30', '09:05', '12:00', '16:00', '23:59'].map(formatClassTime)).toEqual([
      '12:00 AM',
      '12:30 AM',
      '9:05 AM',
      '12:00 PM',
      '4:00 PM',
      '11:59 PM',
    ])
  })

  it('leaves text that is not a date or time unchanged', () => {
    expect(['', 'soon', '2025-10-3', '10/03/2025'].map(formatClassDate)).toEqual([
      '',
      'soon',
      '2025-10-3',
      '10/03/2025',
    ])
    expect(formatShortClassDate('soon')).toBe('soon')
    expect(formatClassTime('4 PM')).toBe('4 PM')
  })
})

describe('schoolInstant', () => {
  it('agrees with Temporal at every time of day, also when the clocks change', () => {
    const days = Temporal.PlainDate.from('2007-01-01').until('2100-01-01').days
    fc.assert(
      fc.property(fc.nat(days - 1), fc.nat(24 * 60 - 1), (day, minute) => {
        const date = Temporal.PlainDate.from('2007-01-01').add({ days: day })
        const time = Temporal.PlainTime.from({ hour: Math.floor(minute / 60), minute: minute % 60 })
        const zoned = date.toZonedDateTime({ timeZone: classTimeZone, plainTime: time })
        expect(schoolInstant(date.toString(), time.toString().slice(0, 5))).toBe(zoned.epochMilliseconds)
      }),
      { numRuns: 1_000 },
    )
    for (const date of ['2027-03-14', '2027-11-07'])
      for (const time of ['00:00', '01:00', '01:59', '02:00', '02:30', '03:00', '16:00'])
        expect(schoolInstant(date, time)).toBe(
          Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: classTimeZone, plainTime: time }).epochMilliseconds,
        )
  })

  it('returns undefined for a date or time that does not exist', () => {
    const given = [
      ['', '16:00'],
      ['soon', '16:00'],
      ['2027-13-01', '16:00'],
      ['2027-01-01', '4 PM'],
      ['2027-01-01', '25:00'],
    ] as const
    expect(given.map(([date, time]) => schoolInstant(date, time))).toEqual(given.map(() => undefined))
  })
})

describe('schoolDate and schoolTime', () => {
  const day = (instant: Temporal.Instant) => instant.toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
  const timeOfDay = (instant: Temporal.Instant) =>
    instant.toZonedDateTimeISO(classTimeZone).toPlainTime().toString().slice(0, 5)

  it('agree with Temporal at any instant', () => {
    const from = Temporal.Instant.from('2007-01-01T00:00:00Z').epochMilliseconds
    const to = Temporal.Instant.from('2100-01-01T00:00:00Z').epochMilliseconds
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (time) => {
        const instant = Temporal.Instant.fromEpochMilliseconds(time)
        expect(schoolDate(instant.toString())).toBe(day(instant))
        expect(schoolTime(instant.toString())).toBe(timeOfDay(instant))
      }),
      { numRuns: 1_000 },
    )
  })

  it('change the date at midnight at the school, also around each clock change', () => {
    for (let year = 2007; year < 2100; year += 1) {
      let clock = Temporal.PlainDate.from({ year, month: 1, day: 1 }).toZonedDateTime(classTimeZone)
      for (let change = clock.getTimeZoneTransition('next'); change?.year === year;) {
        clock = change
        for (const days of [-1, 0, 1, 2]) {
          const midnight = clock.add({ days }).startOfDay()
          const before = midnight.subtract({ seconds: 1 })
          expect(schoolDate(midnight.toInstant().toString())).toBe(midnight.toPlainDate().toString())
          expect(schoolDate(before.toInstant().toString())).toBe(before.toPlainDate().toString())
        }
        change = clock.getTimeZoneTransition('next')
      }
    }
  })

  it('accept any RFC 3339 format and leave other text unchanged', () => {
    expect(
      ['2027-01-09T04:00:00Z', '2027-01-09T07:59:59.999Z', '2027-01-09T08:00:00Z', '2027-01-09T09:00:00+05:00'].map(
        schoolDate,
      ),
    ).toEqual(['2027-01-08', '2027-01-08', '2027-01-09', '2027-01-08'])
    expect(schoolDate('soon')).toBe('soon')
  })
})
