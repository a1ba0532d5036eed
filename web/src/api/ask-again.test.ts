import type { QueryState } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { memberSeatQuery, outcomeQuery } from '../membership/queries.ts'
import { askRegistrationAgainMs } from '../registration/use-registration.ts'
import { orderQuery } from '../shop/queries.ts'
import { askAgainMs } from './ask-again.ts'

describe('asking again', () => {
  it('is half a minute apart after a while, and never more', () => {
    expect(askAgainMs(1_500, 0)).toBe(1_500)
    expect(askAgainMs(3_000, 5)).toBeCloseTo(6_034, 0)
    expect(askAgainMs(1_500, 30)).toBe(30_000)
    expect(askAgainMs(1_500, 100_000)).toBe(30_000)
  })

  it.each([
    ['a membership', 1_500, outcomeQuery('x').refetchInterval],
    ["a member's seat", 3_000, memberSeatQuery('x').refetchInterval],
    ['an order', 3_000, orderQuery('x').refetchInterval],
    ['a registration', 3_000, ({ state }: { state: never }) => askRegistrationAgainMs(state, false)],
  ])('about %s is ever more seldom in an outage', (_, firstMs, interval) => {
    const after = (failures: number) => {
      const state: Partial<QueryState> = {
        data: undefined,
        error: null,
        dataUpdateCount: 0,
        errorUpdateCount: failures,
      }
      return (interval as (query: { state: Partial<QueryState> }) => number)({ state })
    }
    expect(after(0)).toBe(firstMs)
    expect(after(1)).toBeGreaterThan(firstMs)
    expect(after(19)).toBeGreaterThan(5 * firstMs)
  })
})
