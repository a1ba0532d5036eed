import type { MembershipPlan } from '@robokids/contracts/auth'
import { classSku } from '@robokids/contracts/billing'
import type { PaymentState, Refund } from '@robokids/contracts/billing'
import type { ClassType, LevelClassType, memberRejected, RegistrationFacts } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Money } from '@robokids/contracts/fields'
import { periodOf } from '@robokids/contracts/membership'
import { formatClassDate } from '@robokids/contracts/class-date'
import { formatMoney, payableChildren } from '@robokids/contracts/pricing'
import { paymentPageMinutes } from '@robokids/contracts/seat-hold'
import type { ShipTo } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { ObservedMembership } from './fetch-membership.ts'
import type { UnpaidInvoice } from './schema.ts'

/** The promotions are days of this zone. */
const businessZone = 'America/Los_Angeles'

/** Stripe wants a session to live at least 30 minutes from when the request arrives. */
export const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

export interface Promotion {
  id: string
  kind: 'sibling_free'
  classTypes: LevelClassType[]
  startsAt: Temporal.Instant
  endsAt: Temporal.Instant
}

function startOfDay(day: Temporal.PlainDate): Temporal.Instant {
  return day.toZonedDateTime(businessZone).toInstant()
}

/** A promotion from the start of one day to the end of another. */
export function siblingPromotion(id: string, firstDay: Temporal.PlainDate, lastDay: Temporal.PlainDate): Promotion {
  return {
    id,
    kind: 'sibling_free',
    classTypes: ['basic', 'intermediate', 'advanced'],
    startsAt: startOfDay(firstDay),
    endsAt: startOfDay(lastDay.add({ days: 1 })),
  }
}

/**
 * The promotion of a season: from the day it opens until a week after its first class day, which is four days after its
 * Monday, as in Fall 2025.
 */
export function seasonPromotion(openedOn: string, firstClassDay: string): Promotion {
  const first = Temporal.PlainDate.from(firstClassDay)
  return siblingPromotion(`sibling-free-${firstClassDay}`, Temporal.PlainDate.from(openedOn), first.add({ days: 7 }))
}

/** A promotion holds from the instant it starts to the last one before it ends. */
export function isRunning(promotion: Pick<Promotion, 'startsAt' | 'endsAt'>, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(promotion.startsAt, now) <= 0 && Temporal.Instant.compare(now, promotion.endsAt) < 0
}

/** The one promotion that is in force at `now`: of those that run, the one that began last. */
export function promotionInForce<One extends Pick<Promotion, 'startsAt' | 'endsAt'>>(
  promotions: One[],
  now: Temporal.Instant,
): One | undefined {
  return promotions
    .filter((promotion) => isRunning(promotion, now))
    .toSorted((a, b) => Temporal.Instant.compare(a.startsAt, b.startsAt))
    .at(-1)
}

export interface Quote {
  siblingJoinsFree: boolean
  unitAmount: number
  /** Children who are paid for. */
  quantity: number
  amount: number
}

/** What a registration costs at `now`, by the price of its class and the promotions. */
export function quote(
  price: number,
  classType: ClassType,
  children: number,
  promotions: Promotion[],
  now: Temporal.Instant,
): Quote {
  const promotion = promotionInForce(promotions, now)
  const siblingJoinsFree = (promotion?.classTypes as ClassType[] | undefined)?.includes(classType) ?? false
  const quantity = payableChildren(children, siblingJoinsFree)
  return { siblingJoinsFree, unitAmount: price, quantity, amount: price * quantity }
}

export function purchaseSku({ classType }: Pick<RegistrationFacts, 'classType'>): string {
  return classSku(classType)
}

/** @throws DomainError validation_failed */
function longDate(startDate: string): string {
  let date: Temporal.PlainDate
  try {
    date = Temporal.PlainDate.from(startDate)
  } catch {
    throw new DomainError('validation_failed', 'startDate is not a date.', [
      { path: 'purchase.startDate', message: 'startDate is not a date.' },
    ])
  }
  return formatClassDate(date.toString())
}

