import type { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { userDeleted, userUpdated } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq, isNull, lt, or } from 'drizzle-orm'
import { activeMembership, lockMember } from './lock-member.ts'
import { requestEnd } from './apply-membership.ts'
import type { BillingContext } from './config.ts'
import { oweRefund } from './owe-refund.ts'
import { memberships, payments } from './schema.ts'

export async function noteSeat(tx: Transaction, { data }: EventOf<typeof memberSeated>): Promise<void> {
  await tx
    .update(memberships)
    .set({ seat: 'seated' })
    .where(and(eq(memberships.attemptId, data.attemptId), eq(memberships.seat, 'pending')))
}

/** The seat of a paid membership is gone: it ends, and all that was paid for it goes back, once. */
export async function turnAway(
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
  for (const payment of paid) await oweRefund(tx, context, payment, 'seat_gone')
}

/**
 * A membership goes with its account to another address once that is verified, where it has none. Of two changes the
 * later one counts, whichever is heard of first.
 */
export async function followAddress(tx: Transaction, { time, data }: EventOf<typeof userUpdated>): Promise<void> {
  const { userId, email, emailVerified } = data
  const isNews = data.changed.includes('email') || data.changed.includes('email_verified')
  if (email === null || !emailVerified || !isNews) return
  const key = emailKey(email)
  await lockMember(tx, key)
  const other = await activeMembership(tx, key)
  if (other && other.userId !== userId) return
  const emailAt = Temporal.Instant.from(time)
  await tx
    .update(memberships)
    .set({ email, emailKey: key, emailAt })
    .where(and(eq(memberships.userId, userId), or(isNull(memberships.emailAt), lt(memberships.emailAt, emailAt))))
}

/**
 * Nobody can sign in any more to cancel it: it is not renewed. What is paid stays with the address, for the next account
 * that proves to have it.
 */
export async function endOfDeleted(
  tx: Transaction,
  { data }: EventOf<typeof userDeleted>,
  context: BillingContext,
): Promise<void> {
  const ofAccount = await tx
    .select()
    .from(memberships)
    .where(and(eq(memberships.status, 'active'), eq(memberships.userId, data.userId)))
  for (const { attemptId } of ofAccount) await requestEnd(tx, context, attemptId, 'at_period_end')
  await tx.update(memberships).set({ userId: null }).where(eq(memberships.userId, data.userId))
}
