import type { ShipTo } from '@robokids/contracts/shop'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import type { ObservedCheckoutSession } from './observed.ts'
import { callStripe, idOf, attemptIdOf } from './client.ts'

const sessionExpansions = ['payment_intent.latest_charge', 'subscription']

/** Fetches a checkout session with its payment and subscription. */
export async function fetchCheckoutSession(
  context: BillingContext,
  checkoutSessionId: string,
): Promise<ObservedCheckoutSession> {
  return observe(
    await callStripe(context, (stripe) =>
      stripe.checkout.sessions.retrieve(checkoutSessionId, { expand: sessionExpansions }),
    ),
  )
}

export async function expireCheckoutSession(
  context: BillingContext,
  checkoutSessionId: string,
): Promise<ObservedCheckoutSession> {
  return observe(
    await callStripe(context, (stripe) =>
      stripe.checkout.sessions.expire(checkoutSessionId, { expand: sessionExpansions }),
    ),
  )
}

export function observe(checkoutSession: Stripe.Checkout.Session): ObservedCheckoutSession {
  const intent = checkoutSession.payment_intent
  const intentId = idOf(intent)
  const expanded = typeof intent === 'string' ? null : intent
  const charge = typeof expanded?.latest_charge === 'string' ? null : expanded?.latest_charge
  return {
    checkoutSessionId: checkoutSession.id,
    attemptId: attemptIdOf(checkoutSession),
    status: checkoutSession.status ?? 'open',
    paymentStatus: checkoutSession.payment_status,
    mode: checkoutSession.mode,
    amount: checkoutSession.amount_total,
    currency: checkoutSession.currency,
    url: checkoutSession.url,
    payment:
      intentId === null
        ? null
        : {
            intentId,
            status: expanded?.status ?? null,
            amount: expanded?.amount_received ?? null,
            currency: expanded?.currency ?? null,
            paidAt: charge ? Temporal.Instant.fromEpochMilliseconds(charge.created * 1000) : null,
            decline: expanded?.last_payment_error?.message ?? null,
          },
    buyer: { email: checkoutSession.customer_details?.email ?? null, shipTo: observeShipTo(checkoutSession) },
    termsAccepted: checkoutSession.consent?.terms_of_service === 'accepted',
    subscription: observeSubscription(checkoutSession),
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

function observeSubscription({
  subscription,
  customer,
}: Stripe.Checkout.Session): ObservedCheckoutSession['subscription'] {
  const subscriptionId = idOf(subscription)
  const customerId = idOf(customer)
  if (subscriptionId === null || customerId === null) return null
  const expanded = typeof subscription === 'string' ? null : subscription
  const startedAt = expanded ? Temporal.Instant.fromEpochMilliseconds(expanded.start_date * 1000) : null
  return { subscriptionId, customerId, status: expanded?.status ?? null, startedAt }
}
