import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { and, asc, eq, isNull, lte, min } from 'drizzle-orm'
import { readPaymentBuyer } from './read-buyer.ts'
import type { BillingContext } from '../config.ts'
import { enqueueRefundAgain } from './enqueue-refund.ts'
import { fetchRefunds, observeRefund, recordRefund, publishRefundFailed, type ObservedRefund } from './record-refund.ts'
import { refundable } from './rules.ts'
import { updateCredits } from './update-credits.ts'
import { publishRefundDeclined } from './write-refund.ts'
import { payments, refunds, type Payment, type RefundRow } from '../schema.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { nextAttempt, tryEach } from '../try-each.ts'

/** Not yet made at Stripe. */
const isWaiting = and(eq(refunds.status, 'pending'), isNull(refunds.stripeRefundId))

/** Makes the waiting refunds at Stripe. A failed one is retried with backoff. */
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
      log.warn({ err: error, refundId: id }, 'a refund will be retried')
    },
  )
}

/** When the next refund is to be made. */
export async function nextRefund({ db }: BillingContext): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(refunds.nextTryAt) })
    .from(refunds)
    .where(isWaiting)
  return next?.at ?? null
}

/** Makes a waiting refund at Stripe, once, and records it. */
export async function runRefund(context: BillingContext, refundId: string): Promise<void> {
  const [row] = await context.db
    .select({ refund: refunds, payment: payments })
    .from(refunds)
    .innerJoin(payments, eq(refunds.paymentId, payments.id))
    .where(eq(refunds.id, refundId))
  if (!row) return
  const { refund, payment } = row
  // Counted before the call: if this process crashes, the next attempt knows that there was one.
  const counted = await context.db
    .update(refunds)
    .set(nextAttempt(context, refund))
    .where(and(eq(refunds.id, refundId), eq(refunds.tries, refund.tries), isWaiting))
    .returning({ id: refunds.id })
  if (counted.length === 0) return
  const { stripePaymentIntentId: intentId } = payment
  let refundAtStripe: ObservedRefund
  try {
    refundAtStripe =
      (await findExistingRefund(context, refund, intentId)) ?? (await createRefund(context, refund, payment))
  } catch (error) {
    await postpone(context, refund, payment, error)
    throw error
  }
  await context.db.transaction((tx) => recordRefund(tx, context, refundAtStripe))
}

/** After an attempt of unknown outcome: Stripe keeps idempotency keys for a day only, so the refund is looked up first. */
async function findExistingRefund(
  context: BillingContext,
  refund: RefundRow,
  intentId: string,
): Promise<ObservedRefund | undefined> {
  if (refund.tries === 0) return undefined
  const listed = await callStripe(context, (stripe) => stripe.refunds.list({ payment_intent: intentId, limit: 100 }))
  return listed.data.map(observeRefund).find((one) => one.refundId === refund.id)
}

async function createRefund(context: BillingContext, refund: RefundRow, payment: Payment): Promise<ObservedRefund> {
  const { stripePaymentIntentId: intentId } = payment
  const idempotencyKey = refund.keyGeneration === 0 ? refund.id : `${refund.id}.${refund.keyGeneration}`
  const reason = refund.reason === 'duplicate' ? 'duplicate' : 'requested_by_customer'
  // The parameters under one key never differ: all of these are fixed since the payment.
  const { registrationId, orderId, membershipId } = await readPaymentBuyer(context.db, payment)
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
    context.log.error({ err: error, refundId: refund.id, reason: refund.reason }, 'Stripe declined a refund')
    // Mostly because the money was refunded in the dashboard: that is recorded first.
    const found = await fetchRefunds(context, { payment_intent: intentId })
    await context.db.transaction(async (tx) => {
      for (const one of found) await recordRefund(tx, context, one)
      await markDeclined(tx, context, payment, refund.id, error.stripeCode === 'charge_disputed')
    })
    return
  }
  // Stripe would replay a saved server error under its key for a day. The next attempt looks the refund up first.
  const keyGeneration = refund.keyGeneration + (error instanceof StripeFailure && error.replayed ? 1 : 0)
  await context.db
    .update(refunds)
    .set({ ...nextAttempt(context, refund), keyGeneration })
    .where(stillWaiting)
  // A request has tried it: the job may sleep longer than until the next attempt.
  await wakeJob(context.db, 'run-refunds')
}

/** Stripe will never make it. If that is because a part was refunded already, an automatic refund of the rest is enqueued. */
async function markDeclined(
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
  await updateCredits(tx, payment)
  const all = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const left = refundable(payment.amount, all)
  if (!isDisputed && declined.reason !== 'requested' && left > 0 && left < declined.amount) {
    await publishRefundDeclined(tx, payment, declined, { retried: true })
    return enqueueRefundAgain(tx, context, payment)
  }
  await publishRefundFailed(tx, payment, declined, all, isDisputed)
}
