import type { RegistrationView } from './bff.ts'
import type { Money } from './fields.ts'
import { disputeOutcome } from './disputes.ts'

/** The status of a registration as displayed to the parent, derived only from the server's response. */
export type DisplayStatus =
  /** `refunded` is about the registration's payment, `returned` about other payments, such as a duplicate. */
  | {
      kind: 'registered'
      refunded: RefundProgress | null
      returned: RefundProgress | null
      /** The payment is disputed: nothing is signed or shipped meanwhile. */
      disputed: boolean
    }
  /** It had its seat, and the full payment is refunded or being refunded: nothing is signed or shipped any more. */
  | { kind: 'returning'; refund: RefundProgress; byBank: boolean }
  /** The payment is processing or received, and the seat is not decided yet. */
  | { kind: 'processing' }
  /** The checkout is open, or billing is unavailable: no payment is known. */
  | { kind: 'awaiting'; lastDecline: string | null }
  /** The checkout closed unpaid while the seats are still held: a new one can be created. */
  | { kind: 'unpaid' }
  | { kind: 'rejected'; reason: RegistrationView['rejectionReason']; refund: RefundProgress }
  /** `charged`: `no` once the checkout is closed unpaid; `returned` if a payment of the wrong amount was refunded. */
  | { kind: 'expired'; charged: 'no' | 'unknown' | 'returned'; refund: RefundProgress | null }
  | { kind: 'cancelled'; refund: RefundProgress | null }

export interface RefundProgress {
  state: 'done' | 'underway' | 'failed'
  /** Null while billing is unavailable. */
  money: Money | null
  /** When the last of it went back, if that is known. */
  at?: string
}

type Checkout = NonNullable<RegistrationView['checkout']>

type Refund = Checkout['refunds'][number]

function total(refunds: readonly Refund[]): number {
  return refunds.reduce((cents, refund) => cents + refund.amount, 0)
}

const usd = (amount: number): Money | null => (amount > 0 ? { amount, currency: 'usd' } : null)

/** Whether it refunds the registration's payment. Duplicate payments and those of a wrong amount are refunded automatically. */
function isOfPayment({ reason }: Refund): boolean {
  return reason === 'requested' || reason === 'seat_gone'
}

/** Splits the completed and pending refunds into those of the registration's payment and those of other payments. */
export function splitRefunds({ refunds, amount }: Checkout) {
  const alive = refunds.filter(({ status }) => status !== 'failed')
  const ofPayment = alive.filter(isOfPayment)
  const failed = total(refunds.filter((refund) => isOfPayment(refund) && refund.status === 'failed'))
  return {
    ofPayment,
    ofOtherPayments: alive.filter((refund) => !isOfPayment(refund)),
    /** Cents whose refund failed at the bank and was not replaced. A failed retry was for the same money, so it is not counted twice. */
    owed: Math.max(0, Math.min(failed, amount - total(ofPayment))),
  }
}

/** When the last of these refunds was done. */
function lastOf(refunds: readonly Refund[]): { at?: string } {
  const at = refunds.flatMap(({ refundedAt }) => refundedAt ?? []).reduce((last, one) => (one > last ? one : last), '')
  return at === '' ? {} : { at }
}

function stateOf(refunds: readonly Refund[]): 'done' | 'underway' {
  return refunds.every(({ status }) => status === 'succeeded') ? 'done' : 'underway'
}

/** Returns the refund status of an ended registration. */
function refundProgressOf(checkout: Checkout | null): RefundProgress {
  if (!checkout) return { state: 'underway', money: null }
  const { ofPayment, owed } = splitRefunds(checkout)
  if (owed > 0) return { state: 'failed', money: usd(owed) }
  if (ofPayment.length > 0) return { state: stateOf(ofPayment), money: usd(total(ofPayment)), ...lastOf(ofPayment) }
  return { state: 'underway', money: usd(checkout.amount) }
}

