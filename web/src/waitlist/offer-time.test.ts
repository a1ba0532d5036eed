import { afterEach, expect, it, vi } from 'vitest'
import { readersMoment, schoolMoment, schoolWeekday, timeLeft } from './offer-time.ts'

const ends = '2027-01-20T19:00:00.000Z'
afterEach(() => vi.unstubAllEnvs())

it('The end of an offer is told at the school and, where it differs, on the reader’s clock.', () => {
  expect(schoolMoment(ends)).toBe('Wednesday, January 20, 11:00 AM Pacific')
  expect(schoolWeekday(ends)).toBe('Wednesday')
  vi.stubEnv('TZ', 'America/Los_Angeles')
  expect(readersMoment(ends)).toBeNull()
  vi.stubEnv('TZ', 'America/New_York')
  expect(readersMoment(ends)).toBe('2:00 PM your time')
  vi.stubEnv('TZ', 'Asia/Tokyo')
  expect(readersMoment(ends)).toBe('Thursday, January 21, 4:00 AM your time')
})

it('The time that is left of an offer is told in hours, then in minutes, and not at all once it is over.', () => {
  const before = (minutes: number) => timeLeft(ends, Date.parse(ends) - minutes * 60_000)
  expect([21.5 * 60, 120, 119, 59.5, 1, 0.2].map(before)).toEqual([
    '21 hours left.',
    '2 hours left.',
    '119 minutes left.',
    '60 minutes left.',
    '1 minute left.',
    '1 minute left.',
  ])
  expect([0, -5].map(before)).toEqual([null, null])
})
