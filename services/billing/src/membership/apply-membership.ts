import { randomUUIDv7 } from 'node:crypto'
import {
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import { wake, type Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { fetchMembership } from '../stripe/subscriptions.ts'
import { StaleObservation, retryOnStale } from '../stripe/retry-on-stale.ts'
import type { ObservedInvoice, ObservedMembership } from '../stripe/observed.ts'
import { factsOf } from './membership-facts.ts'
import { nextReceiptNumber } from '../ledger/receipt-numbers.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { hasEnded, diffMembership } from './rules.ts'
import { membershipInvoices, memberships, payments, type Membership } from '../schema.ts'
import { StripeFailure } from '../stripe/client.ts'

/** Brings a membership up to what the provider says of its subscription now. */
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

/** What the provider does not have (any more) runs no longer. */
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
    ...factsOf(membership),
    endedAt: endedAt.toString(),
    reason: 'cancelled',
  })
}

/**
 * As `refreshMembership`, with a subscription as the provider showed it a moment ago.
 * @param tellBegun of one that is new, before all else that has become of it; with the receipt number of its first payment.
 * @throws StaleObservation where something was learnt since it was asked after.
 */
export async function applyMembership(
  tx: Transaction,
  context: BillingContext,
  observed: ObservedMembership,
  tellBegun?: (receiptNumber: string | null) => Promise<void>,
): Promise<void> {
  const membership = await lock(tx, observed.subscriptionId)
  if (!membership) {
    if (observed.version !== null) throw new StaleObservation(observed.subscriptionId)
    context.log.info({ subscriptionId: observed.subscriptionId }, 'a subscription that is not ours was left alone')
    return
  }
  // Stale: a fetch that began later has been applied already, and has seen whatever this one was made for.
  if (observed.fetchNumber < membership.fetchNumber) return
  if (membership.version !== (observed.version ?? 0)) throw new StaleObservation(observed.subscriptionId)

  const recorded = await recordInvoices(tx, context, membership, observed.paid)
  const isOver = hasEnded(observed.status)
  const { endRequest } = membership
  const willEnd = isOver || observed.cancelAt !== null
  const requestMet = isOver || (endRequest === 'at_period_end' && willEnd)
  // Of what is not renewed nothing is charged any more, however its end came about.
  const isOwed = willEnd && observed.openInvoices.length > 0
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
    ...(isOwed
      ? { endRequest: endRequest ?? (isOver ? ('now' as const) : ('at_period_end' as const)) }
      : requestMet
        ? { endRequest: null }
        : {}),
    ...(isOver && membership.status === 'active' ? { status: 'ended' as const } : {}),
  }
  await tx.update(memberships).set(changes).where(eq(memberships.attemptId, membership.attemptId))
  if (isOwed && endRequest === null) await wake(tx, 'end-memberships')
  await tellBegun?.(recorded.find(({ reason }) => reason === 'first')?.receiptNumber ?? null)
  await tellRenewals(tx, membership, recorded)
  if (membership.status === 'active') await tell(tx, membership, observed)
}

async function tell(tx: Transaction, before: Membership, observed: ObservedMembership): Promise<void> {
  const { attemptId } = before
  const facts = factsOf({ ...before, plan: observed.plan, amount: observed.amount })
  for (const news of diffMembership(before, observed)) {
    switch (news.kind) {
      case 'switched':
        await publish(tx, subscriptionSwitched, attemptId, {
          ...facts,
          plan: news.plan,
          amount: news.amount,
          previousPlan: news.previousPlan,
          from: news.from.toString(),
        })
        break
      case 'cancelled':
        await publish(tx, subscriptionCancelled, attemptId, { ...facts, endsAt: news.endsAt.toString() })
        break
      case 'resumed':
        await publish(tx, subscriptionResumed, attemptId, { ...facts, renewsAt: observed.paidUntil.toString() })
        break
      case 'past_due': {
        const { invoiceId, amount: amountDue, attempts: attempt, nextTryAt, confirmUrl = null } = news.unpaid
        const payment = { invoiceId, amountDue, attempt, nextTryAt, confirmUrl }
        await publish(tx, subscriptionPastDue, attemptId, { ...facts, ...payment })
        break
      }
      case 'ended':
        await publish(tx, subscriptionEnded, attemptId, {
          ...facts,
          endedAt: news.endedAt.toString(),
          reason: before.rejection === null ? (observed.endedUnpaid ? 'unpaid' : 'cancelled') : 'seat_gone',
        })
        break
    }
  }
}

const outcomes = { active: 'accepted', ended: 'accepted', duplicate: 'duplicate', mismatch: 'amount_mismatch' } as const

/** An invoice whose payment was written down just now. */
interface RecordedInvoice extends ObservedInvoice {
  paymentId: string
  /** Null where it is not owed and goes back. */
  receiptNumber: string | null
}

/** Writes down each paid invoice once, with a receipt; what is not owed goes back. @returns those that are new. */
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
      id: randomUUIDv7(),
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
    const { invoiceId, plan, reason, periodEnd } = invoice
    await tx
      .insert(membershipInvoices)
      .values({ invoiceId, membershipId, paymentId: payment.id, plan, reason, periodEnd })
    if (outcome !== 'accepted') await enqueueRefund(tx, context, payment, outcome)
    else if (membership.rejection !== null) await enqueueRefund(tx, context, payment, 'seat_gone')
    recorded.push({ ...invoice, paymentId: payment.id, receiptNumber })
  }
  return recorded
}

async function tellRenewals(tx: Transaction, membership: Membership, recorded: RecordedInvoice[]): Promise<void> {
  for (const { plan, paymentId, receiptNumber, paidAt, amount: paidAmount, reason, periodEnd } of recorded) {
    if (reason === 'first' || receiptNumber === null) continue
    await publish(tx, subscriptionRenewed, membership.attemptId, {
      ...factsOf(membership),
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

/** Has the provider end a membership, by the job that does so. */
export async function requestEnd(
  tx: Transaction,
  { clock }: BillingContext,
  membershipId: string,
  when: 'now' | 'at_period_end',
): Promise<void> {
  await tx
    .update(memberships)
    .set({
      // What is to end now is not made to wait by a later wish.
      endRequest: sql`case when ${memberships.endRequest} = 'now' then 'now' else ${when} end`,
      tries: 0,
      nextTryAt: clock.now(),
    })
    .where(eq(memberships.attemptId, membershipId))
  await wake(tx, 'end-memberships')
}
