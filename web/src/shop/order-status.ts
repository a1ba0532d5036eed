import { disputeOutcome } from '@robokids/contracts/disputes'
import type { PaymentState } from '@robokids/contracts/payment-state'
import type { Order } from '@robokids/contracts/shop'

/** What is true of an order for whoever paid for it: the money first, then the goods. */
export interface OrderStanding {
  kind:
    | 'unpaid'
    | 'paid'
    | 'shipped'
    /** All of the money is on its way back: nothing is shipped any more. */
    | 'returning'
    /** All of it is back. */
    | 'returned'
    /** It is over, and the bank has not taken what was to go back. */
    | 'owed'
    /** The cardholder's bank looks into the payment. */
    | 'disputed'
    /** The bank gave the money back. */
    | 'lost'
  /** It had gone out by then, so that the money goes back for what came back. */
  wasShipped: boolean
  /** Cents of the payment, and not of what was paid beside it. */
  back: { done: number; pending: number; owed: number }
}

/** Cents that went back, are on their way, or failed at the bank and were not made good for, of what was paid for the order itself. */
function backOf({ refunds, amount, owed }: Order): OrderStanding['back'] {
  const ofOrder = refunds.filter(({ reason }) => reason !== 'duplicate' && reason !== 'amount_mismatch')
  const sum = (status: string) =>
    ofOrder.filter((refund) => refund.status === status).reduce((total, refund) => total + refund.amount, 0)
  const [done, pending] = [sum('succeeded'), sum('pending')]
  // A try that failed was of the same money.
  return { done, pending, owed: owed ?? Math.max(0, Math.min(sum('failed'), amount - done - pending)) }
}

/** How its payment stands: as the server says, or, from a server of the version before, as its refunds and disputes do. */
function paymentStateOf(
  { status, amount, disputes = [], paymentState }: Order,
  back: OrderStanding['back'],
): PaymentState {
  if (paymentState) return paymentState
  const { done, pending, owed } = back
  if (done >= amount) return 'refunded'
  const outcomes = disputes.map(disputeOutcome)
  if (outcomes.includes('lost')) return 'lost'
  if (done + pending >= amount) return 'refund_under_way'
  // What was told as cancelled stays it, also where the bank returned the money.
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
} as const satisfies Record<PaymentState, OrderStanding['kind']>

export function orderStandingOf(order: Order): OrderStanding {
  const back = backOf(order)
  const wasShipped = order.shippedAt !== null || order.status === 'shipped'
  const kind = order.status === 'unpaid' ? 'unpaid' : kinds[paymentStateOf(order, back)]
  // What is on its way stays so while the bank looks into its payment.
  return { kind: wasShipped && (kind === 'paid' || kind === 'disputed') ? 'shipped' : kind, wasShipped, back }
}
