import type { FindMembership, Membership as MembershipView } from '@robokids/contracts/billing'
import type { Database } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, desc, eq, exists, inArray, isNull, min, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { recordAccount } from '../ownership/owners.ts'
import { paymentState, refundable } from '../refunds/rules.ts'
import {
  disputes,
  membershipAttempts,
  membershipCredits,
  membershipInvoices,
  memberships,
  payments,
  refunds,
  type Membership,
} from '../schema.ts'

/** Cents of a payment that are refunded or being refunded. */
export const refunded = sql`(
  select coalesce(sum(back.amount), 0) from ${refunds} as back
  where back.payment_id = ${payments}.id and back.status in ('pending', 'succeeded'))`.mapWith(Number)

/**
 * Returns the membership of an account: the running one that it has owned for the longest, or else the latest ended one; and
 * any other running ones, which it gained with an address.
 */
export async function findMemberships(
  context: BillingContext,
  account: FindMembership,
): Promise<{ membership: Membership | undefined; others: Membership[] }> {
  return context.db.transaction(async (tx) => {
    const { userId, email } = account
    if (email !== null) await recordAccount(tx, context, { userId, email })
    const all = await tx
      .select()
      .from(memberships)
      .where(and(inArray(memberships.status, ['active', 'ended']), eq(memberships.userId, userId)))
      .orderBy(asc(memberships.ownedAt), asc(memberships.activatedAt), asc(memberships.attemptId))
    const [membership, ...others] = all.filter(({ status }) => status === 'active')
    const last = all.toSorted((a, b) => Temporal.Instant.compare(a.activatedAt, b.activatedAt)).at(-1)
    return { membership: membership ?? last, others }
  })
}

/** Cents of the payment for the current period that are neither refunded nor disputed. */
export async function retainedOfLastPayment(db: Database, membershipId: string): Promise<number> {
  const [last] = await db
    .select({ payment: payments })
    .from(membershipInvoices)
    .innerJoin(payments, eq(payments.id, membershipInvoices.paymentId))
    .where(eq(membershipInvoices.membershipId, membershipId))
    .orderBy(desc(membershipInvoices.periodEnd), desc(payments.paidAt))
    .limit(1)
  if (!last) return 0
  const { payment } = last
  const [given, taken] = await Promise.all([
    db.select().from(refunds).where(eq(refunds.paymentId, payment.id)),
    db.select().from(disputes).where(eq(disputes.paymentId, payment.id)),
  ])
  const isRetained = ['paid', 'won'].includes(paymentState(payment, given, taken))
  return isRetained ? refundable(payment.amount, given) : 0
}

/** @throws DomainError membership_not_found */
export async function readMembership(db: Database, membershipId: string): Promise<Membership> {
  const [membership] = await db.select().from(memberships).where(eq(memberships.attemptId, membershipId))
  if (!membership) throw new DomainError('membership_not_found', 'There is no such membership.')
  return membership
}

/** A membership as shown to its member. */
export async function presentMembership(db: Database, membership: Membership): Promise<MembershipView> {
  const {
    attemptId: membershipId,
    plan,
    amount,
    currency,
    activatedAt,
    cancelAt,
    endedAt,
    nextPlan,
    unpaid,
  } = membership
  const ofPayment = db.select().from(disputes).where(eq(disputes.paymentId, payments.id))
  const ofMembership = eq(membershipCredits.membershipId, membershipId)
  const [[attempt], [next], rows] = await Promise.all([
    db
      .select({ classDate: membershipAttempts.classDate })
      .from(membershipAttempts)
      .where(eq(membershipAttempts.id, membershipId)),
    db
      .select({ at: min(membershipCredits.dueAt) })
      .from(membershipCredits)
      .where(and(ofMembership, isNull(membershipCredits.givenAt))),
    db
      .select({
        invoice: membershipInvoices,
        payment: payments,
        refunded,
        disputed: exists(ofPayment).mapWith(Boolean),
      })
      .from(membershipInvoices)
      .innerJoin(payments, eq(payments.id, membershipInvoices.paymentId))
      .where(eq(membershipInvoices.membershipId, membershipId))
      .orderBy(desc(payments.paidAt), desc(payments.receiptNumber)),
  ])
  const isOver = membership.status !== 'active'
  // A cancelled membership is never behind. Stripe reports `past_due` until a moment after the payment.
  const { subscriptionStatus } = membership
  const isUnpaid = subscriptionStatus === 'unpaid' || (subscriptionStatus === 'past_due' && unpaid !== null)
  const isBehind = isUnpaid && cancelAt === null
  const paidUntil = membership.paidUntil ?? activatedAt
  const charge = { amount: membership.nextAmount ?? amount, currency }
  const nextCharge = isOver || cancelAt ? null : { at: paidUntil.toString(), ...charge }
  const nextMonth =
    isOver || (next?.at && cancelAt && Temporal.Instant.compare(next.at, cancelAt) >= 0) ? null : next?.at
  return {
    membershipId,
    status: isOver ? 'ended' : isBehind ? 'past_due' : 'active',
    plan,
    amount,
    currency,
    classDate: attempt?.classDate ?? '',
    activatedAt: activatedAt.toString(),
    paidUntil: paidUntil.toString(),
    endsAt: (isOver ? endedAt : cancelAt)?.toString() ?? null,
    nextCharge,
    nextPlan: isOver ? null : nextPlan,
    nextClassAt: nextMonth?.toString() ?? (isBehind ? null : (nextCharge?.at ?? null)),
    card: membership.card,
    unpaid:
      unpaid && cancelAt === null
        ? {
            amount: unpaid.amount,
            attempts: unpaid.attempts,
            nextTryAt: unpaid.nextTryAt,
            confirmUrl: unpaid.confirmUrl ?? null,
          }
        : null,
    payments: rows.map(({ invoice, payment, refunded, disputed }) => ({
      receiptNumber: payment.receiptNumber ?? '',
      paidAt: payment.paidAt.toString(),
      amount: payment.amount,
      plan: invoice.plan,
      reason: invoice.reason,
      periodEnd: invoice.periodEnd.toString(),
      refunded,
      disputed,
    })),
  }
}
