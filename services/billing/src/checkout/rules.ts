import type { Money } from '@robokids/contracts/fields'
import { paymentPageMinutes } from '@robokids/contracts/seat-hold'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

/** Stripe wants a session to live at least 30 minutes from when the request arrives. */
export const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

export type CheckoutSessionOutcome = 'open' | 'processing' | 'paid' | 'amount_mismatch' | 'failed' | 'expired'

/** What a session says about its attempt. Money counts as paid only if it is exactly what was asked for. */
export function classifyCheckoutSession(
  checkoutSession: ObservedCheckoutSession,
  attempt: Money,
): CheckoutSessionOutcome {
  if (checkoutSession.status === 'expired') return 'expired'
  if (checkoutSession.status === 'open') return 'open'
  if (checkoutSession.paymentStatus === 'unpaid') {
    const over =
      checkoutSession.payment?.status === 'requires_payment_method' || checkoutSession.payment?.status === 'canceled'
    return over ? 'failed' : 'processing'
  }
  const asAgreed =
    checkoutSession.paymentStatus === 'paid' &&
    checkoutSession.payment !== null &&
    checkoutSession.mode === 'payment' &&
    checkoutSession.amount === attempt.amount &&
    checkoutSession.currency === attempt.currency
  return asAgreed ? 'paid' : 'amount_mismatch'
}
