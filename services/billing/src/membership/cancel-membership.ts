import type { Membership as MembershipView } from '@robokids/contracts/billing'
import type { Stripe } from 'stripe'
import { requestMembershipEnd } from '../ownership/request-membership-end.ts'
import type { BillingContext } from '../config.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { presentRefreshed, fetchRunningSubscription, releaseSchedule, willEnd } from './running-membership.ts'

/** Cancels a subscription at the end of the paid period. */
export async function cancelSubscription(context: BillingContext, subscription: Stripe.Subscription): Promise<void> {
  if (willEnd(subscription)) return
  await releaseSchedule(context, subscription)
  await callStripe(context, (stripe) => stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true }))
}

/** Voids the open invoices of a subscription that will end, so that they can no longer be paid anywhere. */
export async function voidOpenInvoices(context: BillingContext, subscription: string): Promise<void> {
  const open = await callStripe(context, (stripe) =>
    stripe.invoices.list({ subscription, status: 'open', limit: 100 }).autoPagingToArray({ limit: 1_000 }),
  )
  for (const { id } of open) {
    try {
      await callStripe(context, (stripe) => stripe.invoices.voidInvoice(id))
    } catch (error) {
      // It was paid or voided a moment ago: the next fetch shows which.
      if (!(error instanceof StripeFailure) || !error.refused) throw error
    }
  }
}

/** Cancels a membership at the end of the paid period. Idempotent. @throws DomainError membership_not_found */
export async function cancelMembership(context: BillingContext, membershipId: string): Promise<MembershipView> {
  const { membership, subscription } = await fetchRunningSubscription(context, membershipId)
  // Two calls: the recorded request ensures the second one after a crash, and that both are published as one change.
  if (subscription.schedule !== null) {
    await context.db.transaction((tx) => requestMembershipEnd(tx, context, membershipId, 'at_period_end'))
  }
  await cancelSubscription(context, subscription)
  await voidOpenInvoices(context, subscription.id)
  return presentRefreshed(context, membership)
}
