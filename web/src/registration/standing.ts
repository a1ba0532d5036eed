import type { RegistrationView } from '@robokids/contracts/bff'
import type { Money } from '@robokids/contracts/fields'

/** What is true of a registration for the parent who looks at it, and no more than the server told. */
export type Standing =
  /** `refunded` of what was paid for it, `returned` of what was paid beside it, once too often perhaps. */
  | { kind: 'registered'; refunded: RefundStanding | null; returned: RefundStanding | null }
  /** Money is on its way or here, and the seat is not settled. */
  | { kind: 'processing' }
  /** The checkout is open (or cannot be asked about): nothing is known to be paid. */
  | { kind: 'awaiting'; lastDecline: string | null }
  /** The checkout closed unpaid while the seats are still held: it can be made anew. */
  | { kind: 'unpaid' }
  | { kind: 'rejected'; reason: RegistrationView['rejectionReason']; refund: RefundStanding }
  /** `charged: 'no'` once the card's side is closed as well; `returned` where what was paid was not the price. */
  | { kind: 'expired'; charged: 'no' | 'unknown' | 'returned'; refund: RefundStanding | null }
  | { kind: 'cancelled'; refund: RefundStanding | null }

export interface RefundStanding {
  state: 'done' | 'underway' | 'failed'
  /** Null while billing cannot be asked how much it is. */
  money: Money | null
}

type Checkout = NonNullable<RegistrationView['checkout']>

type Refund = Checkout['refunds'][number]

function total(refunds: readonly Refund[]): number {
  return refunds.reduce((cents, refund) => cents + refund.amount, 0)
}

const usd = (amount: number): Money | null => (amount > 0 ? { amount, currency: 'usd' } : null)

/** Of the payment that paid for the registration; a second one, or one of another amount, goes back by itself. */
function isOfThePayment({ reason }: Refund): boolean {
  return reason === 'requested' || reason === 'seat_gone'
}

/** What is back or on its way, of the payment and of what was paid beside it. */
export function moneyBack({ refunds }: Checkout) {
  const alive = refunds.filter(({ status }) => status !== 'failed')
  return { ofThePayment: alive.filter(isOfThePayment), besides: alive.filter((refund) => !isOfThePayment(refund)) }
}

function stateOf(refunds: readonly Refund[]): 'done' | 'underway' {
  return refunds.every(({ status }) => status === 'succeeded') ? 'done' : 'underway'
}

/** How far the payment of a registration that is over is on its way back. A try that failed was of the same money. */
function refundOf(checkout: Checkout | null): RefundStanding {
  if (!checkout) return { state: 'underway', money: null }
  const { ofThePayment } = moneyBack(checkout)
  const failed = total(checkout.refunds.filter((refund) => isOfThePayment(refund) && refund.status === 'failed'))
  const missing = Math.min(failed, checkout.amount - total(ofThePayment))
  if (missing > 0) return { state: 'failed', money: usd(missing) }
  if (ofThePayment.length > 0) return { state: stateOf(ofThePayment), money: usd(total(ofThePayment)) }
  return { state: 'underway', money: usd(checkout.amount) }
}

function keptBack(checkout: Checkout) {
  const { ofThePayment, besides } = moneyBack(checkout)
  const standing = (refunds: Refund[]): RefundStanding | null =>
    refunds.length > 0 ? { state: stateOf(refunds), money: usd(total(refunds)) } : null
  return { refunded: standing(ofThePayment), returned: standing(besides) }
}

function chargedOf(checkout: Checkout | null) {
  const returned = checkout && keptBack(checkout).returned
  if (returned) return { charged: 'returned', refund: returned } as const
  const closed = checkout?.status === 'expired' || checkout?.status === 'failed'
  return { charged: closed ? 'no' : 'unknown', refund: null } as const
}

export function standingOf({ status, checkout, rejectionReason }: RegistrationView): Standing {
  const paying = checkout?.status === 'paid' || checkout?.status === 'processing'
  switch (status) {
    case 'confirmed':
    case 'waiver_signed':
      return { kind: 'registered', ...(checkout ? keptBack(checkout) : { refunded: null, returned: null }) }
    case 'held':
      if (paying) return { kind: 'processing' }
      if (checkout?.status === 'expired' || checkout?.status === 'failed') return { kind: 'unpaid' }
      return { kind: 'awaiting', lastDecline: checkout?.lastDecline ?? null }
    case 'rejected':
      return { kind: 'rejected', reason: rejectionReason, refund: refundOf(checkout) }
    case 'expired':
      // A payment that came just as the hold ran out gets a seat, or its money back.
      if (paying) return { kind: 'processing' }
      return { kind: 'expired', ...chargedOf(checkout) }
    case 'cancelled':
      return { kind: 'cancelled', refund: checkout?.refunds.some(isOfThePayment) ? refundOf(checkout) : null }
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
      return standing.charged === 'returned' ? standing.refund?.state === 'done' : standing.charged === 'no'
    case 'processing':
    case 'awaiting':
    case 'unpaid':
      return false
  }
}
