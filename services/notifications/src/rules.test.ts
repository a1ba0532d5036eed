import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  asLine,
  changeWarnings,
  isOneAddress,
  classifyFailure,
  nextTryAfter,
  provenAddress,
  retryDelays,
} from './rules.ts'

const now = Temporal.Instant.from('2026-11-28T12:00:00Z')

describe('nextTryAfter', () => {
  it('puts the next attempt off longer each time, and never beyond a day', () => {
    let before = 0
    for (let attempts = 1; attempts <= 30; attempts += 1) {
      const delay = now.until(nextTryAfter(attempts, now, null)).total('milliseconds')
      expect(delay).toBeGreaterThanOrEqual(before)
      expect(delay).toBeLessThanOrEqual(24 * 60 * 60 * 1000)
      before = delay
    }
  })

  it('looks at what expires no later than then', () => {
    const soon = now.add({ seconds: 3 })
    expect(nextTryAfter(1, now, soon).equals(soon)).toBe(true)
    const later = now.add({ hours: 1 })
    expect(nextTryAfter(1, now, later).equals(now.add({ seconds: 5 }))).toBe(true)
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
    ['the gateway refuses a text message', { status: 400 }, 'give_up'],
    ['the gateway does not know us', { status: 401 }, 'give_up'],
    ['the gateway waited too long', { status: 408 }, 'retry'],
    ['the gateway has too much to do', { status: 429 }, 'retry'],
    ['the gateway is somewhere else', { status: 302 }, 'retry'],
    ['the gateway is broken', { status: 500 }, 'retry'],
  ] as const)('when %s', (_case, failure, verdict) => {
    expect(classifyFailure(1, failure)).toBe(verdict)
  })

  it('gives up after the last delay', () => {
    expect(classifyFailure(retryDelays.length, {})).toBe('retry')
    expect(classifyFailure(retryDelays.length + 1, {})).toBe('give_up')
  })
})

describe('changeNotices', () => {
  const account = { email: 'maren@example.com', emailVerified: true, previousEmail: null }

  it('tells the verified address of what lets one in, and of nothing else', () => {
    const changed = ['email_verified', 'password', 'groups', 'mfa', 'phone_number']
    expect(changeWarnings({ ...account, changed })).toEqual([
      { recipient: 'maren@example.com', changes: ['password', 'mfa'], toPrevious: false },
    ])
    expect(changeWarnings({ ...account, changed: ['email_verified', 'enabled'] })).toEqual([])
  })

  it('tells the previous address only of having been replaced', () => {
    const previousEmail = 'm@example.com'
    const told = (changed: string[]) =>
      changeWarnings({ ...account, previousEmail, changed }).map(({ recipient }) => recipient)
    expect(told(['email'])).toEqual(['maren@example.com', 'm@example.com'])
    expect(told(['password'])).toEqual(['maren@example.com'])
    expect(changeWarnings({ ...account, changed: ['email'], previousEmail: account.email })).toHaveLength(1)
  })

  it('tells the address that is proven, and no other, while another one is pending, whatever else is known', () => {
    const pending = { email: 'new@example.com', emailVerified: false, verifiedEmail: 'm@example.com' }
    for (const previousEmail of [null, 'm@example.com']) {
      expect(changeWarnings({ ...pending, previousEmail, changed: ['password'] })).toEqual([
        { recipient: 'm@example.com', changes: ['password'], toPrevious: false },
      ])
      expect(changeWarnings({ ...pending, previousEmail, changed: ['email', 'mfa'] })).toEqual([
        { recipient: 'm@example.com', changes: ['mfa', 'email'], toPrevious: true },
      ])
    }
    expect(provenAddress(pending)).toBe('m@example.com')
    expect(provenAddress({ ...pending, verifiedEmail: null })).toBe(null)
    expect(changeWarnings({ ...pending, verifiedEmail: null, previousEmail: null, changed: ['password'] })).toEqual([])
  })

  it('tells both addresses where one that is proven replaced another', () => {
    const replaced = { ...account, verifiedEmail: account.email, previousEmail: 'm@example.com' }
    expect(changeWarnings({ ...replaced, changed: ['email', 'password'] })).toEqual([
      { recipient: 'maren@example.com', changes: ['password', 'email'], toPrevious: false },
      { recipient: 'm@example.com', changes: ['email'], toPrevious: true },
    ])
  })

  it('tells the previous address of everything until the new one is verified', () => {
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
  it('is one line of at most so many well-formed characters that read forward, whatever was typed', () => {
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

  it('keeps a name as it was typed', () => {
    for (const name of ['Maren', 'Nguyễn Thị Ánh', 'محمد', 'Ivo 🤖', "D'Arcy & Jo <3"])
      expect(asLine(name, 100)).toBe(name)
  })
})

describe('isOneAddress', () => {
  it.each(['maren@example.com', "o'neil+kids@mail.example", 'zoë@beispiel.example'])('takes %s', (address) => {
    expect(isOneAddress(address)).toBe(true)
  })

  it.each(['', 'maren', 'a@b, c@d', 'a@b;c@d', '<a@b>', 'a@b\r\nRCPT TO:<c@d>', 'a@b@c', 'a b@c'])(
    'refuses %j',
    (address) => {
      expect(isOneAddress(address)).toBe(false)
    },
  )
})
