import type { BillingContext } from '../config.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import type { AttemptKind } from './attempt-kind.ts'

/**
 * Brings an attempt up to what the provider says of its session now. Webhooks, returning parents and the reconcile job
 * all come through here, in any order and any number of times.
 */
export async function fulfilCheckoutSession(
  context: BillingContext,
  kind: AttemptKind,
  checkoutSessionId: string,
): Promise<void> {
  await retryOnStale(async () => {
    const checkoutSession = await kind.fetch(context, checkoutSessionId)
    await context.db.transaction((tx) => kind.apply(tx, context, checkoutSession))
  })
}
