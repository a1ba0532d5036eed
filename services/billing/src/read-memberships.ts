import { membershipPlans } from '@robokids/contracts/auth'
import {
  membershipSku,
  type FindMembership,
  type Membership as MembershipView,
  type MembershipOutcome,
  type MembershipPlans,
} from '@robokids/contracts/billing'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Database } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, asc, desc, eq, exists, inArray, sql } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { openMembershipSession } from './open-session.ts'
import { noteAccount } from './owners.ts'
import { readPrices } from './read-prices.ts'
import { paymentState, refundable } from './rules.ts'
import {
  disputes,
  membershipAttempts,
  membershipInvoices,
  memberships,
  payments,
  refunds,
  type Membership,
} from './schema.ts'

/** What a membership costs at `now`, with the terms to agree to. */
export async function readPlans(db: Database, now: Temporal.Instant): Promise<MembershipPlans> {
  const { prices } = await readPrices(db, now)
  const plans = membershipPlans.flatMap((plan) => {
    const price = prices.find(({ sku }) => sku === membershipSku(plan))
    if (!price) return []
    const { amount, currency } = price
    return [{ plan, amount, currency, termsVersion: renewalTermsVersion, terms: renewalTerms(plan, price) }]
  })
  return { plans }
}

/** The checkout session in which a subscription that names this attempt was bought; null for one that is not ours. */
export async function sessionOfAttempt(context: BillingContext, attemptId: string | null): Promise<string | null> {
  if (attemptId === null) return null
  const find = async () => {
    const [attempt] = await context.db.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
    return attempt
  }
  const attempt = await find()
  if (!attempt) return null
  if (attempt.stripeSessionId !== null) return attempt.stripeSessionId
  await openMembershipSession(context, attemptId)
  return (await find())?.stripeSessionId ?? null
}

export async function subscriptionsOf({ db }: BillingContext, customerId: string): Promise<string[]> {
  const rows = await db
    .select({ id: memberships.stripeSubscriptionId })
    .from(memberships)
    .where(and(eq(memberships.stripeCustomerId, customerId), eq(memberships.status, 'active')))
  return rows.map(({ id }) => id)
}

/** Cents of a payment that went back, or are on their way. */
const refunded = sql`(
  select coalesce(sum(back.amount), 0) from ${refunds} as back
  where back.payment_id = ${payments}.id and back.status in ('pending', 'succeeded'))`.mapWith(Number)

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
  const status = outcomeOf(attempt.status, membership)
  return {
    attemptId,
    status,
    refusal: status === 'refused' && membership ? refusalOf(membership) : null,
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

function outcomeOf(
  attempt: (typeof membershipAttempts.$inferSelect)['status'],
  membership: Membership | null,
): MembershipOutcome['status'] {
  if (membership) {
    if (membership.status === 'duplicate' || membership.status === 'mismatch' || membership.seat === 'gone')
      return 'refused'
    // One that has ended before it got its seat never will.
    return membership.seat === 'seated' || membership.status === 'ended' ? 'confirmed' : 'processing'
  }
  if (attempt === 'expired' || attempt === 'failed') return attempt
  return attempt === 'open' || attempt === 'creating' ? 'open' : 'processing'
}

function refusalOf({ status, rejection }: Membership): MembershipOutcome['refusal'] {
  if (status === 'duplicate') return 'duplicate'
  return status === 'mismatch' ? 'amount_mismatch' : rejection
}

/**
 * The membership of an account, and further ones that run and came to it with an address: the one that was its own first
 * comes first, else the one that ended last.
 */
export async function findMemberships(
  context: BillingContext,
  account: FindMembership,
): Promise<{ membership: Membership | undefined; others: Membership[] }> {
  return context.db.transaction(async (tx) => {
    const { userId, email } = account
    if (email !== null) await noteAccount(tx, context, { userId, email })
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

/** Cents that are with us, and stay, of the payment for the period that runs. */
export async function keptOfLastPayment(db: Database, membershipId: string): Promise<number> {
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
  const isKept = ['paid', 'won'].includes(paymentState(payment, given, taken))
  return isKept ? refundable(payment.amount, given) : 0
}

/** @throws DomainError membership_not_found */
export async function readMembership(db: Database, membershipId: string): Promise<Membership> {
  const [membership] = await db.select().from(memberships).where(eq(memberships.attemptId, membershipId))
  if (!membership) throw new DomainError('membership_not_found', 'There is no such membership.')
  return membership
}

/** A membership as its member sees it. */
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
  const [[attempt], rows] = await Promise.all([
    db
      .select({ classDate: membershipAttempts.classDate })
      .from(membershipAttempts)
      .where(eq(membershipAttempts.id, membershipId)),
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
  // Of one that is not renewed nothing is asked for any more.
  const isBehind = /^(past_due|unpaid)$/.test(membership.subscriptionStatus) && cancelAt === null
  const paidUntil = membership.paidUntil ?? activatedAt
  const charge = { amount: membership.nextAmount ?? amount, currency }
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
    nextCharge: isOver || cancelAt ? null : { at: paidUntil.toString(), ...charge },
    nextPlan: isOver ? null : nextPlan,
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
