import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstClassDay, seasonLeadDays, upcomingSeason } from './season.ts'

const anyDay = fc
  .integer({ min: 0, max: 40_000 })
  .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString())

describe('firstClassDay', () => {
  it('returns a Friday that is at least 42 and less than 49 days away', () => {
    fc.assert(
      fc.property(anyDay, (today) => {
        const first = Temporal.PlainDate.from(firstClassDay(today))
        const days = Temporal.PlainDate.from(today).until(first).days
        expect(first.dayOfWeek).toBe(5)
        expect(days).toBeGreaterThanOrEqual(seasonLeadDays)
        expect(days).toBeLessThan(seasonLeadDays + 7)
      }),
    )
  })

  it.each([
    ['2026-11-27', '2027-01-08'], // a Friday: 42 days on is a Friday again
    ['2026-11-28', '2027-01-15'],
    ['2026-11-26', '2027-01-08'],
    ['2028-01-19', '2028-03-03'], // over a leap day
  ])('a season that opens on %s starts on %s', (today, first) => {
    expect(firstClassDay(today)).toBe(first)
  })
})

describe('upcomingSeason', () => {
  it('returns four consecutive days from Friday to Monday, also across a year’s end or a clock change', () => {
    fc.assert(
      fc.property(anyDay, (today) => {
        const days = upcomingSeason(today).map((day) => Temporal.PlainDate.from(day))
        expect(days.map((day) => day.dayOfWeek)).toEqual([5, 6, 7, 1])
        expect(days[0]?.until(days[3] ?? '').days).toBe(3)
      }),
    )
  })
})
