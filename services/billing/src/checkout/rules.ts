import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { Money } from '@robokids/contracts/fields'
import { orderTerms, registrationTerms } from '@robokids/contracts/offers'
import type { CheckoutSessionOutcome } from '../attempts/rules.ts'
import { isOrder } from '../purchase.ts'
import type { Attempt } from '../schema.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

/** Classifies a session for its attempt. It counts as paid only if amount and currency are exactly the agreed ones. */
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
  const matchesPrice =
    checkoutSession.paymentStatus === 'paid' &&
    checkoutSession.payment !== null &&
    checkoutSession.mode === 'payment' &&
    checkoutSession.amount === attempt.amount &&
    checkoutSession.currency === attempt.currency
  return matchesPrice ? 'paid' : 'amount_mismatch'
}

/** The terms that were agreed to for an attempt. */
export function agreedTerms({
  agreement,
  purchase,
  parameters,
}: Pick<Attempt, 'agreement' | 'purchase' | 'parameters'>): AgreementTerms {
  if (agreement) return agreement.terms
  if (isOrder(purchase)) return orderTerms(purchase.lines)
  const { classType, startDate, children } = purchase
  // A class is one line item.
  const [seats] = parameters.line_items
  return registrationTerms({
    classType,
    startDate,
    children: children.length,
    siblingJoinsFree: (seats?.quantity ?? children.length) < children.length,
    unitAmount: seats?.price_data.unit_amount ?? 0,
  })
}
