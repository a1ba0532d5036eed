import { describe, expect, it } from 'vitest'
import { classifySession } from './rules.ts'
import type { ObservedSession } from '../stripe/observed.ts'

describe('classifySession', () => {
  const paid: ObservedSession = {
    sessionId: 'cs_1',
    attemptId: null,
    status: 'complete',
    paymentStatus: 'paid',
    mode: 'payment',
    amount: 40_000,
    currency: 'usd',
    url: null,
    payment: { intentId: 'pi_1', status: 'succeeded', amount: 40_000, currency: 'usd', paidAt: null, decline: null },
    buyer: { email: null, shipTo: null },
    termsAccepted: false,
    subscription: null,
  }
  const agreed = { amount: 40_000, currency: 'usd' as const }

  it('takes for paid only exactly what was agreed', () => {
    expect(classifySession(paid, agreed)).toBe('paid')
    for (const other of [
      { amount: 39_999 },
      { amount: 40_001 },
      { amount: null },
      { currency: 'eur' },
      { mode: 'subscription' },
    ]) {
      expect(classifySession({ ...paid, ...other }, agreed)).toBe('amount_mismatch')
    }
    expect(classifySession({ ...paid, paymentStatus: 'no_payment_required', payment: null }, agreed)).toBe(
      'amount_mismatch',
    )
  })

  it('does not take complete for paid', () => {
    const unpaid = (status: string): ObservedSession => ({
      ...paid,
      paymentStatus: 'unpaid',
      payment: { ...paid.payment!, status },
    })
    expect(classifySession(unpaid('processing'), agreed)).toBe('processing')
    expect(classifySession(unpaid('requires_payment_method'), agreed)).toBe('failed')
    expect(classifySession(unpaid('canceled'), agreed)).toBe('failed')
    expect(classifySession({ ...paid, status: 'open', paymentStatus: 'unpaid' }, agreed)).toBe('open')
    expect(classifySession({ ...paid, status: 'expired', paymentStatus: 'unpaid' }, agreed)).toBe('expired')
  })
})
