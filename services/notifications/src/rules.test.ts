import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  asLine,
  changeWarnings,
  isOneAddress,
  classifyFailure,
  nextTryAfter,
  verifiedAddress,
  retryDelays,
} from './rules.ts'

const now = Temporal.Instant.from('2026-11-28T12:00:00Z')

describe('nextTryAfter', () => {
  it('increases the delay with each attempt, up to a day', () => {
    let before = 0
    for (let attempts = 1; attempts <= 30; attempts += 1) {
      const delay = now.until(nextTryAfter(attempts, now, null)).total('milliseconds')
      expect(delay).toBeGreaterThanOrEqual(before)
      expect(delay).toBeLessThanOrEqual(24 * 60 * 60 * 1000)
      before = delay
    }
  })

  it('returns no later time than the expiry', () => {
    const soon = now.add({ seconds: 3 })
    expect(nextTryAfter(1, now, soon).equals(soon)).toBe(true)
    const later = now.add({ hours: 1 })
    expect(nextTryAfter(1, now, later).equals(now.add({ seconds: 5 }))).toBe(true)
  })

  it('retries for more than three days', () => {
    expect(retryDelays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(3 * 24 * 60 * 60 * 1000)
  })
})

describe('classifyFailure', () => {
  it.each([
    ['the recipient is rejected permanently', { responseCode: 550, command: 'RCPT TO' }, 'give_up'],
    ['the message is rejected permanently', { responseCode: 554, command: 'DATA' }, 'give_up'],
    ['the error is final', { final: true }, 'give_up'],
    ['the recipient is rejected temporarily', { responseCode: 451, command: 'RCPT TO' }, 'retry'],
    ['the mailbox is full', { responseCode: 452, command: 'DATA' }, 'retry'],
    ['our own login is rejected', { responseCode: 535, command: 'AUTH PLAIN' }, 'retry'],
    ['our sender is rejected', { responseCode: 530, command: 'MAIL FROM' }, 'retry'],
    ['the server rejects the connection', { responseCode: 554, command: 'CONN' }, 'retry'],
    ['there was no response', {}, 'retry'],
    ['the gateway rejects a text message', { status: 400 }, 'give_up'],
    ['the gateway rejects our token', { status: 401 }, 'give_up'],
    ['the gateway timed out', { status: 408 }, 'retry'],
    ['the gateway is overloaded', { status: 429 }, 'retry'],
    ['the gateway redirects', { status: 302 }, 'retry'],
    ['the gateway fails', { status: 500 }, 'retry'],
  ] as const)('if %s (%o), returns %s', (_case, failure, outcome) => {
    expect(classifyFailure(1, failure)).toBe(outcome)
  })

  it('gives up after the last delay', () => {
    expect(classifyFailure(retryDelays.length, {})).toBe('retry')
    expect(classifyFailure(retryDelays.length + 1, {})).toBe('give_up')
  })
})

describe('changeWarnings', () => {
  const account = { email: 'maren@example.com', emailVerified: true, previousEmail: null }

  it('warns the verified address only of changes to sign-in data', () => {
    const changed = ['email_verified', 'password', 'groups', 'mfa', 'phone_number']
    expect(changeWarnings({ ...account, changed })).toEqual([
      { recipient: 'maren@example.com', changes: ['password', 'mfa'], toPrevious: false },
    ])
    expect(changeWarnings({ ...account, changed: ['email_verified', 'enabled'] })).toEqual([])
  })

  it('warns the previous address only that it was replaced', () => {
    const previousEmail = 'm@example.com'
    const recipientsOf = (changed: string[]) =>
      changeWarnings({ ...account, previousEmail, changed }).map(({ recipient }) => recipient)
    expect(recipientsOf(['email'])).toEqual(['maren@example.com', 'm@example.com'])
    expect(recipientsOf(['password'])).toEqual(['maren@example.com'])
    expect(changeWarnings({ ...account, changed: ['email'], previousEmail: account.email })).toHaveLength(1)
  })

  it('warns only the verified address while a new one is pending', () => {
    const pending = { email: 'new@example.com', emailVerified: false, verifiedEmail: 'm@example.com' }
    for (const previousEmail of [null, 'm@example.com']) {
      expect(changeWarnings({ ...pending, previousEmail, changed: ['password'] })).toEqual([
        { recipient: 'm@example.com', changes: ['password'], toPrevious: false },
      ])
      expect(changeWarnings({ ...pending, previousEmail, changed: ['email', 'mfa'] })).toEqual([
        { recipient: 'm@example.com', changes: ['mfa', 'email'], toPrevious: true },
      ])
    }
    expect(verifiedAddress(pending)).toBe('m@example.com')
    expect(verifiedAddress({ ...pending, verifiedEmail: null })).toBe(null)
    expect(changeWarnings({ ...pending, verifiedEmail: null, previousEmail: null, changed: ['password'] })).toEqual([])
  })

  it('warns both addresses when a verified one has replaced another', () => {
    const replaced = { ...account, verifiedEmail: account.email, previousEmail: 'm@example.com' }
    expect(changeWarnings({ ...replaced, changed: ['email', 'password'] })).toEqual([
      { recipient: 'maren@example.com', changes: ['password', 'email'], toPrevious: false },
      { recipient: 'm@example.com', changes: ['email'], toPrevious: true },
    ])
  })

  it('warns the previous address of everything until the new one is verified', () => {
    const pending = { ...account, emailVerified: false, previousEmail: 'm@example.com' }
    expect(changeWarnings({ ...pending, changed: ['password', 'given_name'] })).toEqual([
      { recipient: 'm@example.com', changes: ['password'], toPrevious: false },
    ])
    expect(changeWarnings({ ...pending, changed: ['given_name'] })).toEqual([])
    expect(changeWarnings({ ...pending, changed: ['email', 'mfa'] })).toEqual([
      { recipient: 'm@example.com', changes: ['mfa', 'email'], toPrevious: true },
    ])
  })
})

describe('asLine', () => {
  it('returns one line of at most `max` well-formed characters without direction controls', () => {
    const typed = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('\r', '\n', '\u0000', '\u0085', '\u2028', '\u202e', '\u2066', '\ud83e', '🤖', 'a', ' '))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(typed, fc.integer({ min: 1, max: 20 }), (text, max) => {
        const line = asLine(text, max)
        expect(line.isWellFormed()).toBe(true)
        expect([...line].length).toBeLessThanOrEqual(max)
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })

  it('returns a name unchanged', () => {
    for (const name of ['Maren', 'Nguyễn Thị Ánh', 'محمد', 'Ivo 🤖', "D'Arcy & Jo <3"])
      expect(asLine(name, 100)).toBe(name)
  })
})

describe('isOneAddress', () => {
  it.each(['maren@example.com', "o'neil+kids@mail.example", 'zoë@beispiel.example'])('accepts %s', (address) => {
    expect(isOneAddress(address)).toBe(true)
  })

  it.each(['', 'maren', 'a@b, c@d', 'a@b;c@d', '<a@b>', 'a@b\r\nRCPT TO:<c@d>', 'a@b@c', 'a b@c'])(
    'rejects %j',
    (address) => {
      expect(isOneAddress(address)).toBe(false)
    },
  )
})
