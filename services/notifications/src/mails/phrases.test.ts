import { describe, expect, it } from 'vitest'
import { timesOf, validFor } from './phrases.ts'

describe('validFor', () => {
  it.each([
    ['PT0.2S', '1 minute'],
    ['PT60S', '1 minute'],
    ['PT2M58S', '3 minutes'],
    ['PT3M', '3 minutes'],
    ['PT59M59S', '1 hour'],
    ['PT1H', '1 hour'],
    ['PT1H30M', '90 minutes'],
    ['PT2H30M', '2 hours'],
    ['PT23H59M58S', '24 hours'],
    ['PT47H59M', '47 hours'],
    ['PT167H59M57S', '7 days'],
  ])('formats %s as %s', (duration, words) => {
    expect(validFor(Temporal.Duration.from(duration))).toBe(words)
  })
})

describe('timesOf', () => {
  const at = (familyTimeZone: string | null | undefined, startDate = '2027-01-22', startTime = '16:00') =>
    timesOf({ startDate, startTime, timeZone: 'America/Los_Angeles', familyTimeZone })

  it('adds the time in the family’s time zone if it differs', () => {
    expect(at('America/New_York')).toEqual(['4:00 PM Pacific Time', '7:00 PM your time (Eastern Time)'])
    expect(at('Europe/Berlin')).toEqual([
      '4:00 PM Pacific Time',
      'Saturday, January 23, 1:00 AM your time (Central European Time)',
    ])
    expect(at('America/Phoenix')).toEqual(['4:00 PM Pacific Time', '5:00 PM your time (Mountain Standard Time)'])
  })

  it('returns one time if both are equal or the family’s time zone is unknown or invalid', () => {
    const once = ['4:00 PM Pacific Time']
    expect([at('America/Los_Angeles'), at('America/Tijuana'), at('America/Phoenix', '2027-07-02')]).toEqual([
      once,
      once,
      once,
    ])
    expect([at(undefined), at(null), at('Mars/Olympus_Mons')]).toEqual([once, once, once])
  })
})
