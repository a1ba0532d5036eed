import type { Transaction } from '@robokids/runtime/db'
import { applyMembership } from '../membership/apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { fetchMembership, fetchWholeSession } from '../stripe/subscriptions.ts'
import { retryOnStale } from '../stripe/retry-on-stale.ts'
import { kindOf } from './session-kind.ts'
import { fetchDecline, recordDecline } from '../checkout/record-decline.ts'
import { fetchDispute, recordDispute } from '../refunds/record-dispute.ts'
import { learnPayment } from './ensure-payment-recorded.ts'
import { fetchRefund, fetchRefundsOf, recordRefund, type ObservedRefund } from '../refunds/record-refund.ts'
import { stripeEvents } from '../schema.ts'
import { sessionOfAttempt, subscriptionsOf } from '../membership/find-subscriptions.ts'
import { ask, idOf, StripeFailure } from '../stripe/client.ts'

/** What every kind of the provider's events comes down to: something happened to this object; look at it. */
export interface Notice {
  eventId: string
  type: string
  objectId: string
}

type Effect = (tx: Transaction) => Promise<void>
/** Looks at the object, outside of any transaction, and says what to do about it. */
type Look = (context: BillingContext, objectId: string) => Promise<Effect>

const session: Look = async (context, sessionId) => {
  const observed = await fetchWholeSession(context, sessionId)
  return (tx) => kindOf(observed).apply(tx, context, observed)
}

const nothing: Effect = async () => {}

/** A subscription can be heard of before the checkout that began it: then that is looked at, which begins it here. */
const subscription: Look = async (context, subscriptionId) => {
  const observed = await fetchMembership(context, subscriptionId)
  if (observed.version === null) {
    const sessionId = await sessionOfAttempt(context, observed.attemptId)
    if (sessionId !== null) return session(context, sessionId)
  }
  return async (tx) => {
    await applyMembership(tx, context, observed)
  }
}

const invoice: Look = async (context, invoiceId) => {
  const { parent } = await ask(context, (stripe) => stripe.invoices.retrieve(invoiceId))
  const subscriptionId = idOf(parent?.subscription_details?.subscription)
  return subscriptionId === null ? nothing : subscription(context, subscriptionId)
}

/** Another card may have been chosen. */
const customer: Look = async (context, customerId) => {
  const subscriptionIds = await subscriptionsOf(context, customerId)
  const effects = await Promise.all(subscriptionIds.map((id) => subscription(context, id)))
  return async (tx) => {
    for (const effect of effects) await effect(tx)
  }
}

const dispute: Look = async (context, disputeId) => {
  const observed = await fetchDispute(context, disputeId)
  if (observed.intentId !== null) await learnPayment(context, observed.intentId)
  return (tx) => recordDispute(tx, context, observed)
}

const decline: Look = async (context, intentId) => {
  const observed = await fetchDecline(context, intentId)
  return async (tx) => {
    if (observed) await recordDecline(tx, context, observed)
  }
}

async function refundsEffect(context: BillingContext, observed: ObservedRefund[]): Promise<Effect> {
  const intents = new Set(observed.flatMap(({ intentId }) => (intentId === null ? [] : [intentId])))
  for (const intentId of intents) await learnPayment(context, intentId)
  return async (tx) => {
    for (const one of observed) await recordRefund(tx, context, one)
  }
}

const refund: Look = async (context, refundId) => refundsEffect(context, [await fetchRefund(context, refundId)])
const refundsOfCharge: Look = async (context, charge) =>
  refundsEffect(context, await fetchRefundsOf(context, { charge }))

const looks = new Map<string, Look>(
  Object.entries({
    'checkout.session.completed': session,
    'checkout.session.async_payment_succeeded': session,
    'checkout.session.async_payment_failed': session,
    'checkout.session.expired': session,
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

/** The types of the provider's events that mean something to us: 20 at most, since no more can be listed at once. */
export const noticeTypes = [...looks.keys()]

/**
 * Lets an event of the provider take effect, once: the mark that it has is written in the same transaction, so an event
 * whose handling failed can be sent again. The order of events does not matter, since each is only a reason to look.
 */
export function handleNotice(context: BillingContext, notice: Notice): Promise<'handled' | 'seen' | 'ignored'> {
  return retryOnStale(() => handleOnce(context, notice))
}

async function handleOnce(context: BillingContext, notice: Notice): Promise<'handled' | 'seen' | 'ignored'> {
  const { db, log } = context
  const look = looks.get(notice.type)
  if (!look) return 'ignored'
  let effect: Effect
  try {
    effect = await look(context, notice.objectId)
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.missing) throw error
    log.warn({ ...notice }, 'an event is about something that the provider does not have')
    return 'ignored'
  }
  return db.transaction(async (tx) => {
    const { eventId, type, objectId } = notice
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
