import { describe, expect, it } from 'vitest'
import { classifyCheckoutSession } from './rules.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

describe('classifyCheckoutSession', () => {
  const paid: ObservedCheckoutSession = {
    checkoutSessionId: 'cs_1',
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

  it('classifies a session as paid only for exactly the agreed amount', () => {
    expect(classifyCheckoutSession(paid, agreed)).toBe('paid')
    for (const other of [
      { amount: 39_999 },
      { amount: 40_001 },
      { amount: null },
      { currency: 'eur' },
      { mode: 'subscription' },
    ]) {
      expect(classifyCheckoutSession({ ...paid, ...other }, agreed)).toBe('amount_mismatch')
    }
    expect(classifyCheckoutSession({ ...paid, paymentStatus: 'no_payment_required', payment: null }, agreed)).toBe(
      'amount_mismatch',
    )
  })

  it('does not classify a complete session as paid before its payment has succeeded', () => {
    const unpaid = (status: string): ObservedCheckoutSession => ({
      ...paid,
      paymentStatus: 'unpaid',
      payment: { ...paid.payment!, status },
    })
    expect(classifyCheckoutSession(unpaid('processing'), agreed)).toBe('processing')
    expect(classifyCheckoutSession(unpaid('requires_payment_method'), agreed)).toBe('failed')
    expect(classifyCheckoutSession(unpaid('canceled'), agreed)).toBe('failed')
    expect(classifyCheckoutSession({ ...paid, status: 'open', paymentStatus: 'unpaid' }, agreed)).toBe('open')
    expect(classifyCheckoutSession({ ...paid, status: 'expired', paymentStatus: 'unpaid' }, agreed)).toBe('expired')
  })
})
