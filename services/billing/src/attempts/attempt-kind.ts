import type { Transaction } from '@robokids/runtime/db'
import type { BillingContext } from '../config.ts'
import type { checkoutAttempts, membershipAttempts } from '../schema.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

/** What differs between attempts at paying a registration or an order, and attempts at becoming a member. */
export interface AttemptKind {
  table: typeof checkoutAttempts | typeof membershipAttempts
  /** What the caller named the address that the provider may refuse. */
  emailPath: string
  /** A checkout session as it is now, with all behind it that `apply` needs. */
  fetch(context: BillingContext, checkoutSessionId: string): Promise<ObservedCheckoutSession>
  /** Brings the attempt up to what the provider showed of its session. */
  apply(tx: Transaction, context: BillingContext, checkoutSession: ObservedCheckoutSession): Promise<void>
}
