import { paymentPageMinutes } from '@robokids/contracts/seat-hold'

/** Stripe requires a session to live at least 30 minutes from when the request arrives. */
export const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

/** What a session's state means for its attempt. */
export type CheckoutSessionOutcome = 'open' | 'processing' | 'paid' | 'amount_mismatch' | 'failed' | 'expired'
