import type { Transaction } from '@robokids/runtime/db'
import { applyMembership } from '../membership/apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { fetchMembership, fetchWholeCheckoutSession } from '../stripe/subscriptions.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import { selectAttemptKind } from './select-attempt-kind.ts'
import { fetchDecline, recordDecline } from '../checkout/record-decline.ts'
import { fetchDispute, recordDispute } from '../refunds/record-dispute.ts'
import { ensurePaymentRecorded } from './ensure-payment-recorded.ts'
import { fetchRefund, fetchRefunds, recordRefund, type ObservedRefund } from '../refunds/record-refund.ts'
import { stripeEvents } from '../schema.ts'
import { findCheckoutSessionId, findActiveSubscriptions } from '../membership/find-subscriptions.ts'
import { callStripe, idOf, StripeFailure } from '../stripe/client.ts'

/** A webhook event reduced to its id, its type and the object's id: the handlers fetch the object. */
export interface StripeEvent {
  eventId: string
  type: string
  objectId: string
}

type Effect = (tx: Transaction) => Promise<void>
/** Fetches the object, outside of any transaction, and returns what to do about it. */
type EventHandler = (context: BillingContext, objectId: string) => Promise<Effect>

const checkoutSession: EventHandler = async (context, checkoutSessionId) => {
  const observed = await fetchWholeCheckoutSession(context, checkoutSessionId)
  return (tx) => selectAttemptKind(observed).apply(tx, context, observed)
}

const noEffect: Effect = async () => {}

/** A subscription's event can arrive before that of its checkout: then the checkout is applied, which starts the membership. */
const subscription: EventHandler = async (context, subscriptionId) => {
  const observed = await fetchMembership(context, subscriptionId)
  if (observed.version === null) {
    const checkoutSessionId = await findCheckoutSessionId(context, observed.attemptId)
    if (checkoutSessionId !== null) return checkoutSession(context, checkoutSessionId)
  }
  return async (tx) => {
    await applyMembership(tx, context, observed)
  }
}

const invoice: EventHandler = async (context, invoiceId) => {
  const { parent } = await callStripe(context, (stripe) => stripe.invoices.retrieve(invoiceId))
  const subscriptionId = idOf(parent?.subscription_details?.subscription)
  return subscriptionId === null ? noEffect : subscription(context, subscriptionId)
}

/** The default card may have changed. */
const customer: EventHandler = async (context, customerId) => {
  const subscriptionIds = await findActiveSubscriptions(context, customerId)
  const effects = await Promise.all(subscriptionIds.map((id) => subscription(context, id)))
  return async (tx) => {
    for (const effect of effects) await effect(tx)
  }
}

const dispute: EventHandler = async (context, disputeId) => {
  const observed = await fetchDispute(context, disputeId)
  if (observed.intentId !== null) await ensurePaymentRecorded(context, observed.intentId)
  return (tx) => recordDispute(tx, context, observed)
}

const decline: EventHandler = async (context, intentId) => {
  const observed = await fetchDecline(context, intentId)
  return async (tx) => {
    if (observed) await recordDecline(tx, context, observed)
  }
}

async function refundsEffect(context: BillingContext, observed: ObservedRefund[]): Promise<Effect> {
  const intents = new Set(observed.flatMap(({ intentId }) => (intentId === null ? [] : [intentId])))
  for (const intentId of intents) await ensurePaymentRecorded(context, intentId)
  return async (tx) => {
    for (const one of observed) await recordRefund(tx, context, one)
  }
}

const refund: EventHandler = async (context, refundId) => refundsEffect(context, [await fetchRefund(context, refundId)])
const refundsOfCharge: EventHandler = async (context, charge) =>
  refundsEffect(context, await fetchRefunds(context, { charge }))

const handlers = new Map<string, EventHandler>(
  Object.entries({
    'checkout.session.completed': checkoutSession,
    'checkout.session.async_payment_succeeded': checkoutSession,
    'checkout.session.async_payment_failed': checkoutSession,
    'checkout.session.expired': checkoutSession,
    'payment_intent.payment_failed': decline,
    'customer.subscription.created': subscription,
    'customer.subscription.updated': subscription,
    'customer.subscription.deleted': subscription,
    'customer.updated': customer,
    'invoice.paid': invoice,
    'invoice.payment_failed': invoice,
    'charge.dispute.created': dispute,
    'charge.dispute.updated': dispute,
    'charge.dispute.closed': dispute,
    'refund.created': refund,
    'refund.updated': refund,
    'refund.failed': refund,
    'charge.refund.updated': refund,
    'charge.refunded': refundsOfCharge,
  }),
)

/** The handled types of Stripe's events: at most 20, the limit of a list request. */
export const handledEventTypes = [...handlers.keys()]

/**
 * Handles a Stripe event once: the event's row is inserted in the transaction of its effect, so a failed event can be sent
 * again. The order of events does not matter, since each only triggers a fetch.
 */
export function handleStripeEvent(
  context: BillingContext,
  event: StripeEvent,
): Promise<'handled' | 'seen' | 'ignored'> {
  return retryOnStale(() => handleOnce(context, event))
}

async function handleOnce(context: BillingContext, event: StripeEvent): Promise<'handled' | 'seen' | 'ignored'> {
  const { db, log } = context
  const handler = handlers.get(event.type)
  if (!handler) return 'ignored'
  let effect: Effect
  try {
    effect = await handler(context, event.objectId)
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.missing) throw error
    log.warn({ ...event }, 'ignored an event whose object Stripe does not have')
    return 'ignored'
  }
  return db.transaction(async (tx) => {
    const { eventId, type, objectId } = event
    const marked = await tx
      .insert(stripeEvents)
      .values({ id: eventId, type, objectId, handledAt: Temporal.Now.instant() })
      .onConflictDoNothing()
      .returning()
    if (marked.length === 0) return 'seen'
    await effect(tx)
    return 'handled'
  })
}
