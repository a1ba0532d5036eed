import type { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { requestMembershipEnd } from '../ownership/request-membership-end.ts'
import type { BillingContext } from '../config.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { memberships, payments } from '../schema.ts'

export async function recordSeat(tx: Transaction, { data }: EventOf<typeof memberSeated>): Promise<void> {
  await tx
    .update(memberships)
    .set({ seat: 'seated' })
    .where(and(eq(memberships.attemptId, data.attemptId), eq(memberships.seat, 'pending')))
}

/** Ends a paid membership whose seat was rejected, and refunds all its payments. Idempotent. */
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
  if (!membership) throw new Error(`The membership ${attemptId}, whose seat was rejected, was not found.`)
  await requestMembershipEnd(tx, context, attemptId, 'now')
  const paid = await tx
    .select()
    .from(payments)
    .where(and(eq(payments.membershipId, attemptId), eq(payments.outcome, 'accepted')))
    .for('update')
  for (const payment of paid) await enqueueRefund(tx, context, payment, 'seat_gone')
}
