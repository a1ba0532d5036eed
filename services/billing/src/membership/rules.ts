import type { MembershipPlan } from '@robokids/contracts/auth'
import type { memberRejected } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Money } from '@robokids/contracts/fields'
import type { ObservedCheckoutSession, UnpaidInvoice } from '../stripe/observed.ts'
import type { CheckoutSessionOutcome } from '../checkout/rules.ts'

export type SeatRejection = EventOf<typeof memberRejected>['data']['reason']

/** As `classifyCheckoutSession`, of a membership's attempt. */
export function classifyMembershipSession(
  checkoutSession: ObservedCheckoutSession,
  attempt: Money,
): CheckoutSessionOutcome {
  if (checkoutSession.status === 'expired') return 'expired'
  if (checkoutSession.status === 'open') return 'open'
  if (checkoutSession.paymentStatus === 'unpaid')
    return hasEnded(checkoutSession.subscription?.status) ? 'failed' : 'processing'
  const asAgreed =
    checkoutSession.paymentStatus === 'paid' &&
    checkoutSession.subscription !== null &&
    checkoutSession.mode === 'subscription' &&
    checkoutSession.amount === attempt.amount &&
    checkoutSession.currency === attempt.currency
  return asAgreed ? 'paid' : 'amount_mismatch'
}

/** Whether a subscription of that status is over for good. */
export function hasEnded(status: string | null | undefined): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

/** What is known of a membership and may come to be otherwise. */
export interface KnownMembership {
  plan: MembershipPlan
  paidUntil: Temporal.Instant | null
  cancelAt: Temporal.Instant | null
  nextPlan: MembershipPlan | null
  unpaid: { invoiceId: string; attempts: number } | null
  /** Its end is being arranged, which takes two steps where another plan was to begin. */
  endRequest?: string | null
}

interface MembershipSeen {
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

/** What a member is to be told of, between what was known of an active membership and what is seen now. */
export function diffMembership(before: KnownMembership, seen: MembershipSeen): MembershipChange[] {
  if (hasEnded(seen.status)) return [{ kind: 'ended', endedAt: seen.endedAt ?? seen.paidUntil }]
  const news: MembershipChange[] = []
  const { plan, amount, next, cancelAt } = seen
  // Whoever ends a membership is told of that alone: with it goes what was arranged, and nothing is owed any more.
  const goesOn = !cancelAt && (before.endRequest ?? null) === null
  // A change that was told of when it was arranged is no news when it comes about.
  if (plan !== before.plan && plan !== before.nextPlan) {
    news.push({ kind: 'switched', plan, amount, previousPlan: before.plan, from: seen.periodStart })
  }
  if (next && next.plan !== before.nextPlan && next.plan !== plan) {
    news.push({ kind: 'switched', ...next, previousPlan: plan, from: seen.paidUntil })
  } else if (!next && before.nextPlan !== null && plan === before.plan && goesOn) {
    news.push({ kind: 'switched', plan, amount, previousPlan: before.nextPlan, from: seen.periodStart })
  }
  if (cancelAt && !(before.cancelAt && Temporal.Instant.compare(cancelAt, before.cancelAt) === 0)) {
    news.push({ kind: 'cancelled', endsAt: cancelAt })
  } else if (!cancelAt && before.cancelAt) news.push({ kind: 'resumed' })
  const { unpaid } = seen
  const isNewTry = unpaid && (unpaid.invoiceId !== before.unpaid?.invoiceId || unpaid.attempts > before.unpaid.attempts)
  if (unpaid && isNewTry && goesOn) news.push({ kind: 'past_due', unpaid })
  return news
}

/** How long before a yearly renewal a member is reminded of it. */
export const reminderLead = Temporal.Duration.from({ hours: 30 * 24 })
/** How often a member is reminded whose membership renews by the month. */
export const reminderEvery = Temporal.Duration.from({ hours: 365 * 24 })

/** Whether a member is to be reminded: before each yearly renewal, and yearly where it renews by the month. */
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
