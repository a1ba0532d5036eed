import type { BillingContext } from '../config.ts'
import { readMembership } from './read-memberships.ts'
import { callStripe } from '../stripe/client.ts'

/** Creates a session of Stripe's billing portal, where a member changes the card and finds the invoices. */
export async function openPortal(context: BillingContext, membershipId: string): Promise<{ url: string }> {
  const { stripeCustomerId: customer } = await readMembership(context.db, membershipId)
  const { url } = await callStripe(context, (stripe) =>
    stripe.billingPortal.sessions.create({ customer, return_url: `${context.config.SITE_URL}/profile` }),
  )
  return { url }
}
