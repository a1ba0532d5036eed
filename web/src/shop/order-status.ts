import { disputeOutcome } from '@robokids/contracts/disputes'
import type { PaymentState } from '@robokids/contracts/payment-state'
import type { Order } from '@robokids/contracts/shop'

/** An order's status as its buyer sees it: the money first, then the goods. */
export interface OrderDisplayStatus {
  kind:
    | 'unpaid'
    | 'paid'
    | 'shipped'
    /** The full refund is pending: nothing will be shipped. */
    | 'returning'
    /** Fully refunded. */
    | 'returned'
    /** Cancelled, and the bank rejected the refund. */
    | 'owed'
    /** The payment is disputed. */
    | 'disputed'
    /** The dispute was lost: the bank returned the money. */
    | 'lost'
  /** It was shipped before, so the refund is for returned goods. */
  wasShipped: boolean
  /** Refunded cents of the order's own payment, without duplicates and overpayments. */
  back: { done: number; pending: number; owed: number }
}

/** Refunded, pending, and failed cents of the order's own payment. */
function sumRefunds({ refunds, amount, owed }: Order): OrderDisplayStatus['back'] {
  const ofOrder = refunds.filter(({ reason }) => reason !== 'duplicate' && reason !== 'amount_mismatch')
  const sum = (status: string) =>
    ofOrder.filter((refund) => refund.status === status).reduce((total, refund) => total + refund.amount, 0)
  const [done, pending] = [sum('succeeded'), sum('pending')]
  // A failed refund was of the same money.
  return { done, pending, owed: owed ?? Math.max(0, Math.min(sum('failed'), amount - done - pending)) }
}

/** The payment's state as the server says, or, from an older server, derived from refunds and disputes. */
function toPaymentState(
  { status, amount, disputes = [], paymentState }: Order,
  back: OrderDisplayStatus['back'],
): PaymentState {
  if (paymentState) return paymentState
  const { done, pending, owed } = back
  if (done >= amount) return 'refunded'
  const outcomes = disputes.map(disputeOutcome)
  if (outcomes.includes('lost')) return 'lost'
  if (done + pending >= amount) return 'refund_under_way'
  // A cancelled order stays cancelled, even if the bank returned the money.
  if (status === 'refunded') return owed > 0 ? 'refund_failed' : 'refunded'
  return outcomes.includes('open') ? 'disputed' : 'paid'
}

const kinds = {
  refunded: 'returned',
  refund_under_way: 'returning',
  refund_failed: 'owed',
  lost: 'lost',
  disputed: 'disputed',
  paid: 'paid',
  won: 'paid',
} as const satisfies Record<PaymentState, OrderDisplayStatus['kind']>

export function toOrderDisplayStatus(order: Order): OrderDisplayStatus {
  const back = sumRefunds(order)
  const wasShipped = order.shippedAt !== null || order.status === 'shipped'
  const kind = order.status === 'unpaid' ? 'unpaid' : kinds[toPaymentState(order, back)]
  // A shipped order stays shipped during a dispute.
  return { kind: wasShipped && (kind === 'paid' || kind === 'disputed') ? 'shipped' : kind, wasShipped, back }
}
