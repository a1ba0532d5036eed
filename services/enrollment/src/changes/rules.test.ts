import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cancelLine,
  daysBefore,
  limitBack,
  moveLine,
  policyInForce,
  priceAfter,
  refundShare,
  sumsOf,
  type Policy,
} from './rules.ts'

const timeZone = 'America/Los_Angeles'
const start = (date: string) => ({
  timeZone,
  startsAt: Temporal.PlainDate.from(date).toZonedDateTime({ timeZone, plainTime: '16:00' }).toInstant(),
})

const cents = fc.nat({ max: 200_000 })
const place = fc.record({ paid: cents, list: fc.option(cents) }).map(({ paid, list }) => ({
  id: 'a',
  childName: 'Ivo',
  paidAmount: paid,
  listAmount: list === null ? null : Math.max(list, paid),
}))

describe('daysBefore', () => {
  it('keeps the time of day across a change of the clocks', () => {
    expect(daysBefore(start('2027-03-19'), 7).toString()).toBe('2027-03-13T00:00:00Z')
    expect(daysBefore(start('2027-11-10'), 7).toString()).toBe('2027-11-03T23:00:00Z')
  })
})

describe('refundShare', () => {
  const shares = fc.uniqueArray(fc.record({ days: fc.nat({ max: 60 }), percent: fc.integer({ min: 0, max: 100 }) }), {
    selector: ({ days }) => days,
    maxLength: 4,
  })

  it('is that of the most days that still fit, until the instant that it names', () => {
    fc.assert(
      fc.property(shares, fc.integer({ min: -100, max: 70 * 24 }), (refunds, hours) => {
        const policy: Policy = {
          validFrom: Temporal.Instant.from('2025-01-01T00:00:00Z'),
          refunds,
          freeMoves: 1,
          moveDays: 7,
        }
        const theClass = start('2027-03-19')
        const now = theClass.startsAt.subtract({ hours })
        const { percent, until } = refundShare(policy, theClass, now)
        const fitting = refunds.filter(({ days }) => Temporal.Instant.compare(now, daysBefore(theClass, days)) <= 0)
        const best = fitting.toSorted((a, b) => b.days - a.days)[0]
        expect(percent).toBe(best?.percent ?? 0)
        if (best) expect(until?.equals(daysBefore(theClass, best.days))).toBe(true)
        else expect(until).toBeNull()
        if (until) expect(refundShare(policy, theClass, until).percent).toBe(percent)
      }),
    )
  })
})

describe('What goes back', () => {
  it('is at most what is left of the payments, and otherwise stays as it is', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 4 }), cents, cents, cents, (places, price, old, left) => {
        for (const lines of [
          places.map((one) => moveLine(one, price, old)),
          places.map((one) => cancelLine(one, 100)),
        ]) {
          const limited = limitBack(lines, left)
          expect(sumsOf(limited).back).toBe(Math.min(left, sumsOf(lines).back))
          expect(limited.every(({ back }, index) => back >= 0 && back <= (lines[index]?.back ?? 0))).toBe(true)
          if (sumsOf(lines).back <= left) expect(limited).toEqual(lines)
        }
      }),
    )
  })
})

describe('The money of a change', () => {
  it('that is paid less what goes back is what the place is worth afterwards, and never negative', () => {
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 4 }),
        cents,
        cents,
        fc.nat({ max: 100 }),
        (places, price, old, percent) => {
          for (const lines of [
            places.map((one) => moveLine(one, price, old)),
            places.map((one) => cancelLine(one, percent)),
          ]) {
            const { due, back } = sumsOf(lines)
            expect(Math.min(due, back)).toBe(0)
            const paid = lines.reduce((sum, line) => sum + line.paid, 0)
            const after = lines.reduce((sum, line) => sum + priceAfter(line).paidAmount, 0)
            expect(after).toBe(paid + due - back)
            for (const line of lines) {
              expect(Math.min(line.due, line.back)).toBe(0)
              expect(line.back).toBeLessThanOrEqual(line.paid)
              expect(line.due).toBeGreaterThanOrEqual(0)
            }
          }
        },
      ),
    )
  })

  it('is nothing for a move at the same price, and the difference between two prices for a child who paid', () => {
    fc.assert(
      fc.property(place, cents, ({ listAmount, ...one }, price) => {
        const known = { ...one, listAmount: listAmount ?? one.paidAmount }
        expect(moveLine(known, known.listAmount, 0)).toMatchObject({ due: 0, back: 0 })
        const paid = { ...one, listAmount: one.paidAmount }
        const { due, back } = moveLine(paid, price, 0)
        expect(due - back).toBe(price - one.paidAmount)
      }),
    )
  })
})

describe('policyInForce', () => {
  it('is the latest that has begun', () => {
    const at = (validFrom: string): Policy => ({
      validFrom: Temporal.Instant.from(validFrom),
      refunds: [],
      freeMoves: 1,
      moveDays: 7,
    })
    const policies = [at('2027-01-01T00:00:00Z'), at('2025-01-01T00:00:00Z')]
    const inForce = (now: string) => policyInForce(policies, Temporal.Instant.from(now))?.validFrom.toString()
    expect(inForce('2024-01-01T00:00:00Z')).toBeUndefined()
    expect(inForce('2026-12-31T23:59:59Z')).toBe('2025-01-01T00:00:00Z')
    expect(inForce('2027-01-01T00:00:00Z')).toBe('2027-01-01T00:00:00Z')
  })
})
