import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dividePayment } from './rules.ts'

const sum = (amounts: { paidAmount: number }[]) => amounts.reduce((total, { paidAmount }) => total + paidAmount, 0)

describe('dividePayment', () => {
  it('divides any payment among any number of children to the cent, with and without the price of a seat', () => {
    const price = fc.record({
      unitAmount: fc.integer({ min: 1, max: 200_000 }),
      paidSeats: fc.integer({ min: 1, max: 6 }),
    })
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 6 }),
        fc.option(price, { nil: undefined }),
        (amount, children, quoted) => {
          const ofQuote = quoted && quoted.unitAmount * quoted.paidSeats
          for (const paid of [amount, ofQuote ?? amount]) {
            const places = dividePayment(paid, children, quoted)
            expect(places).toHaveLength(children)
            expect(sum(places)).toBe(paid)
            expect(places.every(({ paidAmount }) => Number.isInteger(paidAmount) && paidAmount >= 0)).toBe(true)
          }
        },
      ),
    )
  })

  it('makes the last children free where a promotion did', () => {
    const prices = dividePayment(80_000, 3, { unitAmount: 40_000, paidSeats: 2 })
    expect(prices.map(({ paidAmount }) => paidAmount)).toEqual([40_000, 40_000, 0])
    expect(prices.every(({ listAmount }) => listAmount === 40_000)).toBe(true)
  })
})
