import { describe, expect, it, vi } from 'vitest'
import { MinuteLog } from './minute-log.ts'
import { createLogger } from './telemetry.ts'

describe('MinuteLog', () => {
  it('logs the first event immediately and then at most one line a minute with the count', () => {
    vi.useFakeTimers()
    try {
      const lines: { msg: string; count: number; what: string }[] = []
      const log = createLogger('test', 'info', { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[0]) })
      const guesses = new MinuteLog(log, 'wrong guesses')
      for (let n = 0; n < 1_200; n += 1) guesses.record({ what: `n${n}` })
      expect(lines.map(({ count, what }) => [count, what])).toEqual([[1, 'n0']])
      vi.advanceTimersByTime(60_000)
      expect(lines.map(({ count, what }) => [count, what]).slice(1)).toEqual([[1_199, 'n1199']])
      vi.advanceTimersByTime(600_000)
      expect(lines).toHaveLength(2)
      guesses.record({ what: 'again' })
      expect(lines.at(-1)).toMatchObject({ count: 1, what: 'again', msg: 'wrong guesses' })
    } finally {
      vi.useRealTimers()
    }
  })
})
