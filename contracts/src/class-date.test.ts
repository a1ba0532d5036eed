import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatClassDate, formatClassTime, formatShortClassDate } from './class-date.ts'

const anyDate = fc.integer({ min: 0, max: 40_000 }).map((days) => Temporal.PlainDate.from('1990-01-01').add({ days }))
const american = (date: Temporal.PlainDate, options: Intl.DateTimeFormatOptions) =>
  date.toLocaleString('en-US', options)

describe('a class date', () => {
  it('is written as Americans write it, on every day', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(formatClassDate(date.toString())).toBe(american(date, { dateStyle: 'full' }))
        expect(formatShortClassDate(date.toString())).toBe(american(date, { month: 'short', day: 'numeric' }))
      }),
    )
  })

  it('has its time on a clock of twelve hours', () => {
    expect(['00:00', '00:30', '09:05', '12:00', '16:00', '23:59'].map(formatClassTime)).toEqual([
      '12:00 AM',
      '12:30 AM',
      '9:05 AM',
      '12:00 PM',
      '4:00 PM',
      '11:59 PM',
    ])
  })

  it('comes back as it is where it is none', () => {
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
