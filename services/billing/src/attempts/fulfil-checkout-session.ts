import type { BillingContext } from '../config.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import type { AttemptKind } from './attempt-kind.ts'

/**
 * Fetches a session and applies it to its attempt. Webhooks, returning parents and the reconcile job all end up here, in any
 * order and any number of times.
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
