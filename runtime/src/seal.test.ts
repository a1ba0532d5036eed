import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derivingKeysSchema, sealingKeysSchema } from './seal.ts'

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const first = key('k1')
const second = key('k2')

describe('a sealer', () => {
  it('opens what it sealed only unchanged and for the same purpose', () => {
    const sealer = sealingKeysSchema.parse(first)
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), (content, purpose, at) => {
        const sealed = sealer.seal(content, purpose)
        expect(sealer.open(sealed, purpose)?.toString()).toBe(Buffer.from(content).toString())
        expect(sealer.open(sealed, `${purpose}.`)).toBeUndefined()
        const bytes = Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
        bytes[at % bytes.length]! ^= 1
        expect(sealer.open(`k1.${bytes.toString('base64url')}`, purpose)).toBeUndefined()
        expect(sealer.open(sealed.slice(0, at % sealed.length), purpose)).toBeUndefined()
      }),
    )
  })

  it('seals with the newest key and also opens with older ones', () => {
    const before = sealingKeysSchema.parse(first).seal('x', 'p')
    const both = sealingKeysSchema.parse(`${second},${first}`)
    expect(both.open(before, 'p')?.toString()).toBe('x')
    expect(sealingKeysSchema.parse(second).open(both.seal('y', 'p'), 'p')?.toString()).toBe('y')
    expect(sealingKeysSchema.parse(second).open(before, 'p')).toBeUndefined()
  })

  it('rejects two keys with the same id', () => {
    const result = sealingKeysSchema.safeParse(`${second},${key('k1')},${first}`)
    expect(result.error?.issues[0]?.message).toBe('has two keys called k1: a new key needs an id of its own')
  })

  it.each(['', 'k1', 'k1:short', ':AAAA', `${first},`])('rejects the setting %j', (setting) => {
    expect(sealingKeysSchema.safeParse(setting).success).toBe(false)
  })
})

describe('a deriver', () => {
  it('derives equal values only for equal content, purpose and key', () => {
    const mac = derivingKeysSchema.parse(first).mac('x', 'p')
    expect(mac).toHaveLength(32)
    expect(derivingKeysSchema.parse(first).mac('x', 'p')).toEqual(mac)
    expect(derivingKeysSchema.parse(first).mac('x', 'q')).not.toEqual(mac)
    expect(derivingKeysSchema.parse(first).mac('y', 'p')).not.toEqual(mac)
    expect(derivingKeysSchema.parse(second).mac('x', 'p')).not.toEqual(mac)
  })

  it('derives with its first key and returns the values of all keys', () => {
    const [one, other] = [first, second].map((keys) => derivingKeysSchema.parse(keys).mac('x', 'p'))
    const both = derivingKeysSchema.parse(`${second},${first}`)
    expect(both.mac('x', 'p')).toEqual(other)
    expect(both.macs('x', 'p')).toEqual([other, one])
  })
})
