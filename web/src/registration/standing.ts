import type { RegistrationView } from '@robokids/contracts/bff'
import type { Money } from '@robokids/contracts/fields'

/** What is true of a registration for the parent who looks at it, and no more than the server told. */
export type Standing =
  | { kind: 'registered'; refunded: Money | null }
  /** Money is on its way or here, and the seat is not settled. */
  | { kind: 'processing' }
  /** The checkout is open (or cannot be asked about): nothing is known to be paid. */
  | { kind: 'awaiting'; lastDecline: string | null }
  /** The checkout closed unpaid while the seats are still held: it can be made anew. */
  | { kind: 'unpaid' }
  | { kind: 'rejected'; reason: RegistrationView['rejectionReason']; refund: RefundStanding }
  /** `charged: 'no'` once the card's side is closed as well, or never was opened. */
  | { kind: 'expired'; charged: 'no' | 'unknown' }
  | { kind: 'cancelled'; refund: RefundStanding | null }

export interface RefundStanding {
  state: 'done' | 'underway' | 'failed'
  /** Null while billing cannot be asked how much it is. */
  money: Money | null
}

type Checkout = NonNullable<RegistrationView['checkout']>

function sum(refunds: Checkout['refunds']): Money | null {
  const amount = refunds.reduce((total, refund) => total + refund.amount, 0)
  return amount === 0 ? null : { amount, currency: 'usd' }
}

function refundOf(checkout: Checkout | null): RefundStanding {
  if (!checkout) return { state: 'underway', money: null }
  const refunds = checkout.refunds.filter(({ status }) => status !== 'failed')
  if (refunds.length === 0) {
    const failed = sum(checkout.refunds)
    if (failed) return { state: 'failed', money: failed }
    return { state: 'underway', money: { amount: checkout.amount, currency: checkout.currency } }
  }
  return {
    state: refunds.every(({ status }) => status === 'succeeded') ? 'done' : 'underway',
    money: sum(refunds),
  }
}

export function standingOf({ status, checkout, rejectionReason }: RegistrationView): Standing {
  const paying = checkout?.status === 'paid' || checkout?.status === 'processing'
  const refunded = checkout ? sum(checkout.refunds.filter((refund) => refund.status !== 'failed')) : null
  switch (status) {
    case 'confirmed':
    case 'waiver_signed':
      return { kind: 'registered', refunded }
    case 'held':
      if (paying) return { kind: 'processing' }
      if (checkout?.status === 'expired' || checkout?.status === 'failed') return { kind: 'unpaid' }
      return { kind: 'awaiting', lastDecline: checkout?.lastDecline ?? null }
    case 'rejected':
      return { kind: 'rejected', reason: rejectionReason, refund: refundOf(checkout) }
    case 'expired':
      // A payment that came just as the hold ran out gets a seat, or its money back.
      if (paying) return { kind: 'processing' }
      return {
        kind: 'expired',
        charged: checkout?.status === 'expired' || checkout?.status === 'failed' ? 'no' : 'unknown',
      }
    case 'cancelled':
      return { kind: 'cancelled', refund: checkout && checkout.refunds.length > 0 ? refundOf(checkout) : null }
  }
}

/** Whether nothing more is to come, as far as a waiting parent is concerned. */
export function isSettled(standing: Standing): boolean {
  switch (standing.kind) {
    case 'registered':
      return true
    case 'cancelled':
    case 'rejected':
      return standing.refund?.state !== 'underway'
    case 'expired':
      return standing.charged === 'no'
    case 'processing':
    case 'awaiting':
    case 'unpaid':
      return false
  }
}
