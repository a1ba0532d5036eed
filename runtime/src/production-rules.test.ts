import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { estimateEntropyBits, minBits } from './production-rules.ts'

const secrets = (make: () => string) => Array.from({ length: 500 }, make)

describe('minBits', () => {
  it.each([
    ['16 random bytes in hex', () => randomBytes(16).toString('hex')],
    ['16 random bytes in base64', () => randomBytes(16).toString('base64')],
    ['32 random bytes in base64url', () => randomBytes(32).toString('base64url')],
  ])('is high enough for %s', (_what, make) => {
    for (const secret of secrets(make)) expect(estimateEntropyBits(secret)).toBeGreaterThan(minBits)
  })

  it.each([
    '',
    'password',
    'P@ssw0rd!',
    'Password123!Password123!',
    'changeme-changeme-changeme',
    'admin-secret-of-the-production-system',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'abcdefghijklmnopqrstuvwxyz0123456789',
    '1234567890123456789012345678901234567890',
    'abababababababababababababababab',
    'swordfish-swordfish-swordfish-swordfish',
    'qwertyuiop',
    'Summer2027!',
    '00000000000000000000000000000000',
    'ｐａｓｓｗｏｒｄ',
  ])('is too low for %j', (secret) => {
    expect(estimateEntropyBits(secret)).toBeLessThan(minBits)
  })
})
