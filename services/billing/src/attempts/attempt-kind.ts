import type { Transaction } from '@robokids/runtime/db'
import type { BillingContext } from '../config.ts'
import type { checkoutAttempts, membershipAttempts } from '../schema.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import type { ObservedSession } from '../stripe/observed.ts'

/** What differs between attempts at paying a registration or an order, and attempts at becoming a member. */
export interface AttemptKind {
  table: typeof checkoutAttempts | typeof membershipAttempts
  /** What the caller named the address that the provider may refuse. */
  emailPath: string
  /** A checkout session as it is now, with all behind it that `apply` needs. */
  fetch(context: BillingContext, sessionId: string): Promise<ObservedSession>
  /** Brings the attempt up to what the provider showed of its session. */
  apply(tx: Transaction, context: BillingContext, session: ObservedSession): Promise<void>
}

/**
 * Brings an attempt up to what the provider says of its session now. Webhooks, returning parents and the reconcile job
 * all come through here, in any order and any number of times.
 */
export async function fulfilSession(context: BillingContext, kind: AttemptKind, sessionId: string): Promise<void> {
  await retryOnStale(async () => {
    const session = await kind.fetch(context, sessionId)
    await context.db.transaction((tx) => kind.apply(tx, context, session))
  })
}
