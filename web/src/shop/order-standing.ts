import type { Order } from '@robokids/contracts/shop'
import { outcomeOf } from '../registration/disputes.ts'

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
function backOf({ refunds, amount }: Order): OrderStanding['back'] {
  const ofOrder = refunds.filter(({ reason }) => reason !== 'duplicate' && reason !== 'amount_mismatch')
  const sum = (status: string) =>
    ofOrder.filter((refund) => refund.status === status).reduce((total, refund) => total + refund.amount, 0)
  const [done, pending] = [sum('succeeded'), sum('pending')]
  // A try that failed was of the same money.
  return { done, pending, owed: Math.max(0, Math.min(sum('failed'), amount - done - pending)) }
}

function kindOf({ status, amount, disputes = [], shippedAt }: Order, { done, pending, owed }: OrderStanding['back']) {
  if (status === 'unpaid') return 'unpaid'
  if (done >= amount) return 'returned'
  if (done + pending >= amount) return 'returning'
  // What was told as cancelled stays it, also where the bank returned the money.
  if (status === 'refunded') return owed > 0 ? 'owed' : 'returned'
  const outcomes = disputes.map(outcomeOf)
  if (outcomes.includes('lost')) return 'lost'
  if (shippedAt !== null || status === 'shipped') return 'shipped'
  return outcomes.includes('open') ? 'disputed' : 'paid'
}

export function orderStandingOf(order: Order): OrderStanding {
  const back = backOf(order)
  return { kind: kindOf(order, back), wasShipped: order.shippedAt !== null || order.status === 'shipped', back }
}
