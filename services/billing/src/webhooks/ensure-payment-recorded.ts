import { eq } from 'drizzle-orm'
import { refreshMembership } from '../membership/apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { fetchMembership } from '../stripe/subscriptions.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { membershipAttemptKind } from '../membership/activate-membership.ts'
import { selectAttemptKind } from './select-attempt-kind.ts'
import { findCheckoutSessionId } from '../membership/find-subscriptions.ts'
import { payments } from '../schema.ts'
import { callStripe, idOf } from '../stripe/client.ts'

/** Records the payment of a refund or dispute if its own event has not arrived yet. */
export async function ensurePaymentRecorded(context: BillingContext, intentId: string): Promise<void> {
  const [known] = await context.db
    .select({ id: payments.id })
    .from(payments)
    .where(eq(payments.stripePaymentIntentId, intentId))
  if (known) return
  const sessions = await callStripe(context, (stripe) =>
    stripe.checkout.sessions.list({ payment_intent: intentId, limit: 1 }),
  )
  for (const checkoutSession of sessions.data)
    await fulfilCheckoutSession(context, selectAttemptKind(checkoutSession), checkoutSession.id)
  if (sessions.data.length === 0) await ensureMembershipPaymentRecorded(context, intentId)
}

/** Payments of a subscription, including the first, belong to an invoice and not to a session. */
async function ensureMembershipPaymentRecorded(context: BillingContext, payment_intent: string): Promise<void> {
  const { data } = await callStripe(context, (stripe) =>
    stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent }, limit: 1 }),
  )
  const invoiceId = idOf(data[0]?.invoice)
  if (invoiceId === null) return
  const { parent } = await callStripe(context, (stripe) => stripe.invoices.retrieve(invoiceId))
  const subscriptionId = idOf(parent?.subscription_details?.subscription)
  if (subscriptionId === null) return
  const { version, attemptId } = await fetchMembership(context, subscriptionId)
  if (version !== null) return refreshMembership(context, subscriptionId)
  const checkoutSessionId = await findCheckoutSessionId(context, attemptId)
  if (checkoutSessionId !== null) await fulfilCheckoutSession(context, membershipAttemptKind, checkoutSessionId)
}
