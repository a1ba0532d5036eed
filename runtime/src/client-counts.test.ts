import { describe, expect, it, vi } from 'vitest'
import { ClientCounts } from './client-counts.ts'

/** Processes of one service, and a broker between them that delivers at once, or nothing while it is away. */
function copies(number: number, secrets: string[] = []) {
  const listeners: ((message: unknown) => void)[][] = []
  const broker = { isAway: false, told: [] as unknown[] }
  const counts = Array.from({ length: number }, (_, copy) => {
    listeners[copy] = []
    const bus = {
      notifyCopies(_topic: string, message: unknown) {
        if (broker.isAway) return
        broker.told.push(message)
        for (const [other, heard] of listeners.entries()) if (other !== copy) for (const hear of heard) hear(message)
      },
      watchCopies: (_topic: string, hear: (message: unknown) => void) => void listeners[copy]?.push(hear),
    }
    const config = { ADMIN_SECRET: secrets[copy] ?? 'the secret of all' }
    return new ClientCounts('tests', { bus, config } as unknown as ConstructorParameters<typeof ClientCounts>[1])
  })
  return { counts: counts as [ClientCounts, ClientCounts, ...ClientCounts[]], broker, listeners }
}

const minute = 60_000

/** Runs a test with a clock of its own. */
function withClock(test: () => void) {
  return () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    try {
      test()
    } finally {
      vi.useRealTimers()
    }
  }
}

describe('Counts of clients', () => {
  it(
    'A count is one count over all processes',
    withClock(() => {
      const { counts } = copies(3)
      for (let nth = 0; nth < 5; nth += 1) for (const one of counts) one.add('a', minute)
      vi.advanceTimersByTime(20)
      expect(counts.map((one) => one.of('a'))).toEqual([15, 15, 15])
      expect(counts.map((one) => one.of('b'))).toEqual([0, 0, 0])
    }),
  )

  it(
    'A count is told at once after a pause, and many are told together',
    withClock(() => {
      const { counts, broker } = copies(2)
      const [one, other] = counts
      one.add('a', minute)
      vi.advanceTimersByTime(1)
      expect(other.of('a')).toBe(1)
      for (let nth = 0; nth < 300; nth += 1) one.add(`client ${nth % 30}`, minute)
      vi.advanceTimersByTime(20)
      expect(other.of('client 7')).toBe(10)
      expect(broker.told).toHaveLength(2)
      vi.advanceTimersByTime(minute - 100)
      expect(broker.told).toHaveLength(2)
    }),
  )

  it(
    'The windows of all processes end together, with the one that ends first',
    withClock(() => {
      const { counts } = copies(2)
      const [one, other] = counts
      other.add('b', minute)
      vi.advanceTimersByTime(50_000)
      // A process that counts its first client now would count until the middle of the next window.
      one.add('a', minute)
      vi.advanceTimersByTime(20)
      other.add('b', minute)
      vi.advanceTimersByTime(20)
      expect(one.add('a', minute)).toEqual({ count: 2, msLeft: 9_960 })
      vi.advanceTimersByTime(9_960)
      expect(counts.map((each) => each.of('b'))).toEqual([0, 0])
      expect(other.add('a', minute).count).toBe(1)
    }),
  )

  it(
    'Counts of a window that is ending are not counted in the next one',
    withClock(() => {
      const { counts } = copies(2)
      const [one, other] = counts
      one.add('a', minute)
      vi.advanceTimersByTime(minute - 50)
      one.add('a', minute)
      vi.advanceTimersByTime(40)
      expect(other.of('a')).toBe(1)
      vi.advanceTimersByTime(20)
      expect(other.add('a', minute)).toEqual({ count: 1, msLeft: minute })
    }),
  )

  it(
    'Each process counts by itself while the broker is away, and all together afterwards',
    withClock(() => {
      const { counts, broker } = copies(2)
      const [one, other] = counts
      broker.isAway = true
      for (let nth = 0; nth < 4; nth += 1) one.add('a', minute)
      vi.advanceTimersByTime(20)
      expect([one.of('a'), other.of('a')]).toEqual([4, 0])
      broker.isAway = false
      one.add('a', minute)
      vi.advanceTimersByTime(20)
      expect([one.of('a'), other.of('a')]).toEqual([5, 1])
    }),
  )

  it(
    'What no process of ours tells is ignored, and addresses are never told',
    withClock(() => {
      const { counts, broker, listeners } = copies(2)
      const [one, other] = counts
      one.add('203.0.113.9', minute)
      vi.advanceTimersByTime(20)
      expect(JSON.stringify(broker.told)).not.toContain('203.0.113.9')
      for (const message of [null, {}, { msLeft: 1e9, counts: { a: 1 } }, { msLeft: -1, counts: {} }])
        for (const hear of listeners[1] ?? []) hear(message)
      expect(other.of('203.0.113.9')).toBe(1)
      const foreign = copies(2, ['the secret of all', 'another secret'])
      for (const each of foreign.counts) each.add('a', minute)
      vi.advanceTimersByTime(20)
      expect(foreign.counts.map((each) => each.of('a'))).toEqual([1, 1])
    }),
  )
})
