import { paymentDisputed, type Dispute } from '@robokids/contracts/billing'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { desc, eq } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import { readPaymentBuyer } from './read-buyer.ts'
import { enqueueRefundAgain } from './enqueue-refund.ts'
import { disputeStage } from './rules.ts'
import { updateCredits } from './update-credits.ts'
import { disputes, orders, payments, type DisputeRow } from '../schema.ts'
import { callStripe, idOf } from '../stripe/client.ts'

/** A dispute as fetched from Stripe. */
export interface ObservedDispute {
  disputeId: string
  intentId: string | null
  amount: number
  currency: string
  reason: string
  status: string
  answerBy: Temporal.Instant | null
  openedAt: Temporal.Instant
}

const at = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
const awaitingResponse = ['needs_response', 'warning_needs_response']

function observeDispute(dispute: Stripe.Dispute): ObservedDispute {
  const due = dispute.evidence_details.due_by
  return {
    disputeId: dispute.id,
    intentId: idOf(dispute.payment_intent),
    amount: dispute.amount,
    currency: dispute.currency,
    reason: dispute.reason,
    status: dispute.status,
    answerBy: due !== null && awaitingResponse.includes(dispute.status) ? at(due) : null,
    openedAt: at(dispute.created),
  }
}

export async function fetchDispute(context: BillingContext, disputeId: string): Promise<ObservedDispute> {
  return observeDispute(await callStripe(context, (stripe) => stripe.disputes.retrieve(disputeId)))
}

/** Records the status of a dispute, and publishes each change once. */
export async function recordDispute(
  tx: Transaction,
  context: BillingContext,
  observed: ObservedDispute,
): Promise<void> {
  const { disputeId: id, intentId, amount, currency, reason, status, answerBy, openedAt } = observed
  const [payment] =
    intentId === null
      ? []
      : // Shipping locks this row as well, so that a disputed order is not shipped.
        await tx.select().from(payments).where(eq(payments.stripePaymentIntentId, intentId)).for('update')
  const facts = { paymentId: payment?.id ?? null, stripePaymentIntentId: intentId, amount, currency, reason, openedAt }
  const inserted = await tx
    .insert(disputes)
    .values({ id, ...facts, status, answerBy })
    .onConflictDoNothing()
    .returning({ id: disputes.id })
  if (inserted.length === 0) {
    const [known] = await tx.select().from(disputes).where(eq(disputes.id, id)).for('update')
    if (!known) return
    // Its payment may have been recorded since.
    if (known.paymentId === null && facts.paymentId !== null)
      await tx.update(disputes).set({ paymentId: facts.paymentId }).where(eq(disputes.id, id))
    if (known.status === status || disputeStage(status) < disputeStage(known.status)) return
    await tx.update(disputes).set({ status, answerBy, amount }).where(eq(disputes.id, id))
  }
  if (payment) await updateCredits(tx, payment)
  if (currency !== 'usd') return
  if (payment && status === 'won') await enqueueRefundAgain(tx, context, payment)
  await publish(tx, paymentDisputed, id, {
    ...presentDispute({ id, ...facts, status, answerBy }),
    paymentId: payment?.id ?? null,
    ...(payment ? await readPaymentBuyer(tx, payment) : unknownBuyer),
  })
}

const unknownBuyer = { registrationId: null, orderId: null, membershipId: null, email: null }

export function presentDispute(row: DisputeRow): Dispute {
  return {
    disputeId: row.id,
    amount: row.amount,
    currency: 'usd',
    reason: row.reason,
    status: row.status,
    answerBy: row.answerBy?.toString() ?? null,
    openedAt: row.openedAt.toString(),
  }
}

/** Returns all disputes in our currency, newest first. */
export async function readDisputes(db: Database) {
  const rows = await db
    .select({ dispute: disputes, payment: payments, orderId: orders.id })
    .from(disputes)
    .leftJoin(payments, eq(payments.id, disputes.paymentId))
    .leftJoin(orders, eq(orders.id, payments.purchaseId))
    .where(eq(disputes.currency, 'usd'))
    .orderBy(desc(disputes.openedAt), desc(disputes.id))
  return {
    disputes: rows.map(({ dispute, payment, orderId }) => ({
      ...presentDispute(dispute),
      registrationId: payment?.membershipId === null && orderId === null ? payment.purchaseId : null,
      orderId,
      membershipId: payment?.membershipId ?? null,
      receiptNumber: payment?.receiptNumber ?? null,
    })),
  }
}
