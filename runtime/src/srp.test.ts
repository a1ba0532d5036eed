import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  beginExchange,
  beginProof,
  expectedSignature,
  formatTimestamp,
  makeVerifier,
  parseTimestamp,
  prime,
} from './srp.ts'

function claimOf(user: string) {
  return { group: 'Pool', user, secretBlock: randomBytes(32), timestamp: 'Tue Mar 5 07:08:09 UTC 2030' }
}

describe('Secure Remote Password', () => {
  it('gives both sides the same signature only for the right password', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (user, password, other) => {
        const { salt, value } = makeVerifier('Pool', user, password)
        const proof = beginProof()
        const exchange = beginExchange(proof.A, value)
        if (!exchange) throw new Error('A was refused.')
        const claim = claimOf(user)
        const expected = expectedSignature(exchange, value, claim)?.toString('hex')
        expect(proof.prove({ salt, B: exchange.B }, password, claim).toString('hex')).toBe(expected)
        if (other !== password)
          expect(proof.prove({ salt, B: exchange.B }, other, claim).toString('hex')).not.toBe(expected)
        expect(proof.prove({ salt, B: exchange.B }, password, claimOf(user)).toString('hex')).not.toBe(expected)
      }),
      { numRuns: 40 },
    )
  })

  it('rejects an A that is not a number or is a multiple of N', () => {
    for (const A of ['', 'x', '0', prime.toString(16), (prime * 2n).toString(16), '-1']) {
      expect(beginExchange(A, 5n)).toBeUndefined()
    }
  })

  it('accepts no proof for a trivial verifier', () => {
    for (const value of [0n, 1n, prime - 1n]) {
      const exchange = beginExchange(beginProof().A, value)
      if (!exchange) throw new Error('A was refused.')
      expect(expectedSignature(exchange, value, claimOf('maren'))).toBeUndefined()
    }
  })

  it('formats timestamps with an unpadded day and a padded time', () => {
    expect(formatTimestamp(Temporal.Instant.from('2030-03-05T07:08:09.9Z'))).toBe('Tue Mar 5 07:08:09 UTC 2030')
    expect(formatTimestamp(Temporal.Instant.from('2030-12-15T17:00:00Z'))).toBe('Sun Dec 15 17:00:00 UTC 2030')
    expect(parseTimestamp('Tue Mar 5 07:08:09 UTC 2030')).toEqual(Temporal.Instant.from('2030-03-05T07:08:09Z'))
    for (const text of ['', 'Tue Mar 05 07:08:09 UTC 2030', 'Tue Feb 30 07:08:09 UTC 2030', '2030-03-05T07:08:09Z'])
      expect(parseTimestamp(text)).toBeUndefined()
  })
})
