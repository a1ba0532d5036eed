import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paidMonths, startOfPeriod } from './credit-rules.ts'

const pacific = (text: string) => Temporal.PlainDateTime.from(text).toZonedDateTime('America/Los_Angeles').toInstant()
const days = (months: { month: string }[]) => months.map(({ month }) => month)

describe('the paid months of a membership', () => {
  it('are one of a monthly payment', () => {
    const start = pacific('2027-02-28T09:00')
    const months = paidMonths({ plan: 'monthly', reason: 'renewal', start, anchor: pacific('2027-01-31T09:00') }, [])
    expect(days(months)).toEqual(['2027-02-28'])
  })

  it('are twelve of a yearly one, on the last day of shorter months and back on the 31st (C058)', () => {
    const start = pacific('2027-01-31T09:00')
    const months = paidMonths({ plan: 'yearly', reason: 'first', start, anchor: start }, [])
    expect(days(months)).toEqual([
      '2027-01-31',
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-05-31',
      '2027-06-30',
      '2027-07-31',
      '2027-08-31',
      '2027-09-30',
      '2027-10-31',
      '2027-11-30',
      '2027-12-31',
    ])
    // At the same time of day, also across a change of daylight saving time.
    for (const { startsAt } of months)
      expect(startsAt.toZonedDateTimeISO('America/Los_Angeles').toPlainTime().toString()).toBe('09:00:00')
  })

  it('keep the leap day of the first one in later years (C058)', () => {
    const anchor = pacific('2028-02-29T09:00')
    const first = paidMonths({ plan: 'yearly', reason: 'first', start: anchor, anchor }, [])
    expect(days(first).slice(0, 3)).toEqual(['2028-02-29', '2028-03-29', '2028-04-29'])
    const start = pacific('2029-02-28T09:00')
    const second = paidMonths({ plan: 'yearly', reason: 'renewal', start, anchor }, days(first))
    expect(days(second).slice(0, 3)).toEqual(['2029-02-28', '2029-03-29', '2029-04-29'])
    expect(second).toHaveLength(12)
  })

  it('are eleven after a change to yearly while a month with a credit runs, as its rest was credited, and twelve otherwise', () => {
    const start = pacific('2027-03-10T09:00')
    const period = { plan: 'yearly', reason: 'switch', start, anchor: start } as const
    expect(days(paidMonths(period, ['2027-01-20', '2027-02-20'])).slice(0, 2)).toEqual(['2027-04-10', '2027-05-10'])
    expect(paidMonths(period, ['2027-01-20', '2027-02-20'])).toHaveLength(11)
    // The running month’s payment was refunded.
    expect(days(paidMonths(period, ['2027-01-20']))[0]).toBe('2027-03-10')
    expect(paidMonths(period, ['2027-01-20'])).toHaveLength(12)
  })

  it('follow one another without a gap or an overlap, for any start', () => {
    const starts = fc
      .tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 1_439 }))
      .map(([day, minute]) => pacific('2026-01-01T00:00').add({ hours: 24 * day, minutes: minute }))
    fc.assert(
      fc.property(starts, fc.integer({ min: 0, max: 3 }), (anchor, year) => {
        const years = Array.from({ length: year + 1 }, (_, index) => {
          const start = anchor.toZonedDateTimeISO('UTC').add({ years: index }).toInstant()
          return paidMonths({ plan: 'yearly', reason: index === 0 ? 'first' : 'renewal', start, anchor }, [])
        })
        const all = days(years.flat())
        expect(all).toHaveLength(12 * (year + 1))
        expect(new Set(all.map((one) => one.slice(0, 7))).size).toBe(all.length)
        expect(all.toSorted()).toEqual(all)
      }),
    )
  })

  it('of a period without a known start begin a month or a year before its end', () => {
    expect(startOfPeriod('monthly', pacific('2027-03-20T09:00')).equals(pacific('2027-02-20T09:00'))).toBe(true)
    expect(startOfPeriod('yearly', pacific('2027-03-20T09:00')).equals(pacific('2026-03-20T09:00'))).toBe(true)
  })
})
