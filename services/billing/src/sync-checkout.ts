import type { Checkout } from '@robokids/contracts/billing'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { fulfilSession } from './fulfil-session.ts'
import { readCheckout } from './read-checkouts.ts'
import { checkoutAttempts } from './schema.ts'

/** For a parent who comes back before the webhook does: asks the provider after the checkout, and does what it would do. */
export async function syncCheckout(context: BillingContext, registrationId: string): Promise<Checkout> {
  const unsettled = await context.db
    .select({ sessionId: checkoutAttempts.stripeSessionId })
    .from(checkoutAttempts)
    .where(
      and(
        eq(checkoutAttempts.purchaseId, registrationId),
        inArray(checkoutAttempts.status, ['open', 'processing']),
        isNotNull(checkoutAttempts.stripeSessionId),
      ),
    )
  for (const { sessionId } of unsettled) if (sessionId !== null) await fulfilSession(context, sessionId)
  return readCheckout(context.db, registrationId)
}
