import { describe, expect, it } from 'vitest'
import { beginAttempt, judgeFailure, retryDelays } from './rules.ts'

const now = Temporal.Instant.from('2026-11-28T12:00:00Z')

describe('beginAttempt', () => {
  it('puts the next attempt off longer each time, and never beyond a day', () => {
    let attempts = 0
    let before = 0
    for (let round = 0; round < 30; round += 1) {
      const begun = beginAttempt(attempts, now)
      const delay = now.until(begun.nextTryAt).total('milliseconds')
      expect(begun.attempts).toBe(attempts + 1)
      expect(delay).toBeGreaterThanOrEqual(before)
      expect(delay).toBeLessThanOrEqual(24 * 60 * 60 * 1000)
      before = delay
      attempts = begun.attempts
    }
  })

  it('tries for more than three days', () => {
    expect(retryDelays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(3 * 24 * 60 * 60 * 1000)
  })
})

describe('judgeFailure', () => {
  it.each([
    ['the recipient is refused for good', { responseCode: 550, command: 'RCPT TO' }, 'give_up'],
    ['the message is refused for good', { responseCode: 554, command: 'DATA' }, 'give_up'],
    ['nothing could mend it', { final: true }, 'give_up'],
    ['the recipient is refused for now', { responseCode: 451, command: 'RCPT TO' }, 'retry'],
    ['the mailbox is full for now', { responseCode: 452, command: 'DATA' }, 'retry'],
    ['our own sign-in is refused', { responseCode: 535, command: 'AUTH PLAIN' }, 'retry'],
    ['our sender is refused', { responseCode: 530, command: 'MAIL FROM' }, 'retry'],
    ['the server greets with a refusal', { responseCode: 554, command: 'CONN' }, 'retry'],
    ['there was no answer', {}, 'retry'],
  ] as const)('when %s', (_case, failure, verdict) => {
    expect(judgeFailure(1, failure)).toBe(verdict)
  })

  it('gives up after the last delay', () => {
    expect(judgeFailure(retryDelays.length, {})).toBe('retry')
    expect(judgeFailure(retryDelays.length + 1, {})).toBe('give_up')
  })
})
