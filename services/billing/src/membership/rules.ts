import type { MembershipPlan } from '@robokids/contracts/auth'
import type { memberRejected } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Money } from '@robokids/contracts/fields'
import type { ObservedCheckoutSession, UnpaidInvoice } from '../stripe/observed.ts'
import type { CheckoutSessionOutcome } from '../attempts/rules.ts'

export type SeatRejection = EventOf<typeof memberRejected>['data']['reason']

/** Classifies a session for a membership attempt. It counts as paid only if amount and currency are exactly the agreed ones. */
export function classifyMembershipSession(
  checkoutSession: ObservedCheckoutSession,
  attempt: Money,
): CheckoutSessionOutcome {
  if (checkoutSession.status === 'expired') return 'expired'
  if (checkoutSession.status === 'open') return 'open'
  if (checkoutSession.paymentStatus === 'unpaid')
    return hasEnded(checkoutSession.subscription?.status) ? 'failed' : 'processing'
  const matchesPrice =
    checkoutSession.paymentStatus === 'paid' &&
    checkoutSession.subscription !== null &&
    checkoutSession.mode === 'subscription' &&
    checkoutSession.amount === attempt.amount &&
    checkoutSession.currency === attempt.currency
  return matchesPrice ? 'paid' : 'amount_mismatch'
}

/** Whether a subscription with this status has ended for good. */
export function hasEnded(status: string | null | undefined): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

/** The recorded state of a membership that a fetch may change. */
export interface KnownMembership {
  plan: MembershipPlan
  paidUntil: Temporal.Instant | null
  cancelAt: Temporal.Instant | null
  nextPlan: MembershipPlan | null
  unpaid: { invoiceId: string; attempts: number } | null
  /** Set while it is being cancelled, which takes two calls if another plan was scheduled. */
  endRequest?: string | null
}

interface CurrentMembership {
  status: string
  plan: MembershipPlan
  amount: number
  periodStart: Temporal.Instant
  paidUntil: Temporal.Instant
  cancelAt: Temporal.Instant | null
  endedAt: Temporal.Instant | null
  next: { plan: MembershipPlan; amount: number } | null
  unpaid: UnpaidInvoice | null
}

export type MembershipChange =
  | { kind: 'switched'; plan: MembershipPlan; amount: number; previousPlan: MembershipPlan; from: Temporal.Instant }
  | { kind: 'cancelled'; endsAt: Temporal.Instant }
  | { kind: 'resumed' }
  | { kind: 'past_due'; unpaid: UnpaidInvoice }
  | { kind: 'ended'; endedAt: Temporal.Instant }

/** Returns the changes to publish between the recorded and the fetched state of an active membership. */
export function diffMembership(before: KnownMembership, current: CurrentMembership): MembershipChange[] {
  if (hasEnded(current.status)) return [{ kind: 'ended', endedAt: current.endedAt ?? current.paidUntil }]
  const changes: MembershipChange[] = []
  const { plan, amount, next, cancelAt } = current
  // A cancellation is published alone: it implies the end of a scheduled plan and of open payments.
  const continues = !cancelAt && (before.endRequest ?? null) === null
  // A scheduled change was published when it was scheduled, not again when it takes effect.
  if (plan !== before.plan && plan !== before.nextPlan) {
    changes.push({ kind: 'switched', plan, amount, previousPlan: before.plan, from: current.periodStart })
  }
  if (next && next.plan !== before.nextPlan && next.plan !== plan) {
    changes.push({ kind: 'switched', ...next, previousPlan: plan, from: current.paidUntil })
  } else if (!next && before.nextPlan !== null && plan === before.plan && continues) {
    changes.push({ kind: 'switched', plan, amount, previousPlan: before.nextPlan, from: current.periodStart })
  }
  if (cancelAt && !(before.cancelAt && Temporal.Instant.compare(cancelAt, before.cancelAt) === 0)) {
    changes.push({ kind: 'cancelled', endsAt: cancelAt })
  } else if (!cancelAt && before.cancelAt) changes.push({ kind: 'resumed' })
  const { unpaid } = current
  const isNewAttempt =
    unpaid && (unpaid.invoiceId !== before.unpaid?.invoiceId || unpaid.attempts > before.unpaid.attempts)
  if (unpaid && isNewAttempt && continues) changes.push({ kind: 'past_due', unpaid })
  return changes
}

/** The time between the reminder and a yearly renewal. */
export const reminderLead = Temporal.Duration.from({ hours: 30 * 24 })
/** The interval of reminders of monthly memberships. */
export const reminderEvery = Temporal.Duration.from({ hours: 365 * 24 })

/** Whether a reminder is due: before each yearly renewal, and once a year for monthly memberships. */
export function isReminderDue(
  membership: {
    plan: MembershipPlan
    activatedAt: Temporal.Instant
    paidUntil: Temporal.Instant
    remindedAt: Temporal.Instant | null
  },
  now: Temporal.Instant,
): boolean {
  const { plan, activatedAt, paidUntil, remindedAt } = membership
  const reached = (due: Temporal.Instant) => Temporal.Instant.compare(now, due) >= 0
  if (plan === 'monthly') return reached((remindedAt ?? activatedAt).add(reminderEvery))
  const due = paidUntil.subtract(reminderLead)
  return reached(due) && !(remindedAt && Temporal.Instant.compare(remindedAt, due) >= 0)
}
