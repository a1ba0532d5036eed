import type { BillingContext } from '../config.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import type { AttemptKind } from './attempt-kind.ts'

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
