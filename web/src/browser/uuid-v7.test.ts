import { registrationRequestSchema } from '@robokids/contracts/enrollment'
import { describe, expect, it } from 'vitest'
import { uuidV7 } from './uuid-v7.ts'

describe('uuidV7', () => {
  it('makes ids that the contract takes, all different', () => {
    const ids = Array.from({ length: 200 }, uuidV7)
    expect(ids.filter((id) => !registrationRequestSchema.shape.id.safeParse(id).success)).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('begins with the time in milliseconds', () => {
    const before = Date.now()
    const millis = Number.parseInt(uuidV7().replaceAll('-', '').slice(0, 12), 16)
    expect(millis).toBeGreaterThanOrEqual(before)
    expect(millis).toBeLessThanOrEqual(Date.now())
  })
})
