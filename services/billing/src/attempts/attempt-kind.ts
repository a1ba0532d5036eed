import type { Transaction } from '@robokids/runtime/db'
import type { BillingContext } from '../config.ts'
import type { checkoutAttempts, membershipAttempts } from '../schema.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

/** What differs between attempts to pay for a registration or an order and attempts to become a member. */
export interface AttemptKind {
  table: typeof checkoutAttempts | typeof membershipAttempts
  /** The request field with the email address, for the error if Stripe rejects it. */
  emailPath: string
  /** Fetches a checkout session with the related objects that `apply` needs. */
  fetch(context: BillingContext, checkoutSessionId: string): Promise<ObservedCheckoutSession>
  /** Applies a fetched session to its attempt. */
  apply(tx: Transaction, context: BillingContext, checkoutSession: ObservedCheckoutSession): Promise<void>
}
