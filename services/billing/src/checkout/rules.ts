import type { Money } from '@robokids/contracts/fields'
import { paymentPageMinutes } from '@robokids/contracts/seat-hold'
import type { ObservedSession } from '../stripe/observed.ts'

/** Stripe wants a session to live at least 30 minutes from when the request arrives. */
export const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

export type SessionOutcome = 'open' | 'processing' | 'paid' | 'amount_mismatch' | 'failed' | 'expired'

/** What a session says about its attempt. Money counts as paid only if it is exactly what was asked for. */
export function classifySession(session: ObservedSession, attempt: Money): SessionOutcome {
  if (session.status === 'expired') return 'expired'
  if (session.status === 'open') return 'open'
  if (session.paymentStatus === 'unpaid') {
    const over = session.payment?.status === 'requires_payment_method' || session.payment?.status === 'canceled'
    return over ? 'failed' : 'processing'
  }
  const asAgreed =
    session.paymentStatus === 'paid' &&
    session.payment !== null &&
    session.mode === 'payment' &&
    session.amount === attempt.amount &&
    session.currency === attempt.currency
  return asAgreed ? 'paid' : 'amount_mismatch'
}
