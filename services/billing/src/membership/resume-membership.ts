import type { Membership as MembershipView } from '@robokids/contracts/billing'
import { DomainError } from '@robokids/runtime/errors'
import type { BillingContext } from '../config.ts'
import { callStripe } from '../stripe/client.ts'
import { presentRefreshed, fetchRunningSubscription, willEnd } from './running-membership.ts'

/**
 * Resumes a cancelled membership that has not ended yet. Idempotent.
 * @throws DomainError membership_not_found, membership_not_changeable
 */
export async function resumeMembership(context: BillingContext, membershipId: string): Promise<MembershipView> {
  const { membership, subscription } = await fetchRunningSubscription(context, membershipId)
  if (willEnd(subscription)) {
    if (await isUnpaidFor(context, subscription.id)) {
      throw new DomainError(
        'membership_not_changeable',
        'The last payment did not go through, so this membership can’t continue. You can become a member again once it ends.',
      )
    }
    const changes = subscription.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' as const }
    await callStripe(context, (stripe) => stripe.subscriptions.update(subscription.id, changes))
  }
  return presentRefreshed(context, membership)
}

/** Whether the current period is unpaid: the membership was cancelled while its payment failed, and the invoice was voided. */
async function isUnpaidFor(context: BillingContext, subscription: string): Promise<boolean> {
  const { data } = await callStripe(context, (stripe) => stripe.invoices.list({ subscription, limit: 100 }))
  const latest = data.find(
    ({ status, billing_reason }) => status !== 'draft' && billing_reason === 'subscription_cycle',
  )
  return latest?.status === 'void'
}
