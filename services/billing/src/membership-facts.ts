import type { MembershipFacts } from '@robokids/contracts/membership'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { membershipAttempts, memberships, type Membership, type RefundRow } from './schema.ts'

/** The facts of a membership in events. */
export function toMembershipFacts(membership: Membership): MembershipFacts {
  const { attemptId, email, plan, amount, currency, userId: ownerId, accountEndedAt } = membership
  const accountDeleted = ownerId === null && accountEndedAt !== null
  return { attemptId, email, plan, amount, currency, ownerId, ...(accountDeleted ? { accountDeleted } : {}) }
}

/** Returns the event data of a refund of a membership's payment. */
export async function readMembershipRefundFacts(tx: Transaction, membershipId: string, refund: RefundRow) {
  const [row] = await tx
    .select({ membership: memberships, classDate: membershipAttempts.classDate })
    .from(memberships)
    .innerJoin(membershipAttempts, eq(membershipAttempts.id, memberships.attemptId))
    .where(eq(memberships.attemptId, membershipId))
  if (!row) throw new Error(`The membership ${membershipId} was not found.`)
  return {
    ...toMembershipFacts(row.membership),
    classDate: row.classDate,
    refundId: refund.id,
    paymentId: refund.paymentId,
    refunded: refund.amount,
    reason: refund.reason,
    ...(row.membership.rejection === null ? {} : { rejection: row.membership.rejection }),
  }
}