/** What the provider is asked for: decided once per attempt, then never again. */
export function sessionParameters(
  attemptId: string,
  purchase: RegistrationFacts,
  { unitAmount, quantity }: Pick<Quote, 'unitAmount' | 'quantity'>,
  expiresAt: Temporal.Instant,
  siteUrl: string,
) {
  const children = purchase.children.length
  const free = children - quantity
  const metadata = { registrationId: purchase.registrationId, attemptId }
  const reference = encodeURIComponent(purchase.registrationId)
  return {
    mode: 'payment' as const,
    allowed_payment_method_types: ['card' as const],
    // The price is one amount of dollars: nobody is to be charged a converted one.
    adaptive_pricing: { enabled: false },
    client_reference_id: purchase.registrationId,
    customer_email: purchase.email,
    line_items: [
      {
        quantity,
        price_data: {
          currency: 'usd',
          unit_amount: unitAmount,
          product_data: {
            name: `${purchase.levelTitle}: ${longDate(purchase.startDate)}`,
            ...(children > 1
              ? { description: `For ${children} children${free > 0 ? `, ${free} of them free` : ''}` }
              : {}),
          },
        },
      },
    ],
    metadata,
    // A session's metadata does not reach its payment.
    payment_intent_data: { metadata },
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/robokids/success?reference=${reference}`,
    cancel_url: `${siteUrl}/robokids-payment?reference=${reference}`,
  }
}

export type SessionParameters = ReturnType<typeof sessionParameters>

export type SeatRejection = EventOf<typeof memberRejected>['data']['reason']

/** The accounts of the ledger: what the provider holds for us and where it came from, or went. */
export type Account = 'stripe_balance' | 'bank' | 'sales' | 'refunds' | 'disputes' | 'fees' | 'adjustments'

/** What somebody wants who wants to be a member. */
export interface MembershipWish {
  email: string
  plan: MembershipPlan
  /** `YYYY-MM-DD` */
  classDate: string
}

/**
 * As `sessionParameters`, for a membership. The way back carries a reference that says nothing of the person.
 * @param terms what is still to be agreed to, on the payment page.
 */
export function membershipParameters(
  attemptId: string,
  { email, plan, classDate }: MembershipWish,
  unitAmount: number,
  expiresAt: Temporal.Instant,
  siteUrl: string,
  terms?: string,
) {
  const metadata = { attemptId }
  return {
    mode: 'subscription' as const,
    allowed_payment_method_types: ['card' as const],
    adaptive_pricing: { enabled: false },
    client_reference_id: attemptId,
    customer_email: email,
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: unitAmount,
          recurring: { interval: periodOf(plan) },
          product_data: {
            // Without the plan: it stays the same product when the plan changes.
            name: 'Robo Kids Learning membership',
            description: `With a seat in the members’ session of ${longDate(classDate)}`,
          },
        },
      },
    ],
    metadata,
    // A session's metadata does not reach its subscription.
    subscription_data: { metadata },
    ...(terms === undefined
      ? {}
      : {
          consent_collection: { terms_of_service: 'required' as const },
          custom_text: { terms_of_service_acceptance: { message: terms } },
        }),
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/success?reference=${attemptId}`,
    cancel_url: `${siteUrl}/membership/register`,
  }
}

export type MembershipParameters = ReturnType<typeof membershipParameters>

/** A checkout session as the provider showed it, with the payment behind it. */
export interface ObservedSession {
  sessionId: string
  attemptId: string | null
  /** `open`, `complete` or `expired`. */
  status: string
  /** `paid`, `unpaid`, `no_payment_required`, or what the provider may come to say. */
  paymentStatus: string
  mode: string
  amount: number | null
  currency: string | null
  url: string | null
  payment: {
    intentId: string
    /** Null where the answer named the payment only. */
    status: string | null
    amount: number | null
    currency: string | null
    paidAt: Temporal.Instant | null
    /** Why it was last declined, in words for the parent. */
    decline: string | null
  } | null
  /** What the payment page was told of who pays and where it is to be sent. */
  buyer: { email: string | null; shipTo: ShipTo | null }
  /** Whether the terms were agreed to on the payment page. */
  termsAccepted: boolean
  /** What a paid session in `subscription` mode began. */
  subscription: {
    subscriptionId: string
    customerId: string
    /** Null where the answer named the subscription only; so with the time. */
    status: string | null
    startedAt: Temporal.Instant | null
    /** All of it; undefined where nobody looked. */
    observed?: ObservedMembership
  } | null
}

