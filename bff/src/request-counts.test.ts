import type { Context } from '@robokids/runtime/service'
import { describe, expect, it, vi } from 'vitest'
import { RequestCounts } from './request-counts.ts'

/** A process without others. */
const context = {
  bus: { notifyCopies: () => {}, watchCopies: () => {} },
  config: { ADMIN_SECRET: 'a-secret-of-the-tests' },
} as unknown as Pick<Context<unknown>, 'bus' | 'config'>

function counterOf(counts: RequestCounts) {
  return (client: string) => {
    let counted = { current: 0, ttl: 0 }
    counts.incr(client, (_error, result) => (counted = result ?? counted), 60_000)
    return counted
  }
}

describe('the requests of a client', () => {
  it('are all counted under many clients, with hardly any collisions', () => {
    const count = counterOf(new RequestCounts(context))
    const clients = Array.from({ length: 20_000 }, (_, n) => `read 2001:db8:0:${n.toString(16)}::/64`)
    let tooMany = 0
    for (let round = 1; round <= 3; round += 1) {
      for (const client of clients) {
        const { current } = count(client)
        expect(current).toBeGreaterThanOrEqual(round)
        if (current > round) tooMany += 1
      }
    }
    // About (20,000 / 262,144)², each with three requests.
    expect(tooMany).toBeLessThan(0.02 * 3 * clients.length)
  })

  it('are counted from 1 in the next window', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const count = counterOf(new RequestCounts(context))
      expect([count('one'), count('one'), count('other')]).toEqual([
        { current: 1, ttl: 60_000 },
        { current: 2, ttl: 60_000 },
        { current: 1, ttl: 60_000 },
      ])
      vi.advanceTimersByTime(59_999)
      expect(count('one')).toEqual({ current: 3, ttl: 1 })
      vi.advanceTimersByTime(1)
      expect(count('one')).toEqual({ current: 1, ttl: 60_000 })
    } finally {
      vi.useRealTimers()
    }
  })

  it('are counted separately for a route with its own limit', () => {
    const counts = new RequestCounts(context)
    const [count, countOfRoute] = [counterOf(counts), counterOf(counts.child({ routeInfo: { url: '/api/contact' } }))]
    count('one')
    expect([count('one').current, countOfRoute('one').current]).toEqual([2, 1])
  })
})
