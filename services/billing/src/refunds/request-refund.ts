import type { CreateRefund, Refund } from '@robokids/contracts/billing'
import type { registrationRejected } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { presentRefund } from './read-refunds.ts'
import { enqueueRefund } from './enqueue-refund.ts'
import { decideRefund } from './rules.ts'
import { runRefund } from './run-refunds.ts'
import { payments, refunds } from '../schema.ts'
import { writeRefund } from './write-refund.ts'

/**
 * Refunds a payment, or a part of it, for an administrator: selected by its registration or order, by a membership with a
 * single payment, by its receipt number, or, also if it was not accepted, by its id.
 * @throws DomainError payment_not_found, refund_not_possible, id_reused
 */
export async function requestRefund(context: BillingContext, request: CreateRefund): Promise<Refund> {
  const { refundId, registrationId, receiptNumber, paymentId } = request
  await context.db.transaction((tx) => insertRefund(tx, context, request))
  // The job would make it; running it now lets the administrator see the result.
  await runRefund(context, refundId).catch((error: unknown) =>
    context.log.warn({ err: error, refundId }, 'a refund will be retried'),
  )
  const [row] = await context.db.select().from(refunds).where(eq(refunds.id, refundId))
  if (!row) throw new Error('The refund was not found.')
  if (row.status === 'failed') {
    context.log.error({ refundId, registrationId, receiptNumber, paymentId }, 'a refund was declined')
    throw new DomainError(
      'refund_not_possible',
      'The payment provider declined this refund. Check the payment in its dashboard.',
    )
  }
  return presentRefund(row)
}

/** Matches the payments that a request selects, with the message if there are none. */
function selectPayments({ registrationId, receiptNumber, paymentId }: CreateRefund) {
  if (paymentId !== undefined) return { of: eq(payments.id, paymentId), missing: 'There is no such payment.' }
  const of =
    receiptNumber === undefined
      ? eq(payments.purchaseId, registrationId ?? '')
      : eq(payments.receiptNumber, receiptNumber)
  return { of: and(eq(payments.outcome, 'accepted'), of), missing: 'Nothing was paid for this registration.' }
}

async function insertRefund(tx: Transaction, context: BillingContext, request: CreateRefund): Promise<void> {
  const { refundId, amount } = request
  const { of, missing } = selectPayments(request)
  const paid = await tx
    .select()
    .from(payments)
    .where(of)
    .orderBy(asc(payments.paidAt), asc(payments.receiptNumber))
    .for('update')
  const [known] = await tx.select().from(refunds).where(eq(refunds.id, refundId))
  if (known) {
    const same = paid.some(({ id }) => id === known.paymentId) && (amount === undefined || amount === known.amount)
    if (!same) throw idReused()
    return
  }
  const [payment, ...others] = paid
  if (!payment) throw new DomainError('payment_not_found', missing)
  if (others.length > 0) {
    const receipts = paid.map(({ receiptNumber, amount, paidAt }) => {
      const money = formatMoney({ amount, currency: 'usd' })
      return `${receiptNumber} (${money} on ${schoolDate(paidAt.toString())})`
    })
    throw new DomainError(
      'refund_not_possible',
      `This membership has several payments. Name one by its receipt: ${receipts.join(', ')}.`,
    )
  }
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const decided = decideRefund({ amount: payment.amount, currency: 'usd' }, earlier, amount)
  const written = await writeRefund(tx, context, payment, { id: refundId, amount: decided, reason: 'requested' })
  if (!written) throw idReused()
}

function idReused(): DomainError {
  return new DomainError('id_reused', 'This refundId belongs to another refund.')
}

/**
 * Refunds the rest of the payment of a rejected registration, because its seat is gone or it is a duplicate. Idempotent.
 */
export async function refundRejected(
  tx: Transaction,
  { data: { payment: rejected, duplicateOf } }: EventOf<typeof registrationRejected>,
  context: BillingContext,
): Promise<void> {
  const { paymentId } = rejected
  const [payment] = await tx.select().from(payments).where(eq(payments.id, paymentId)).for('update')
  if (!payment) throw new Error(`The payment ${paymentId} of a rejected registration was not found.`)
  await enqueueRefund(tx, context, payment, duplicateOf ? 'duplicate' : 'seat_gone')
}
