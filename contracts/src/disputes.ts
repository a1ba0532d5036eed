import type { Money } from './fields.ts'
import { formatMoney } from './pricing.ts'

/** A payment that its cardholder disputes with the bank, in the provider's words. */
type Dispute = Money & { status: string }

/** What became of a dispute: the bank decides it, for one side or the other. `settled`: the payment stands. */
export function outcomeOf({ status }: { status: string }): 'open' | 'lost' | 'settled' {
  if (status === 'lost') return 'lost'
  return status === 'won' || status === 'warning_closed' || status === 'prevented' ? 'settled' : 'open'
}

const inShort = {
  open: 'your bank looks into it',
  lost: 'your bank gave it back to you',
  settled: 'settled, the payment stands',
}

/** How a dispute stands, in a few words. */
export function disputeInShort(dispute: Dispute): string {
  return inShort[outcomeOf(dispute)]
}

/** The same for somebody who looks at what was paid. */
export function disputeText(dispute: Dispute): string {
  return `${formatMoney(dispute)} of your payment is disputed with your bank: ${disputeInShort(dispute)}.`
}

/** Something that stands out from what is around it, in a few words and what they mean. */
export interface Note {
  title: string
  text: string
}

/** While the bank looks into the payment of a registration that keeps its seat. */
export const disputedNote: Note = {
  title: 'Until your bank has decided, nothing is signed or shipped.',
  text: 'Your seat is kept meanwhile.',
}