export type Verdict = 'open' | 'processing' | 'paid' | 'amount_mismatch' | 'failed' | 'expired'

/** What a session says about its attempt. Money counts as paid only if it is exactly what was asked for. */
export function judge(session: ObservedSession, attempt: Money): Verdict {
  if (session.status === 'expired') return 'expired'
  if (session.status === 'open') return 'open'
  if (session.paymentStatus === 'unpaid') {
    const over = session.payment?.status === 'requires_payment_method' || session.payment?.status === 'canceled'
    return over ? 'failed' : 'processing'
  }
  const asAgreed =
    session.paymentStatus === 'paid' &&
    session.payment !== null &&
    session.mode === 'payment' &&
    session.amount === attempt.amount &&
    session.currency === attempt.currency
  return asAgreed ? 'paid' : 'amount_mismatch'
}

/** As `judge`, of a membership's attempt. */
export function judgeMembership(session: ObservedSession, attempt: Money): Verdict {
  if (session.status === 'expired') return 'expired'
  if (session.status === 'open') return 'open'
  if (session.paymentStatus === 'unpaid') return hasEnded(session.subscription?.status) ? 'failed' : 'processing'
  const asAgreed =
    session.paymentStatus === 'paid' &&
    session.subscription !== null &&
    session.mode === 'subscription' &&
    session.amount === attempt.amount &&
    session.currency === attempt.currency
  return asAgreed ? 'paid' : 'amount_mismatch'
}

/** Whether a subscription of that status is over for good. */
export function hasEnded(status: string | null | undefined): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

