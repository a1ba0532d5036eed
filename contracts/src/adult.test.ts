import { describe, expect, it } from 'vitest'
import { latestAdultBirthdate } from './adult.ts'

/** At noon at the school. */
const on = (day: string) => latestAdultBirthdate(`${day}T20:00:00.000Z`)

describe('latestAdultBirthdate', () => {
  it('returns the day before the date 18 years ago', () => {
    expect(on('2026-11-28')).toBe('2008-11-27')
    expect(on('2026-01-01')).toBe('2007-12-31')
    expect(on('2026-03-01')).toBe('2008-02-29')
  })

  it('treats February 29 as February 28 in a year without a leap day', () => {
    expect(on('2028-02-29')).toBe('2010-02-27')
  })

  it('uses the calendar day at the school, whatever the day is elsewhere', () => {
    expect(latestAdultBirthdate('2026-11-28T07:59:59.999Z')).toBe('2008-11-26')
    expect(latestAdultBirthdate('2026-11-28T08:00:00.000Z')).toBe('2008-11-27')
    expect(latestAdultBirthdate('2026-11-29T07:59:59.999Z')).toBe('2008-11-27')
    // During daylight saving time the day changes an hour earlier in UTC.
    expect(latestAdultBirthdate('2026-07-04T06:59:59.999Z')).toBe('2008-07-02')
    expect(latestAdultBirthdate('2026-07-04T07:00:00.000Z')).toBe('2008-07-03')
  })

  it('agrees with Temporal on every day of five years', () => {
    let clock = Temporal.ZonedDateTime.from('2026-01-01T12:00[America/Los_Angeles]')
    for (let days = 0; days < 5 * 366; days++) {
      const expected = clock.toPlainDate().subtract({ years: 18 }).subtract({ days: 1 })
      expect(latestAdultBirthdate(clock.toInstant().toString())).toBe(expected.toString())
      clock = clock.add({ days: 1 })
    }
  })
})
