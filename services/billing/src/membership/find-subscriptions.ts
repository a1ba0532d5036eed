import { and, eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import { membershipAttempts, memberships } from '../schema.ts'

/** Returns the checkout session of a membership attempt named by a subscription's metadata; null if it is unknown. */
export async function findCheckoutSessionId(context: BillingContext, attemptId: string | null): Promise<string | null> {
  if (attemptId === null) return null
  const find = async () => {
    const [attempt] = await context.db.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
    return attempt
  }
  const attempt = await find()
  if (!attempt) return null
  if (attempt.stripeSessionId !== null) return attempt.stripeSessionId
  await openCheckoutSession(context, membershipAttemptKind, attemptId)
  return (await find())?.stripeSessionId ?? null
}

export async function findActiveSubscriptions({ db }: BillingContext, customerId: string): Promise<string[]> {
  const rows = await db
    .select({ id: memberships.stripeSubscriptionId })
    .from(memberships)
    .where(and(eq(memberships.stripeCustomerId, customerId), eq(memberships.status, 'active')))
  return rows.map(({ id }) => id)
}
