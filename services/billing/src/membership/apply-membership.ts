import {
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { paymentIdOf } from '../payment-id.ts'
import { fetchMembership } from '../stripe/subscriptions.ts'
import { StaleObservation, retryOnStale } from '../stripe/retry-on-stale.ts'
import type { ObservedInvoice, ObservedMembership } from '../stripe/observed.ts'
import { toMembershipFacts } from '../membership-facts.ts'
import { nextReceiptNumber } from '../ledger/receipt-numbers.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { hasEnded, diffMembership } from './rules.ts'
import { membershipInvoices, memberships, payments, type Membership } from '../schema.ts'
import { giveDueCredits, insertCredits } from './give-credits.ts'
import { StripeFailure } from '../stripe/client.ts'

/** Fetches a subscription and applies it to its membership. */
export async function refreshMembership(context: BillingContext, subscriptionId: string): Promise<void> {
  await retryOnStale(async () => {
    try {
      const observed = await fetchMembership(context, subscriptionId)
      await context.db.transaction((tx) => applyMembership(tx, context, observed))
    } catch (error) {
      if (!(error instanceof StripeFailure) || !error.missing) throw error
      await context.db.transaction((tx) => endMissing(tx, context, subscriptionId))
    }
  })
}

async function lock(tx: Transaction, subscriptionId: string): Promise<Membership | undefined> {
  const [membership] = await tx
    .select()
    .from(memberships)
    .where(eq(memberships.stripeSubscriptionId, subscriptionId))
    .for('update')
  return membership
}

/** Ends a membership whose subscription Stripe does not have. */
async function endMissing(tx: Transaction, { clock }: BillingContext, subscriptionId: string): Promise<void> {
  const membership = await lock(tx, subscriptionId)
  if (!membership) return
  const ofMembership = eq(memberships.attemptId, membership.attemptId)
  if (membership.status !== 'active') {
    await tx.update(memberships).set({ endRequest: null }).where(ofMembership)
    return
  }
  const endedAt = clock.now().round('second')
  await tx
    .update(memberships)
    .set({
      status: 'ended',
      subscriptionStatus: 'canceled',
      endedAt,
      endRequest: null,
      version: membership.version + 1,
    })
    .where(ofMembership)
  await publish(tx, subscriptionEnded, membership.attemptId, {
    ...toMembershipFacts(membership),
    endedAt: endedAt.toString(),
    reason: 'cancelled',
  })
}

/**
 * Applies a fetched subscription to its membership.
 * @param publishActivated publishes a new membership, with the receipt number of its first payment, before any other change.
 * @throws StaleObservation if the membership has changed since the fetch began.
 */
export async function applyMembership(
  tx: Transaction,
  context: BillingContext,
  observed: ObservedMembership,
  publishActivated?: (receiptNumber: string | null) => Promise<void>,
): Promise<void> {
  const membership = await lock(tx, observed.subscriptionId)
  if (!membership) {
    if (observed.version !== null) throw new StaleObservation(observed.subscriptionId)
    context.log.info({ subscriptionId: observed.subscriptionId }, 'ignored an unknown subscription')
    return
  }
  // Stale: a fetch that began later has been applied already, and includes what caused this one.
  if (observed.fetchNumber < membership.fetchNumber) return
  if (membership.version !== (observed.version ?? 0)) throw new StaleObservation(observed.subscriptionId)

  const recorded = await recordInvoices(tx, context, membership, observed.paid)
  const isOver = hasEnded(observed.status)
  const { endRequest } = membership
  const willEnd = isOver || observed.cancelAt !== null
  const requestMet = isOver || (endRequest === 'at_period_end' && willEnd)
  // Nothing more is collected from a membership that will end, for whatever reason.
  const mustVoidInvoices = willEnd && observed.openInvoices.length > 0
  const changes = {
    version: membership.version + 1,
    fetchNumber: observed.fetchNumber,
    tries: 0,
    nextTryAt: context.clock.now(),
    subscriptionStatus: observed.status,
    plan: observed.plan,
    amount: observed.amount,
    paidUntil: observed.paidUntil,
    cancelAt: observed.cancelAt,
    endedAt: observed.endedAt,
    nextPlan: observed.next?.plan ?? null,
    nextAmount: observed.next?.amount ?? null,
    card: observed.card,
    unpaid: isOver ? null : observed.unpaid,
    ...(mustVoidInvoices
      ? { endRequest: endRequest ?? (isOver ? ('now' as const) : ('at_period_end' as const)) }
      : requestMet
        ? { endRequest: null }
        : {}),
    ...(isOver && membership.status === 'active' ? { status: 'ended' as const } : {}),
  }
  await tx.update(memberships).set(changes).where(eq(memberships.attemptId, membership.attemptId))
  if (mustVoidInvoices && endRequest === null) await wakeJob(tx, 'end-memberships')
  await publishActivated?.(recorded.find(({ reason }) => reason === 'first')?.receiptNumber ?? null)
  await publishRenewals(tx, membership, recorded)
  if (membership.status === 'active') await giveDueCredits(tx, membership.attemptId, context.clock.now())
  if (membership.status === 'active') await publishChanges(tx, membership, observed)
}

async function publishChanges(tx: Transaction, before: Membership, observed: ObservedMembership): Promise<void> {
  const { attemptId } = before
  const facts = toMembershipFacts({ ...before, plan: observed.plan, amount: observed.amount })
  for (const change of diffMembership(before, observed)) {
    switch (change.kind) {
      case 'switched':
        await publish(tx, subscriptionSwitched, attemptId, {
          ...facts,
          plan: change.plan,
          amount: change.amount,
          previousPlan: change.previousPlan,
          from: change.from.toString(),
        })
        break
      case 'cancelled':
        await publish(tx, subscriptionCancelled, attemptId, { ...facts, endsAt: change.endsAt.toString() })
        break
      case 'resumed':
        await publish(tx, subscriptionResumed, attemptId, { ...facts, renewsAt: observed.paidUntil.toString() })
        break
      case 'past_due': {
        const { invoiceId, amount: amountDue, attempts: attempt, nextTryAt, confirmUrl = null } = change.unpaid
        const payment = { invoiceId, amountDue, attempt, nextTryAt, confirmUrl }
        await publish(tx, subscriptionPastDue, attemptId, { ...facts, ...payment })
        break
      }
      case 'ended':
        await publish(tx, subscriptionEnded, attemptId, {
          ...facts,
          endedAt: change.endedAt.toString(),
          reason: before.rejection === null ? (observed.endedUnpaid ? 'unpaid' : 'cancelled') : 'seat_gone',
        })
        break
    }
  }
}

const outcomes = { active: 'accepted', ended: 'accepted', duplicate: 'duplicate', mismatch: 'amount_mismatch' } as const

/** An invoice whose payment was just inserted. */
interface RecordedInvoice extends ObservedInvoice {
  paymentId: string
  /** Null if it is refunded as a duplicate or mismatch. */
  receiptNumber: string | null
}

/**
 * Inserts each paid invoice once, with a receipt number, or with a refund if the membership was rejected.
 * @returns the new ones.
 */
async function recordInvoices(
  tx: Transaction,
  context: BillingContext,
  membership: Membership,
  paid: ObservedInvoice[],
): Promise<RecordedInvoice[]> {
  const { attemptId: membershipId } = membership
  const known = await tx
    .select({ invoiceId: membershipInvoices.invoiceId })
    .from(membershipInvoices)
    .where(eq(membershipInvoices.membershipId, membershipId))
  const knownIds = new Set(known.map(({ invoiceId }) => invoiceId))
  const outcome = outcomes[membership.status]
  const recorded: RecordedInvoice[] = []
  for (const invoice of paid) {
    if (knownIds.has(invoice.invoiceId)) continue
    const { amount, currency, paidAt } = invoice
    const receiptNumber = outcome === 'accepted' ? await nextReceiptNumber(tx) : null
    const payment = {
      id: paymentIdOf(invoice.intentId),
      attemptId: null,
      membershipId,
      purchaseId: membershipId,
      stripePaymentIntentId: invoice.intentId,
      outcome,
      amount,
      currency,
      receiptNumber,
      paidAt,
    }
    await tx.insert(payments).values(payment)
    const { invoiceId, plan, reason, periodStart, periodEnd } = invoice
    const row = { invoiceId, membershipId, paymentId: payment.id, plan, reason, periodStart, periodEnd }
    await tx.insert(membershipInvoices).values(row)
    if (outcome === 'accepted' && membership.rejection === null) await insertCredits(tx, row, context.clock.now())
    if (outcome !== 'accepted') await enqueueRefund(tx, context, payment, outcome)
    else if (membership.rejection !== null) await enqueueRefund(tx, context, payment, 'seat_gone')
    recorded.push({ ...invoice, paymentId: payment.id, receiptNumber })
  }
  return recorded
}

async function publishRenewals(tx: Transaction, membership: Membership, recorded: RecordedInvoice[]): Promise<void> {
  for (const { plan, paymentId, receiptNumber, paidAt, amount: paidAmount, reason, periodEnd } of recorded) {
    if (reason === 'first' || receiptNumber === null) continue
    await publish(tx, subscriptionRenewed, membership.attemptId, {
      ...toMembershipFacts(membership),
      plan,
      paymentId,
      receiptNumber,
      paidAt: paidAt.toString(),
      paidAmount,
      reason,
      periodEnd: periodEnd.toString(),
    })
  }
}
