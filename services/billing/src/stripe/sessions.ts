import type { ShipTo } from '@robokids/contracts/shop'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import type { ObservedSession } from './observed.ts'
import { callStripe, idOf, attemptIdOf } from './client.ts'

const behindSession = ['payment_intent.latest_charge', 'subscription']

/** A checkout session as it is now, with what is behind it. */
export async function fetchSession(context: BillingContext, sessionId: string): Promise<ObservedSession> {
  return observe(
    await callStripe(context, (stripe) => stripe.checkout.sessions.retrieve(sessionId, { expand: behindSession })),
  )
}

export async function expireSession(context: BillingContext, sessionId: string): Promise<ObservedSession> {
  return observe(
    await callStripe(context, (stripe) => stripe.checkout.sessions.expire(sessionId, { expand: behindSession })),
  )
}

export function observe(session: Stripe.Checkout.Session): ObservedSession {
  const intent = session.payment_intent
  const intentId = idOf(intent)
  const seen = typeof intent === 'string' ? null : intent
  const charge = typeof seen?.latest_charge === 'string' ? null : seen?.latest_charge
  return {
    sessionId: session.id,
    attemptId: attemptIdOf(session),
    status: session.status ?? 'open',
    paymentStatus: session.payment_status,
    mode: session.mode,
    amount: session.amount_total,
    currency: session.currency,
    url: session.url,
    payment:
      intentId === null
        ? null
        : {
            intentId,
            status: seen?.status ?? null,
            amount: seen?.amount_received ?? null,
            currency: seen?.currency ?? null,
            paidAt: charge ? Temporal.Instant.fromEpochMilliseconds(charge.created * 1000) : null,
            decline: seen?.last_payment_error?.message ?? null,
          },
    buyer: { email: session.customer_details?.email ?? null, shipTo: observeShipTo(session) },
    termsAccepted: session.consent?.terms_of_service === 'accepted',
    subscription: observeSubscription(session),
  }
}

function observeShipTo({ collected_information }: Stripe.Checkout.Session): ShipTo | null {
  const shipping = collected_information?.shipping_details
  if (!shipping) return null
  const { line1, line2, city, state, postal_code, country } = shipping.address
  return {
    name: shipping.name,
    addressLine1: line1 ?? '',
    addressLine2: line2 ?? '',
    city: city ?? '',
    state: state ?? '',
    zipCode: postal_code ?? '',
    country: country ?? '',
  }
}

function observeSubscription({ subscription, customer }: Stripe.Checkout.Session): ObservedSession['subscription'] {
  const subscriptionId = idOf(subscription)
  const customerId = idOf(customer)
  if (subscriptionId === null || customerId === null) return null
  const seen = typeof subscription === 'string' ? null : subscription
  const startedAt = seen ? Temporal.Instant.fromEpochMilliseconds(seen.start_date * 1000) : null
  return { subscriptionId, customerId, status: seen?.status ?? null, startedAt }
}
