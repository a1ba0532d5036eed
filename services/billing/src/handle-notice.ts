import type { Transaction } from '@robokids/runtime/db'
import type { BillingContext } from './config.ts'
import { applySession } from './fulfil-session.ts'
import { fetchDecline, recordDecline } from './record-decline.ts'
import { fetchRefund, fetchRefundsOf, learnPayment, recordRefund, type ObservedRefund } from './record-refund.ts'
import { stripeEvents } from './schema.ts'
import { fetchSession, StripeFailure } from './stripe.ts'

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
  const observed = await fetchSession(context, sessionId)
  return (tx) => applySession(tx, context, observed)
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
    'refund.created': refund,
    'refund.updated': refund,
    'refund.failed': refund,
    'charge.refund.updated': refund,
    'charge.refunded': refundsOfCharge,
  }),
)

/** The types of the provider's events that mean something to us. */
export const noticeTypes = [...looks.keys()]

/**
 * Lets an event of the provider take effect, once: the mark that it has is written in the same transaction, so an event
 * whose handling failed can be sent again. The order of events does not matter, since each is only a reason to look.
 */
export async function handleNotice(context: BillingContext, notice: Notice): Promise<'handled' | 'seen' | 'ignored'> {
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
