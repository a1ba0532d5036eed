import { createHash } from 'node:crypto'
import type { ChangeTerms, moveRefused } from '@robokids/contracts/changes'
import type { registrationCancelled } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { asc, eq, inArray } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { payments, refunds } from '../schema.ts'
import { enqueueRefund } from './enqueue-refund.ts'
import { refundable } from './rules.ts'
import { writeRefund } from './write-refund.ts'

interface ChangeFacts {
  changeId: string
  terms: Pick<ChangeTerms, 'back'>
  paymentIds: string[]
}

/** Returns the id of the refund of a payment for a reason, so that each is made once, however often its event is delivered. */
function refundIdOf(reason: string, paymentId: string): string {
  const hash = createHash('sha256').update(`${reason}:${paymentId}`).digest('hex')
  // A UUID of version 8: of one's own making.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/**
 * Requests the refunds of a family's cancellation or move, from the payments that the event names, one after the other, until
 * all is back that it says; never more than is left of what was paid.
 */
export async function refundChange(
  tx: Transaction,
  { data: { changeId, terms, paymentIds } }: { data: ChangeFacts },
  context: BillingContext,
): Promise<void> {
  if (terms.back === 0) return
  // Locked always in the same order, to avoid deadlocks.
  const locked = await tx
    .select()
    .from(payments)
    .where(inArray(payments.id, paymentIds))
    .orderBy(asc(payments.id))
    .for('update')
  let left = terms.back
  for (const paymentId of paymentIds) {
    const payment = locked.find(({ id }) => id === paymentId)
    if (!payment) throw new Error(`The payment ${paymentId} of a changed registration was not found.`)
    const id = refundIdOf(`change:${changeId}`, paymentId)
    const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, paymentId))
    const amount = Math.min(left, refundable(payment.amount, earlier))
    if (amount <= 0 || earlier.some((one) => one.id === id)) continue
    await writeRefund(tx, context, payment, { id, amount, reason: 'requested', changeId })
    left -= amount
  }
  if (left > 0) context.log.error({ changeId, left }, 'less is left of the payments than a change gives back')
  await wakeJob(tx, 'run-refunds')
}

/** Refunds what was paid for a move whose seats were gone by then. */
export async function refundMove(
  tx: Transaction,
  { data: { changeId, paymentId } }: EventOf<typeof moveRefused>,
  context: BillingContext,
): Promise<void> {
  const [payment] = await tx.select().from(payments).where(eq(payments.id, paymentId)).for('update')
  if (!payment) throw new Error(`The payment ${paymentId} of a refused move was not found.`)
  await enqueueRefund(tx, context, payment, 'seat_gone', changeId)
}

/**
 * Refunds what was paid for the moves of a registration that ended because its own payment was refunded: its children have no seats
 * any more for which that was paid.
 */
export async function refundMovesOf(
  tx: Transaction,
  { registrationId, movePaymentIds = [] }: EventOf<typeof registrationCancelled>['data'],
  context: BillingContext,
): Promise<void> {
  if (movePaymentIds.length === 0) return
  const paid = await tx
    .select()
    .from(payments)
    .where(inArray(payments.id, movePaymentIds))
    .orderBy(asc(payments.id))
    .for('update')
  for (const payment of paid) {
    const id = refundIdOf(`ended:${registrationId}`, payment.id)
    const amount = refundable(payment.amount, await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id)))
    if (amount > 0) await writeRefund(tx, context, payment, { id, amount, reason: 'requested' })
  }
  await wakeJob(tx, 'run-refunds')
}
