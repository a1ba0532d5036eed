import { afterEach, describe, expect, it } from 'vitest'
import { momentForReader, timeForReader } from './class-time.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

/** The class time as readers in each zone see it. */
function seen<What>(show: () => What, zones: string[]): What[] {
  return zones.map((name) => {
    process.env['TZ'] = name
    return show()
  })
}

const zones = ['America/Los_Angeles', 'America/Phoenix', 'America/New_York', 'Europe/Berlin', 'Pacific/Pago_Pago']

describe('the time of a class beside its date', () => {
  it('is told in the reader’s zone and the school’s where they differ', () => {
    expect(seen(() => timeForReader('2027-01-22', '16:00'), zones)).toEqual([
      '4:00 PM Pacific',
      '5:00 PM your time (4:00 PM Pacific)',
      '7:00 PM your time (4:00 PM Pacific)',
      '1:00 AM your time, the day after (4:00 PM Pacific)',
      '1:00 PM your time (4:00 PM Pacific)',
    ])
    expect(seen(() => timeForReader('2027-01-22', '01:00'), ['Pacific/Pago_Pago'])).toEqual([
      '10:00 PM your time, the day before (1:00 AM Pacific)',
    ])
  })

  it('follows the clocks of both on that day', () => {
    // Arizona has no daylight saving time; Europe's starts two weeks after that of the United States.
    expect(seen(() => timeForReader('2027-07-02', '16:00'), ['America/Phoenix'])).toEqual(['4:00 PM Pacific'])
    expect(seen(() => timeForReader('2027-03-19', '09:00'), ['Europe/Berlin'])).toEqual([
      '5:00 PM your time (9:00 AM Pacific)',
    ])
  })

  it('is as it was told where it is no time', () => {
    expect(timeForReader('soon', '16:00')).toBe('4:00 PM Pacific')
  })
})

describe('the date and time of a class', () => {
  it('keeps the date of the class, and tells the reader’s own where it is another', () => {
    expect(
      seen(() => momentForReader('2027-01-22', '16:00'), ['America/Los_Angeles', 'America/New_York', 'Asia/Tokyo']),
    ).toEqual([
      { day: 'Friday, January 22, 2027', time: '4:00 PM Pacific' },
      { day: 'Friday, January 22, 2027', time: '7:00 PM your time (4:00 PM Pacific)' },
      {
        day: 'Friday, January 22, 2027',
        time: '4:00 PM Pacific',
        elsewhere: 'Saturday, January 23, 9:00 AM your time',
      },
    ])
  })
})
