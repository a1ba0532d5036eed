import type { PaymentState, Refund } from '@robokids/contracts/billing'
import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'
import { DomainError } from '@robokids/runtime/errors'

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
