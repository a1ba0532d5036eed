import type { RegistrationView } from './bff.ts'
import type { Money } from './fields.ts'
import { outcomeOf } from './disputes.ts'

/** What is true of a registration for the parent who looks at it, and no more than the server told. */
export type Standing =
  /** `refunded` of what was paid for it, `returned` of what was paid beside it, once too often perhaps. */
  | {
      kind: 'registered'
      refunded: RefundStanding | null
      returned: RefundStanding | null
      /** The cardholder's bank looks into the payment: nothing is signed or shipped meanwhile. */
      disputed: boolean
    }
  /** It had its seat, and all that was paid for it is back, or on its way: nothing is signed or shipped any more. */
  | { kind: 'returning'; refund: RefundStanding; byBank: boolean }
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
export function moneyBack({ refunds, amount }: Checkout) {
  const alive = refunds.filter(({ status }) => status !== 'failed')
  const ofThePayment = alive.filter(isOfThePayment)
  const failed = total(refunds.filter((refund) => isOfThePayment(refund) && refund.status === 'failed'))
  return {
    ofThePayment,
    besides: alive.filter((refund) => !isOfThePayment(refund)),
    /** Cents that failed at the bank, and that nothing has made good for. A try that failed was of the same money. */
    owed: Math.max(0, Math.min(failed, amount - total(ofThePayment))),
  }
}

function stateOf(refunds: readonly Refund[]): 'done' | 'underway' {
  return refunds.every(({ status }) => status === 'succeeded') ? 'done' : 'underway'
}

/** How far the payment of a registration that is over is on its way back. */
function refundOf(checkout: Checkout | null): RefundStanding {
  if (!checkout) return { state: 'underway', money: null }
  const { ofThePayment, owed } = moneyBack(checkout)
  if (owed > 0) return { state: 'failed', money: usd(owed) }
  if (ofThePayment.length > 0) return { state: stateOf(ofThePayment), money: usd(total(ofThePayment)) }
  return { state: 'underway', money: usd(checkout.amount) }
}

function keptBack(checkout: Checkout) {
  const { ofThePayment, besides } = moneyBack(checkout)
  const standing = (refunds: Refund[]): RefundStanding | null =>
    refunds.length > 0 ? { state: stateOf(refunds), money: usd(total(refunds)) } : null
  return { refunded: standing(ofThePayment), returned: standing(besides) }
}

function registeredAs(checkout: Checkout | null): Standing {
  if (!checkout) return { kind: 'registered', refunded: null, returned: null, disputed: false }
  const { ofThePayment } = moneyBack(checkout)
  if (checkout.amount > 0 && total(ofThePayment) >= checkout.amount) {
    const refund = { state: stateOf(ofThePayment), money: usd(total(ofThePayment)) }
    return { kind: 'returning', refund, byBank: false }
  }
  const lost = checkout.disputes.filter((dispute) => outcomeOf(dispute) === 'lost')
  if (lost.length > 0) {
    const money = usd(lost.reduce((cents, { amount }) => cents + amount, 0))
    return { kind: 'returning', refund: { state: 'done', money }, byBank: true }
  }
  const disputed = checkout.disputes.some((dispute) => outcomeOf(dispute) === 'open')
  return { kind: 'registered', ...keptBack(checkout), disputed }
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
      return registeredAs(checkout)
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
    case 'returning':
      return standing.refund.state === 'done'
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

/** How a registration ended: it has no seat, or what was paid for it goes back. */
export type Ended = Extract<Standing, { kind: 'rejected' | 'expired' | 'cancelled' | 'returning' }>

const endedKinds: Standing['kind'][] = ['rejected', 'expired', 'cancelled', 'returning'] satisfies Ended['kind'][]

export function isEnded(standing: Standing): standing is Ended {
  return endedKinds.includes(standing.kind)
}

export function endedTitle(standing: Ended): string {
  switch (standing.kind) {
    case 'returning':
      return standing.refund.state === 'done' ? 'Your money went back' : 'Your money is on its way back'
    case 'rejected':
      return 'We could not give you the seat'
    case 'expired':
      return 'This registration has expired'
    case 'cancelled':
      return 'This registration was cancelled'
  }
}
