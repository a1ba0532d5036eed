import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRunning, promotionInForce, quote, seasonPromotion, siblingPromotion } from './rules.ts'

const fall2025 = siblingPromotion('fall', Temporal.PlainDate.from('2025-08-23'), Temporal.PlainDate.from('2025-10-10'))
const at = (text: string) => Temporal.Instant.from(text)

describe('a sibling promotion', () => {
  it('lasts from the first instant of its first day in California to the last one of its last day', () => {
    expect(fall2025).toMatchObject({ startsAt: at('2025-08-23T07:00:00Z'), endsAt: at('2025-10-11T07:00:00Z') })
    const running = (text: string) => isRunning(fall2025, at(text))
    expect([
      running('2025-08-23T06:59:59.999Z'),
      running('2025-08-23T07:00:00Z'),
      running('2025-10-11T06:59:59.999Z'),
      running('2025-10-11T07:00:00Z'),
    ]).toEqual([false, true, true, false])
  })

  it('starts and ends at midnight across the end of daylight saving time', () => {
    const season = siblingPromotion('x', Temporal.PlainDate.from('2026-10-20'), Temporal.PlainDate.from('2026-11-10'))
    expect(season).toMatchObject({ startsAt: at('2026-10-20T07:00:00Z'), endsAt: at('2026-11-11T08:00:00Z') })
  })
})

describe('the promotion of an upcoming season', () => {
  it('runs from the day the season opens to four days after its Monday', () => {
    const promotion = seasonPromotion('2026-11-27', '2027-01-08')
    expect(promotion).toMatchObject({
      id: 'sibling-free-2027-01-08',
      classTypes: ['basic', 'intermediate', 'advanced'],
      startsAt: at('2026-11-27T08:00:00Z'),
      // The Monday is January 11, the last day January 15.
      endsAt: at('2027-01-16T08:00:00Z'),
    })
  })

  it('is superseded by that of the next season while both run, in the prices shown and charged', () => {
    const [old, next] = [seasonPromotion('2026-11-27', '2027-01-08'), seasonPromotion('2027-01-12', '2027-02-26')]
    const custom = { ...next, classTypes: ['custom' as const] }
    for (const [now, inForce, fee] of [
      ['2027-01-12T07:59:59Z', old, 80_000],
      ['2027-01-12T08:00:00Z', custom, 40_000],
      ['2027-01-16T08:00:00Z', custom, 40_000],
    ] as const) {
      expect(promotionInForce([custom, old], at(now))).toBe(inForce)
      expect(quote(40_000, 'custom', 2, [custom, old], at(now)).amount).toBe(fee)
      expect(quote(40_000, 'basic', 2, [custom, old], at(now)).amount).toBe(120_000 - fee)
    }
    expect(promotionInForce([old, next], at('2026-11-27T07:59:59Z'))).toBeUndefined()
  })
})

describe('quote', () => {
  it.each([
    ['basic', '2025-10-11T06:59:59Z', 40_000],
    ['basic', '2025-10-11T07:00:00Z', 80_000],
    ['basic', '2025-08-23T06:59:59Z', 80_000],
    ['basic', '2025-08-23T07:00:00Z', 40_000],
    ['custom', '2025-09-01T12:00:00Z', 80_000],
  ] as const)('quotes two children in %s at %s with %i cents', (classType, now, amount) => {
    expect(quote(40_000, classType, 2, [fall2025], at(now)).amount).toBe(amount)
  })

  it('charges whole cents for at least half of the children and at most all', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 50, max: 10_000_000 }),
        fc.integer({ min: 1, max: 10 }),
        fc.boolean(),
        (price, children, inside) => {
          const now = at(inside ? '2025-09-01T00:00:00Z' : '2026-09-01T00:00:00Z')
          const { unitAmount, quantity, amount } = quote(price, 'basic', children, [fall2025], now)
          expect(unitAmount).toBe(price)
          expect(amount).toBe(price * quantity)
          expect(quantity).toBe(inside ? Math.ceil(children / 2) : children)
        },
      ),
    )
  })
})
