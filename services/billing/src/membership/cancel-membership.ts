import type { Membership as MembershipView } from '@robokids/contracts/billing'
import type { Stripe } from 'stripe'
import { requestEnd } from './apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { answer, runningSubscription, releaseSchedule, willEnd } from './running-membership.ts'

/** Has the provider end a subscription with the time that is paid. */
export async function cancelSubscription(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  if (willEnd(subscription)) return
  await releaseSchedule(context, subscription)
  await callStripe(context, (stripe) => stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true }))
}

/** What is open of a subscription that is not renewed is not collected any more, by nobody and on no page. */
export async function voidOpenInvoices(context: BillingContext, subscription: string): Promise<void> {
  const open = await callStripe(context, (stripe) =>
    stripe.invoices.list({ subscription, status: 'open', limit: 100 }).autoPagingToArray({ limit: 1_000 }),
  )
  for (const { id } of open) {
    try {
      await callStripe(context, (stripe) => stripe.invoices.voidInvoice(id))
    } catch (error) {
      // It was paid, or voided, a moment ago: what is asked after next says which.
      if (!(error instanceof StripeFailure) || !error.refused) throw error
    }
  }
}

/** A membership is not renewed any more. Safe to repeat. @throws DomainError membership_not_found */
export async function cancelMembership(context: BillingContext, membershipId: string): Promise<MembershipView> {
  const { membership, subscription } = await runningSubscription(context, membershipId)
  // Two steps: written down, the second one follows the first whatever happens in between, and both are told of as one.
  if (subscription.schedule !== null) {
    await context.db.transaction((tx) => requestEnd(tx, context, membershipId, 'at_period_end'))
  }
  await cancelSubscription(context, subscription)
  await voidOpenInvoices(context, subscription.id)
  return answer(context, membership)
}
