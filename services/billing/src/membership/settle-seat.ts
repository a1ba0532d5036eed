import type { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { requestEnd } from './apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { memberships, payments } from '../schema.ts'

export async function recordSeat(tx: Transaction, { data }: EventOf<typeof memberSeated>): Promise<void> {
  await tx
    .update(memberships)
    .set({ seat: 'seated' })
    .where(and(eq(memberships.attemptId, data.attemptId), eq(memberships.seat, 'pending')))
}

/** The seat of a paid membership is gone: it ends, and all that was paid for it goes back, once. */
export async function handleSeatRejected(
  tx: Transaction,
  { data: { attemptId, reason } }: EventOf<typeof memberRejected>,
  context: BillingContext,
): Promise<void> {
  const [membership] = await tx
    .update(memberships)
    .set({ seat: 'gone', rejection: reason })
    .where(eq(memberships.attemptId, attemptId))
    .returning()
  if (!membership) throw new Error(`The membership ${attemptId}, whose seat is gone, is not known.`)
  await requestEnd(tx, context, attemptId, 'now')
  const paid = await tx
    .select()
    .from(payments)
    .where(and(eq(payments.membershipId, attemptId), eq(payments.outcome, 'accepted')))
    .for('update')
  for (const payment of paid) await enqueueRefund(tx, context, payment, 'seat_gone')
}
