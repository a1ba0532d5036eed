import { and, inArray, isNotNull, lte, sql, type SQL } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from './fulfil-checkout-session.ts'
import type { AttemptKind } from './attempt-kind.ts'
import { StripeFailure } from '../stripe/client.ts'

/** Last segments of the routes: a BFF of the previous version, which may be running beside this one, calls `sync`. */
export const refreshNames = ['refresh', 'sync']

const minPause = '2 seconds'
const maxPause = '1 minute'

/**
 * Refreshes for waiting pages that this process has in flight at once. Stripe limits requests per second, and payments come
 * first: beyond this number, pages show the recorded state and are updated by webhooks.
 */
const maxConcurrentRefreshes = 16
let concurrentRefreshes = 0

/**
 * Fetches unsettled attempts from Stripe if that is due, so that waiting pages can call it at any rate. It is due after 2, 4,
 * 8 … 60 seconds, and every two seconds for a buyer who has just returned from the payment page, perhaps before the webhook.
 * The attempt's row holds the time of the last fetch, so that all pages and processes share one. Does nothing while too many
 * are in flight.
 */
export async function refreshAttempts(
  context: BillingContext,
  kind: AttemptKind,
  condition: SQL,
  returned: boolean,
): Promise<void> {
  if (concurrentRefreshes >= maxConcurrentRefreshes) return
  concurrentRefreshes += 1
  try {
    await refreshDue(context, kind, condition, returned)
  } finally {
    concurrentRefreshes -= 1
  }
}

async function refreshDue(
  context: BillingContext,
  kind: AttemptKind,
  condition: SQL,
  returned: boolean,
): Promise<void> {
  const attempts = kind.table
  const now = Temporal.Now.instant()
  const age = sql`${attempts.checkedAt} - ${attempts.createdAt}`
  // The attempt's age at the last fetch, which doubles the interval each time.
  const pause = sql`least(greatest(${returned ? sql`interval '0'` : age}, ${minPause}::interval), ${maxPause}::interval)`
  const due = await context.db
    .update(attempts)
    .set({ checkedAt: now })
    .where(
      and(
        condition,
        inArray(attempts.status, ['open', 'processing']),
        isNotNull(attempts.stripeSessionId),
        lte(attempts.checkedAt, sql`${now.toString()}::timestamptz - ${pause}`),
      ),
    )
    .returning({ id: attempts.id, checkoutSessionId: attempts.stripeSessionId })
  for (const { id, checkoutSessionId } of due) {
    if (checkoutSessionId === null) continue
    try {
      await fulfilCheckoutSession(context, kind, checkoutSessionId)
    } catch (error) {
      // The recorded state is worth showing without Stripe.
      if (!(error instanceof StripeFailure)) throw error
      context.log.warn({ err: error, attemptId: id }, 'a checkout could not be refreshed')
    }
  }
}
