import type { Transaction } from '@robokids/runtime/db'
import { and, asc, eq, isNull, lte } from 'drizzle-orm'
import { buyerOfPayment } from './buyer-of-payment.ts'
import type { BillingContext } from '../config.ts'
import { enqueueRefundAgain } from './enqueue-refund.ts'
import {
  fetchRefundsOf,
  observeRefund,
  recordRefund,
  publishRefundFailed,
  type ObservedRefund,
} from './record-refund.ts'
import { refundable } from './rules.ts'
import { publishRefundDeclined } from './write-refund.ts'
import { payments, refunds, type Payment, type RefundRow } from '../schema.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { nextTry, tryEach } from '../try-each.ts'

/** For the provider to make it. */
const isWaiting = and(eq(refunds.status, 'pending'), isNull(refunds.stripeRefundId))

/** Has the provider make the refunds that wait for it. A failure with one is tried again, later and later. */
export async function runRefunds(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const due = await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isWaiting, lte(refunds.nextTryAt, clock.now())))
    .orderBy(asc(refunds.tries), asc(refunds.nextTryAt))
    .limit(100)
  await tryEach(
    signal,
    due,
    ({ id }) => runRefund(context, id),
    async ({ id }, error) => {
      log.warn({ err: error, refundId: id }, 'a refund will be tried again')
    },
  )
}

/** Has the provider make a refund, once, and records it; does nothing for one that it has already. */
export async function runRefund(context: BillingContext, refundId: string): Promise<void> {
  const [row] = await context.db
    .select({ refund: refunds, payment: payments })
    .from(refunds)
    .innerJoin(payments, eq(refunds.paymentId, payments.id))
    .where(eq(refunds.id, refundId))
  if (!row) return
  const { refund, payment } = row
  // Counted before it is asked for: whatever becomes of this process, the next try knows that there was one.
  const counted = await context.db
    .update(refunds)
    .set(nextTry(context, refund))
    .where(and(eq(refunds.id, refundId), eq(refunds.tries, refund.tries), isWaiting))
    .returning({ id: refunds.id })
  if (counted.length === 0) return
  const { stripePaymentIntentId: intentId } = payment
  let made: ObservedRefund
  try {
    made = (await findMade(context, refund, intentId)) ?? (await make(context, refund, payment))
  } catch (error) {
    await postpone(context, refund, payment, error)
    throw error
  }
  await context.db.transaction((tx) => recordRefund(tx, context, made))
}

/** After a try whose outcome is not known, and past the day for which a key is kept, only a look can tell. */
async function findMade(
  context: BillingContext,
  refund: RefundRow,
  intentId: string,
): Promise<ObservedRefund | undefined> {
  if (refund.tries === 0) return undefined
  const listed = await callStripe(context, (stripe) => stripe.refunds.list({ payment_intent: intentId, limit: 100 }))
  return listed.data.map(observeRefund).find((one) => one.refundId === refund.id)
}

async function make(context: BillingContext, refund: RefundRow, payment: Payment): Promise<ObservedRefund> {
  const { stripePaymentIntentId: intentId } = payment
  const idempotencyKey = refund.keyGeneration === 0 ? refund.id : `${refund.id}.${refund.keyGeneration}`
  const reason = refund.reason === 'duplicate' ? 'duplicate' : 'requested_by_customer'
  // What is asked for under one key never differs: all of this is as old as the payment.
  const { registrationId, orderId, membershipId } = await buyerOfPayment(context.db, payment)
  const of = registrationId ? { registrationId } : orderId ? { orderId } : { membershipId: membershipId ?? '' }
  const metadata = { refundId: refund.id, ...of }
  return observeRefund(
    await callStripe(context, (stripe) =>
      stripe.refunds.create({ payment_intent: intentId, amount: refund.amount, reason, metadata }, { idempotencyKey }),
    ),
  )
}

async function postpone(context: BillingContext, refund: RefundRow, payment: Payment, error: unknown): Promise<void> {
  const { stripePaymentIntentId: intentId } = payment
  const stillWaiting = and(eq(refunds.id, refund.id), isWaiting)
  if (error instanceof StripeFailure && error.refused) {
    context.log.error({ err: error, refundId: refund.id, reason: refund.reason }, 'the provider refused a refund')
    // Mostly because somebody else has given the money back: then that is what is to be known first.
    const found = await fetchRefundsOf(context, { payment_intent: intentId })
    await context.db.transaction(async (tx) => {
      for (const one of found) await recordRefund(tx, context, one)
      await decline(tx, context, payment, refund.id, error.stripeCode === 'charge_disputed')
    })
    return
  }
  // A saved server error would be repeated under its key for a day. The next try looks for the refund first.
  const keyGeneration = refund.keyGeneration + (error instanceof StripeFailure && error.replayed ? 1 : 0)
  await context.db
    .update(refunds)
    .set({ ...nextTry(context, refund), keyGeneration })
    .where(stillWaiting)
}

/** The provider will never make it. Where that is because a part has gone back already, what is left is owed by itself. */
async function decline(
  tx: Transaction,
  context: BillingContext,
  payment: Payment,
  refundId: string,
  isDisputed: boolean,
): Promise<void> {
  await tx.select({ id: payments.id }).from(payments).where(eq(payments.id, payment.id)).for('update')
  const [declined] = await tx
    .update(refunds)
    .set({ status: 'failed' })
    .where(and(eq(refunds.id, refundId), isWaiting))
    .returning()
  if (!declined) return
  const all = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const left = refundable(payment.amount, all)
  if (!isDisputed && declined.reason !== 'requested' && left > 0 && left < declined.amount) {
    await publishRefundDeclined(tx, payment, declined, { retried: true })
    return enqueueRefundAgain(tx, context, payment)
  }
  await publishRefundFailed(tx, payment, declined, all, isDisputed)
}
