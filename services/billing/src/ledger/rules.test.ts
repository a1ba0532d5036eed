import { describe, expect, it } from 'vitest'
import { receiptNumber } from './rules.ts'

describe('receipt numbers', () => {
  it('formats receipt numbers with at least six digits', () => {
    expect([1, 999_999, 1_000_000].map(receiptNumber)).toEqual(['RK-000001', 'RK-999999', 'RK-1000000'])
  })
})
