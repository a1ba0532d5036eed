import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { guessableBits } from './production-rules.ts'

const secrets = (make: () => string) => Array.from({ length: 500 }, make)

describe('what somebody who guesses a secret has to find out', () => {
  it.each([
    ['16 random bytes in hex', () => randomBytes(16).toString('hex')],
    ['16 random bytes in base64', () => randomBytes(16).toString('base64')],
    ['32 random bytes in base64url', () => randomBytes(32).toString('base64url')],
  ])('is enough where it is %s', (_what, make) => {
    for (const secret of secrets(make)) expect(guessableBits(secret)).toBeGreaterThan(60)
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
    'qwertyuiop',
    'Summer2027!',
    '00000000000000000000000000000000',
    'ｐａｓｓｗｏｒｄ',
  ])('is too little in %j', (secret) => {
    expect(guessableBits(secret)).toBeLessThan(60)
  })
})
