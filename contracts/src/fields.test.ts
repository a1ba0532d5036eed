import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatClassDate, formatClassTime, formatShortClassDate } from './class-date.ts'
import { childAge, childName, email, emailKey, requiredText, uuid, zipCode } from './fields.ts'
import { formatMoney, payableChildren } from './pricing.ts'

describe('a text of several lines', () => {
  const text = requiredText('Message', 10)

  it.each([
    ['one\r\ntwo\rthree'.slice(0, 9), 'one\ntwo'],
    [' a\u2028b\u2029c \n', 'a\nb\nc'],
    ['a\u0000\u202eb\tc\uffff', 'ab\tc'],
    ['🤖'.repeat(10), '🤖'.repeat(10)],
  ])('%j is accepted and becomes %j', (typed, kept) => {
    expect(text.parse(typed)).toBe(kept)
    expect(text.parse(kept)).toBe(kept)
  })

  it.each(['', ' \n ', '\u200b', 'half \ud83e', 'x'.repeat(11), 'x'.repeat(10_000)])('%j is rejected', (typed) => {
    expect(text.safeParse(typed).error?.issues).toHaveLength(1)
  })
})

describe('a name', () => {
  it.each([
    '张伟',
    'Nguyễn Thị Ánh',
    'עדי לוי',
    'محمد',
    'Ivo 🤖',
    "D'Arcy & Jo <3",
    'Zoë Ångström-Łukasiewicz',
    '👩‍👩‍👧',
    'می‌خواهم',
    '?',
    'é'.repeat(100),
  ])('%s is accepted unchanged', (name) => {
    expect(childName.parse(name)).toBe(name)
  })

  it.each([
    '',
    '   ',
    'a'.repeat(101),
    'Ivo\r\nBcc: spy@example.net',
    'NUL \u0000',
    'half \ud83e',
    '\u202eovI',
    `${'a'.repeat(99)}${'🤖'.repeat(60)}`,
    '\u200b',
    '\u3164',
    '\u00ad',
    '\u2800',
    '\u115f\u1160\ufe0f \u034f\u200d',
    '\u0301',
    'Ivo\uffff',
    'Ivo\ufdd0',
    'Ivo\u{1fffe}',
  ])('%j is rejected', (name) => {
    expect(childName.safeParse(name).success).toBe(false)
  })

  it('is trimmed and otherwise unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (text) => {
        const read = childName.safeParse(text)
        if (read.success) expect(read.data).toBe(text.trim())
      }),
    )
  })
})

describe('a zip code', () => {
  it.each([
    ['02139', '02139'],
    ['94401 ', '94401'],
  ])('%j is accepted', (typed, kept) => {
    expect(zipCode.parse(typed)).toBe(kept)
  })
  it.each([2139, '2139', '94401-1234', '９４４０１', '944O1', ''])('%j is rejected', (typed) => {
    expect(zipCode.safeParse(typed).success).toBe(false)
  })
})

describe('an email', () => {
  it.each([
    'maren.holt+class@example.com',
    "o'neil@example.co.uk",
    'a&b@example.com',
    'a/b@example.com',
    "!#$%&'*+/=?^_`{|}~-@example.com",
    `${'a'.repeat(64)}@example.com`,
    'Maren@xn--bcher-kva.example',
  ])('%s is accepted', (address) => {
    expect(email.parse(address)).toBe(address)
  })
  it.each([
    'maren',
    'maren@',
    'a b@example.com',
    'maren@example.com\r\nRCPT TO:<spy@example.net>',
    `${'a'.repeat(250)}@example.com`,
    `${'a'.repeat(65)}@example.com`,
    '.maren@example.com',
    'maren.@example.com',
    'ma..ren@example.com',
    'maren@example',
    'maren@-example.com',
    'maren@example-.com',
    'maren@example..com',
    `maren@${'a'.repeat(64)}.com`,
    'maren@127.0.0.1',
    'maren,bo@example.com',
    '<maren@example.com>',
    'mären@example.com',
  ])('%j is rejected', (address) => {
    expect(email.safeParse(address).success).toBe(false)
  })
})

describe('a UUID from a client', () => {
  it('is converted to lower case', () => {
    const id = '019a0c3e-7b1d-7a2c-9f52-3f1c2d4e5a6b'
    expect(uuid().parse(id.toUpperCase())).toBe(id)
    expect(uuid().safeParse('019a0c3e').success).toBe(false)
  })
})

describe('a child', () => {
  it('is at least 5 years old, in whole years', () => {
    expect(childAge.safeParse(5).success).toBe(true)
    for (const age of [4, 5.5, -1, '9', null, Number.NaN]) expect(childAge.safeParse(age).success).toBe(false)
  })
})

describe('a class date', () => {
  it('is formatted without a time zone conversion', () => {
    expect(formatClassDate('2025-10-03')).toBe('Friday, October 3, 2025')
    expect(formatShortClassDate('2025-10-03')).toBe('Oct 3')
    expect(formatClassTime('16:00')).toBe('4:00 PM')
    expect(formatClassTime('00:00')).toBe('12:00 AM')
    expect(formatClassDate('[Missing Start Date]')).toBe('[Missing Start Date]')
  })

  it('is formatted as Intl formats it, for every date', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (days) => {
        const date = Temporal.PlainDate.from('1950-01-01').add({ days })
        expect(formatClassDate(date.toString())).toBe(date.toLocaleString('en-US', { dateStyle: 'full' }))
      }),
    )
  })
})

describe('money', () => {
  it('is formatted in dollars and cents', () => {
    expect(formatMoney({ amount: 40000, currency: 'usd' })).toBe('$400.00')
    expect(formatMoney({ amount: 123456789, currency: 'usd' })).toBe('$1,234,567.89')
    expect(formatMoney({ amount: 100000, currency: 'usd' }, true)).toBe('$1,000')
    expect(formatMoney({ amount: 5, currency: 'usd' }, true)).toBe('$0.05')
  })

  it('is due per child, or per two children while siblings join free', () => {
    expect([1, 2, 3, 4].map((children) => payableChildren(children, true))).toEqual([1, 1, 2, 2])
    expect([1, 2, 3, 4].map((children) => payableChildren(children, false))).toEqual([1, 2, 3, 4])
  })
})

describe('emailKey', () => {
  it('ignores case, also in a process with a Turkish locale', () => {
    const addresses = ['IRIS@example.com', ' iris@EXAMPLE.com']
    const script = `
      const { emailKey } = await import(${JSON.stringify(import.meta.resolve('./fields.ts'))})
      console.log(JSON.stringify([Intl.DateTimeFormat().resolvedOptions().locale, ...${JSON.stringify(addresses)}.map(emailKey)]))`
    const env = { ...process.env, LC_ALL: 'tr_TR.UTF-8' }
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual(['tr-TR', 'iris@example.com', 'iris@example.com'])
    expect(addresses.map(emailKey)).toEqual(['iris@example.com', 'iris@example.com'])
  })
})