/** What is known of a membership and may come to be otherwise. */
export interface MembershipStanding {
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

export type MembershipNews =
  | { kind: 'switched'; plan: MembershipPlan; amount: number; previousPlan: MembershipPlan; from: Temporal.Instant }
  | { kind: 'cancelled'; endsAt: Temporal.Instant }
  | { kind: 'resumed' }
  | { kind: 'past_due'; unpaid: UnpaidInvoice }
  | { kind: 'ended'; endedAt: Temporal.Instant }

/** What a member is to be told of, between what was known of an active membership and what is seen now. */
export function membershipNews(before: MembershipStanding, seen: MembershipSeen): MembershipNews[] {
  if (hasEnded(seen.status)) return [{ kind: 'ended', endedAt: seen.endedAt ?? seen.paidUntil }]
  const news: MembershipNews[] = []
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

/** Entries of one of the provider's balance transactions: cents by account, debits positive, adding up to nothing. */
export function ledgerEntriesOf(transaction: { type: string; amount: number; fee: number }): Map<Account, number> {
  const { type, amount, fee } = transaction
  const counter: Record<string, Account> = {
    charge: 'sales',
    payment: 'sales',
    refund: 'refunds',
    payment_refund: 'refunds',
    refund_failure: 'refunds',
    payment_failure_refund: 'refunds',
    payout: 'bank',
    payout_failure: 'bank',
    payout_cancel: 'bank',
    stripe_fee: 'fees',
  }
  const entries = new Map<Account, number>()
  const add = (account: Account, cents: number) => entries.set(account, (entries.get(account) ?? 0) + cents)
  add('stripe_balance', amount - fee)
  add('fees', fee)
  // The provider calls a dispute's money an adjustment.
  add(counter[type] ?? (type === 'adjustment' ? 'disputes' : 'adjustments'), -amount)
  if (entries.get('fees') === 0 && type !== 'stripe_fee') entries.delete('fees')
  return entries
}

/** The next number of the receipts: `RK-000001`. */
export function receiptNumber(count: number): string {
  return `RK-${String(count).padStart(6, '0')}`
}

export type RefundStatus = Refund['status']

/** Stripe's words for how a refund is doing, in ours. */
export function refundStatus(said: string | null): RefundStatus {
  if (said === 'succeeded') return 'succeeded'
  return said === 'failed' || said === 'canceled' ? 'failed' : 'pending'
}

const refundOrder: RefundStatus[] = ['pending', 'succeeded', 'failed']

/** A refund only moves on: what is told late, of an earlier state, changes nothing. */
export function laterRefundStatus(now: RefundStatus, told: RefundStatus): RefundStatus {
  return refundOrder.indexOf(told) > refundOrder.indexOf(now) ? told : now
}

export interface RefundFacts {
  amount: number
  status: RefundStatus
}

/** A refund with what its payer was told of it. */
export interface ToldRefund extends RefundFacts {
  announcedAt: Temporal.Instant | null
  /** Cents of it that make good for refunds that were announced before and failed. */
  makesGood: number
}

function sum(refunds: RefundFacts[]): number {
  return refunds.reduce((total, refund) => total + refund.amount, 0)
}

/** Cents that are not yet on their way back, nor back. */
export function refundable(paid: number, refunds: RefundFacts[]): number {
  return paid - sum(refunds.filter((refund) => refund.status !== 'failed'))
}

/** Cents that are back. */
export function refundedTotal(refunds: RefundFacts[]): number {
  return sum(refunds.filter((refund) => refund.status === 'succeeded'))
}

/** Cents that their payer was told to have back, that failed after all, and that no later refund has made good. */
export function toldInVain(refunds: ToldRefund[]): number {
  const told = refunds.filter((refund) => refund.announcedAt !== null)
  return (
    sum(told.filter((refund) => refund.status === 'failed')) - told.reduce((all, { makesGood }) => all + makesGood, 0)
  )
}

/** Cents that their payer was told to have back, and that are neither back nor on their way. */
export function owed(paid: number, refunds: ToldRefund[]): number {
  return Math.max(0, Math.min(toldInVain(refunds), refundable(paid, refunds)))
}

/** How far a dispute has come: one that was told of late, in an earlier stage, changes nothing. An inquiry may become a chargeback. */
export function disputeStage(status: string): number {
  const stages = ['warning_needs_response', 'warning_under_review', 'warning_closed', 'needs_response', 'under_review']
  const stage = stages.indexOf(status)
  return stage === -1 ? stages.length : stage
}

function disputeOutcome(status: string): 'open' | 'won' | 'lost' | 'withdrawn' {
  if (status === 'won' || status === 'lost') return status
  return status === 'warning_closed' || status === 'prevented' ? 'withdrawn' : 'open'
}

/**
 * How a payment stands, by its refunds and disputes in whatever order they came: the README of this service draws it.
 * Goods go out while it is `paid` or `won`.
 */
export function paymentState(
  payment: { amount: number; returnedAt: Temporal.Instant | null },
  refunds: RefundFacts[],
  disputes: { status: string }[],
): PaymentState {
  if (refundedTotal(refunds) >= payment.amount) return 'refunded'
  const outcomes = new Set(disputes.map(({ status }) => disputeOutcome(status)))
  if (outcomes.has('lost')) return 'lost'
  if (refundable(payment.amount, refunds) <= 0) return 'refund_under_way'
  if (outcomes.has('open')) return 'disputed'
  if (payment.returnedAt !== null) return 'refund_failed'
  return outcomes.has('won') ? 'won' : 'paid'
}

/**
 * How much a refund is of, where `asked` left out means all that is left.
 * @throws DomainError refund_not_possible
 */
export function decideRefund(payment: Money, refunds: RefundFacts[], asked: number | undefined): number {
  const left = refundable(payment.amount, refunds)
  const money = (amount: number) => formatMoney({ amount, currency: payment.currency })
  if (left <= 0) {
    throw new DomainError(
      'refund_not_possible',
      `Nothing is left to refund: all of the ${money(payment.amount)} went back already.`,
    )
  }
  if (asked !== undefined && asked > left) {
    throw new DomainError(
      'refund_not_possible',
      `${money(asked)} is more than can be refunded: ${money(left)} is left of the ${money(payment.amount)} that was paid.`,
    )
  }
  return asked ?? left
}

const firstPauseMs = 2_000
const longestPauseMs = 60 * 60 * 1000

/** How long to wait after a try that failed, the first one being number 1. */
export function pauseAfter(tries: number): Temporal.Duration {
  return Temporal.Duration.from({ milliseconds: Math.min(firstPauseMs * 2 ** Math.min(tries - 1, 20), longestPauseMs) })
}
