import { describe, expect, it } from 'vitest'
import { latestAdultBirthdate } from './adult.ts'

const on = (day: string, time = '12:00:00') => latestAdultBirthdate(new Date(`${day}T${time}`))

describe('latestAdultBirthdate', () => {
  it('is the day before the date 18 years ago', () => {
    expect(on('2026-11-28')).toBe('2008-11-27')
    expect(on('2026-01-01')).toBe('2007-12-31')
    expect(on('2026-03-01')).toBe('2008-02-29')
  })

  it('knows a day for February 29', () => {
    expect(on('2028-02-29')).toBe('2010-02-27')
  })

  it("goes by the reader's own calendar, at any time of the day", () => {
    expect(on('2026-11-28', '00:00:01')).toBe('2008-11-27')
    expect(on('2026-11-28', '23:59:59')).toBe('2008-11-27')
  })
})
