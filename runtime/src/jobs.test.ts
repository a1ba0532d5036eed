import { describe, expect, it, vi } from 'vitest'
import { Clock } from './clock.ts'
import { idleMs, sleepUntil, startLoop } from './jobs.ts'

describe('The sleep of a job that says what is due next', () => {
  const clock = new Clock()
  const sleep = (ms: number | null, everyMs = 1_000) =>
    sleepUntil(ms === null ? null : clock.now().add({ milliseconds: ms }), everyMs, clock)

  it.each([
    ['ends when it is due', 12_000, 12_000],
    ['is never shorter than its interval, as for a row that is locked', -60_000, 1_000],
    ['ends in time for rows that other processes write', 3_600_000, idleMs],
    ['is the longest if nothing is due', null, idleMs],
  ])('%s', (_, due, expected) => {
    expect(Math.abs(sleep(due) - expected)).toBeLessThan(1_000)
  })

  it('is its interval if that is longer', () => {
    expect([sleep(null, 60_000), sleep(0, 60_000)]).toEqual([60_000, 60_000])
  })
})

describe('A loop', () => {
  it('runs again at once, after the time that the run says, or when it is woken', async () => {
    vi.useFakeTimers()
    try {
      const answers: (boolean | number)[] = [true, 5_000, false]
      let runs = 0
      const loop = startLoop(
        1_000,
        async () => answers[runs++] ?? 100_000,
        () => {},
      )
      await vi.advanceTimersByTimeAsync(4_000)
      expect(runs).toBe(2)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(runs).toBe(3)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(runs).toBe(4)
      loop.wake()
      await vi.advanceTimersByTimeAsync(0)
      expect(runs).toBe(5)
      await loop.stop()
    } finally {
      vi.useRealTimers()
    }
  })
})