function refundsByPayment(checkout: Checkout) {
  const { ofPayment, ofOtherPayments } = splitRefunds(checkout)
  const progressOf = (refunds: Refund[]): RefundProgress | null =>
    refunds.length > 0 ? { state: stateOf(refunds), money: usd(total(refunds)) } : null
  return { refunded: progressOf(ofPayment), returned: progressOf(ofOtherPayments) }
}

function registeredStatus(checkout: Checkout | null): DisplayStatus {
  if (!checkout) return { kind: 'registered', refunded: null, returned: null, disputed: false }
  const { ofPayment } = splitRefunds(checkout)
  if (checkout.amount > 0 && total(ofPayment) >= checkout.amount) {
    const refund = { state: stateOf(ofPayment), money: usd(total(ofPayment)), ...lastOf(ofPayment) }
    return { kind: 'returning', refund, byBank: false }
  }
  const lost = checkout.disputes.filter((dispute) => disputeOutcome(dispute) === 'lost')
  if (lost.length > 0) {
    const money = usd(lost.reduce((cents, { amount }) => cents + amount, 0))
    return { kind: 'returning', refund: { state: 'done', money }, byBank: true }
  }
  const disputed = checkout.disputes.some((dispute) => disputeOutcome(dispute) === 'open')
  return { kind: 'registered', ...refundsByPayment(checkout), disputed }
}

function expiredCharge(checkout: Checkout | null) {
  const returned = checkout && refundsByPayment(checkout).returned
  if (returned) return { charged: 'returned', refund: returned } as const
  const closed = checkout?.status === 'expired' || checkout?.status === 'failed'
  return { charged: closed ? 'no' : 'unknown', refund: null } as const
}

export function toDisplayStatus({ status, checkout, rejectionReason }: RegistrationView): DisplayStatus {
  const paying = checkout?.status === 'paid' || checkout?.status === 'processing'
  switch (status) {
    case 'confirmed':
    case 'waiver_signed':
      return registeredStatus(checkout)
    case 'held':
      if (paying) return { kind: 'processing' }
      if (checkout?.status === 'expired' || checkout?.status === 'failed') return { kind: 'unpaid' }
      return { kind: 'awaiting', lastDecline: checkout?.lastDecline ?? null }
    case 'rejected':
      return { kind: 'rejected', reason: rejectionReason, refund: refundProgressOf(checkout) }
    case 'expired':
      // A payment made just as the hold expired gets a seat or a refund.
      if (paying) return { kind: 'processing' }
      return { kind: 'expired', ...expiredCharge(checkout) }
    case 'cancelled':
      return { kind: 'cancelled', refund: checkout?.refunds.some(isOfPayment) ? refundProgressOf(checkout) : null }
  }
}

/** Returns whether the status is final, so that the page can stop polling. */
export function isSettled(status: DisplayStatus): boolean {
  switch (status.kind) {
    case 'registered':
      return true
    case 'returning':
      return status.refund.state === 'done'
    case 'cancelled':
    case 'rejected':
      return status.refund?.state !== 'underway'
    case 'expired':
      return status.charged === 'returned' ? status.refund?.state === 'done' : status.charged === 'no'
    case 'processing':
    case 'awaiting':
    case 'unpaid':
      return false
  }
}

/** The statuses of an ended registration: it has no seat, or its payment is refunded. */
export type EndedStatus = Extract<DisplayStatus, { kind: 'rejected' | 'expired' | 'cancelled' | 'returning' }>

const endedKinds: DisplayStatus['kind'][] = [
  'rejected',
  'expired',
  'cancelled',
  'returning',
] satisfies EndedStatus['kind'][]

export function isEnded(status: DisplayStatus): status is EndedStatus {
  return endedKinds.includes(status.kind)
}

export function endedTitle(status: EndedStatus): string {
  switch (status.kind) {
    case 'returning':
      return status.refund.state === 'done' ? 'Your payment was returned' : 'Your refund is on its way'
    case 'rejected':
      return 'We couldn’t give you a seat'
    case 'expired':
      return 'This registration has expired'
    case 'cancelled':
      return 'This registration was canceled'
  }
}
