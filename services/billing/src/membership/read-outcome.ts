import type { MembershipOutcome } from '@robokids/contracts/billing'
import type { Database } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { eq } from 'drizzle-orm'
import { membershipAttempts, memberships, payments, type Membership } from '../schema.ts'
import { refunded } from './read-memberships.ts'

/** @throws DomainError checkout_not_found */
export async function readOutcome(db: Database, attemptId: string): Promise<MembershipOutcome> {
  const [row] = await db
    .select({ attempt: membershipAttempts, membership: memberships })
    .from(membershipAttempts)
    .leftJoin(memberships, eq(memberships.attemptId, membershipAttempts.id))
    .where(eq(membershipAttempts.id, attemptId))
  if (!row) throw new DomainError('checkout_not_found', 'There is no membership with this reference.')
  const { attempt, membership } = row
  const paid = membership
    ? await db
        .select({ receiptNumber: payments.receiptNumber, refunded })
        .from(payments)
        .where(eq(payments.membershipId, attemptId))
        .orderBy(payments.paidAt, payments.receiptNumber)
    : []
  const status = toOutcomeStatus(attempt.status, membership)
  return {
    attemptId,
    status,
    refusal: status === 'refused' && membership ? toRefusal(membership) : null,
    checkoutUrl: attempt.status === 'open' ? attempt.checkoutUrl : null,
    expiresAt: attempt.expiresAt.toString(),
    plan: attempt.plan,
    classDate: attempt.classDate,
    amount: attempt.amount,
    currency: attempt.currency,
    receiptNumber: paid[0]?.receiptNumber ?? null,
    refunded: paid.reduce((sum, payment) => sum + payment.refunded, 0),
  }
}

function toOutcomeStatus(
  attempt: (typeof membershipAttempts.$inferSelect)['status'],
  membership: Membership | null,
): MembershipOutcome['status'] {
  if (membership) {
    if (membership.status === 'duplicate' || membership.status === 'mismatch' || membership.seat === 'gone')
      return 'refused'
    // One that ended before it was seated will never be.
    return membership.seat === 'seated' || membership.status === 'ended' ? 'confirmed' : 'processing'
  }
  if (attempt === 'expired' || attempt === 'failed') return attempt
  return attempt === 'open' || attempt === 'creating' ? 'open' : 'processing'
}

function toRefusal({ status, rejection }: Membership): MembershipOutcome['refusal'] {
  if (status === 'duplicate') return 'duplicate'
  return status === 'mismatch' ? 'amount_mismatch' : rejection
}
