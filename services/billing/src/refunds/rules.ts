import type { PaymentState, Refund } from '@robokids/contracts/billing'
import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'
import { DomainError } from '@robokids/runtime/errors'

export type RefundStatus = Refund['status']

/** Maps Stripe's status of a refund to ours. */
export function refundStatus(stripeStatus: string | null): RefundStatus {
  if (stripeStatus === 'succeeded') return 'succeeded'
  return stripeStatus === 'failed' || stripeStatus === 'canceled' ? 'failed' : 'pending'
}

const refundOrder: RefundStatus[] = ['pending', 'succeeded', 'failed']

/** A refund's status only moves forward: a late update with an earlier status changes nothing. */
export function laterRefundStatus(current: RefundStatus, update: RefundStatus): RefundStatus {
  return refundOrder.indexOf(update) > refundOrder.indexOf(current) ? update : current
}

export interface RefundFacts {
  amount: number
  status: RefundStatus
}

/** A refund of the payment of a purchase that can be cancelled in parts. */
interface PartialRefund extends RefundFacts {
  changeId?: string | null
  createdAt?: Temporal.Instant
}

/** Whether one refund was requested before another; refunds of which that is not known count as earlier. */
function isEarlier({ createdAt: one }: PartialRefund, { createdAt: other }: PartialRefund): boolean {
  return !one || !other || Temporal.Instant.compare(one, other) <= 0
}

/**
 * Whether refunds that add up to a whole payment end its purchase: if an operator gave back all that was left. A refund for a
 * change gives up single places and leaves the others, also if it is the one with which all is back; and so does a refund that an
 * operator makes in place of one of these that failed.
 */
export function endPurchase(paid: number, refunds: PartialRefund[]): boolean {
  const owed = sum(refunds.filter(({ changeId = null, status }) => changeId !== null && status === 'failed'))
  return refunds.some((one) => {
    if ((one.changeId ?? null) !== null || one.status === 'failed' || one.amount <= owed) return false
    return (
      refundable(
        paid,
        refunds.filter((other) => isEarlier(other, one)),
      ) <= 0
    )
  })
}

/** A refund with its announcement to the payer. */
export interface AnnouncedRefund extends RefundFacts {
  announcedAt: Temporal.Instant | null
  /** Cents of it that replace refunds that were announced before and failed. */
  makesGood: number
}

function sum(refunds: RefundFacts[]): number {
  return refunds.reduce((total, refund) => total + refund.amount, 0)
}

/** Cents that are neither refunded nor being refunded. */
export function refundable(paid: number, refunds: RefundFacts[]): number {
  return paid - sum(refunds.filter((refund) => refund.status !== 'failed'))
}

/** Cents that were refunded. */
export function refundedTotal(refunds: RefundFacts[]): number {
  return sum(refunds.filter((refund) => refund.status === 'succeeded'))
}

/** Cents announced to the payer as refunded that failed later and that no later refund has replaced. */
export function announcedShortfall(refunds: AnnouncedRefund[]): number {
  const announced = refunds.filter((refund) => refund.announcedAt !== null)
  return (
    sum(announced.filter((refund) => refund.status === 'failed')) -
    announced.reduce((total, { makesGood }) => total + makesGood, 0)
  )
}

/** Cents announced to the payer as refunded that are neither refunded nor being refunded. */
export function refundDue(paid: number, refunds: AnnouncedRefund[]): number {
  return Math.max(0, Math.min(announcedShortfall(refunds), refundable(paid, refunds)))
}

/** Ranks the status of a dispute, so that a late event with an earlier status changes nothing. An inquiry may become a chargeback. */
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
 * The state of a payment by its refunds and disputes, regardless of their order: see the diagram in this service's README.
 * Goods are shipped while it is `paid` or `won`.
 */
export function paymentState(
  payment: { amount: number; returnedAt: Temporal.Instant | null },
  refunds: PartialRefund[],
  disputes: { status: string }[],
): PaymentState {
  const isOver = endPurchase(payment.amount, refunds)
  if (isOver && refundedTotal(refunds) >= payment.amount) return 'refunded'
  const outcomes = new Set(disputes.map(({ status }) => disputeOutcome(status)))
  if (outcomes.has('lost')) return 'lost'
  if (isOver && refundable(payment.amount, refunds) <= 0) return 'refund_under_way'
  if (outcomes.has('open')) return 'disputed'
  if (payment.returnedAt !== null) return 'refund_failed'
  return outcomes.has('won') ? 'won' : 'paid'
}

/** Why what a payment has paid for is taken back; null while it is kept. */
export function withdrawnBecause(state: PaymentState): 'refunded' | 'disputed' | null {
  switch (state) {
    case 'paid':
    case 'won':
      return null
    case 'disputed':
    case 'lost':
      return 'disputed'
    case 'refund_under_way':
    case 'refund_failed':
    case 'refunded':
      return 'refunded'
  }
}

/**
 * The amount of a refund; without `asked`, the whole rest.
 * @throws DomainError refund_not_possible
 */
export function decideRefund(payment: Money, refunds: RefundFacts[], asked: number | undefined): number {
  const left = refundable(payment.amount, refunds)
  const money = (amount: number) => formatMoney({ amount, currency: payment.currency })
  if (left <= 0) {
    throw new DomainError(
      'refund_not_possible',
      `Nothing is left to refund: all of the ${money(payment.amount)} has been refunded.`,
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
