import { and, inArray, isNotNull, lte, sql, type SQL } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from './fulfil-checkout-session.ts'
import type { AttemptKind } from './attempt-kind.ts'
import { StripeFailure } from '../stripe/client.ts'

/** The last part of its addresses: `sync` is what a BFF of the version before calls, which may be running beside this one. */
export const refreshNames = ['refresh', 'sync']

const shortestPause = '2 seconds'
const longestPause = '1 minute'

/**
 * How many questions of this process for pages that wait are under way at once. The provider answers so many a second, and
 * those who pay come first: where more pages ask than that, they are shown what is known, and told by its webhooks.
 */
const maxQuestions = 16
let questions = 0

/**
 * Asks the provider about an unsettled attempt where that is due, and applies what it says: whoever waits for a payment
 * calls this as often as they like. It is due after 2, 4, 8 … 60 seconds, and two seconds after the last time for a buyer
 * who has just come back from the payment page, before whose webhook perhaps. The attempt's row says when it was asked
 * last, so that one question is asked for all pages and all processes. Where many are asked already, none is.
 */
export async function refreshAttempts(
  context: BillingContext,
  kind: AttemptKind,
  isMeant: SQL,
  returned: boolean,
): Promise<void> {
  if (questions >= maxQuestions) return
  questions += 1
  try {
    await askWhereDue(context, kind, isMeant, returned)
  } finally {
    questions -= 1
  }
}

async function askWhereDue(context: BillingContext, kind: AttemptKind, isMeant: SQL, returned: boolean): Promise<void> {
  const attempts = kind.table
  const now = Temporal.Now.instant()
  const age = sql`${attempts.checkedAt} - ${attempts.createdAt}`
  // As long again as it had been there when it was last asked about, which doubles each time.
  const pause = sql`least(greatest(${returned ? sql`interval '0'` : age}, ${shortestPause}::interval), ${longestPause}::interval)`
  const due = await context.db
    .update(attempts)
    .set({ checkedAt: now })
    .where(
      and(
        isMeant,
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
      // What is known is worth showing without the provider.
      if (!(error instanceof StripeFailure)) throw error
      context.log.warn({ err: error, attemptId: id }, 'a checkout could not be refreshed')
    }
  }
}
