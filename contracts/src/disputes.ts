import type { Money } from './fields.ts'
import { formatMoney } from './pricing.ts'

/** A payment dispute (chargeback), with the payment provider's status. */
type Dispute = Money & { status: string }

/** Returns the outcome of a dispute, which the bank decides. `settled`: the payment stands. */
export function disputeOutcome({ status }: { status: string }): 'open' | 'lost' | 'settled' {
  if (status === 'lost') return 'lost'
  return status === 'won' || status === 'warning_closed' || status === 'prevented' ? 'settled' : 'open'
}

const shortTexts = {
  open: 'your bank is reviewing it',
  lost: 'your bank returned it to you',
  settled: 'settled, the payment stands',
}

/** Returns the state of a dispute in a few words. */
export function shortDisputeText(dispute: Dispute): string {
  return shortTexts[disputeOutcome(dispute)]
}

/** Returns a sentence about a dispute, for the page of a payment. */
export function disputeText(dispute: Dispute): string {
  return `${formatMoney(dispute)} of your payment is disputed with your bank: ${shortDisputeText(dispute)}.`
}

/** A highlighted note: a short title and its explanation. */
export interface Note {
  title: string
  text: string
}

/** Shown while the payment of a registration with a seat is disputed. */
export const disputedNote: Note = {
  title: 'Nothing can be signed or shipped until your bank decides.',
  text: 'We’re keeping your seat until then.',
}
