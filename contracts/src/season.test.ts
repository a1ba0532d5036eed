import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstClassDay, seasonLeadDays, upcomingSeason } from './season.ts'

const anyDay = fc
  .integer({ min: 0, max: 40_000 })
  .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString())

describe('firstClassDay', () => {
  it('is a Friday, at least 42 days away and less than 49', () => {
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
  ])('opened on %s starts on %s', (today, first) => {
    expect(firstClassDay(today)).toBe(first)
  })
})

describe('upcomingSeason', () => {
  it('is four days in a row from Friday to Monday, over a year’s end and a change of clocks alike', () => {
    fc.assert(
      fc.property(anyDay, (today) => {
        const days = upcomingSeason(today).map((day) => Temporal.PlainDate.from(day))
        expect(days.map((day) => day.dayOfWeek)).toEqual([5, 6, 7, 1])
        expect(days[0]?.until(days[3] ?? '').days).toBe(3)
      }),
    )
  })
})
