import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'

/** A payment that its cardholder disputes with the bank, in the provider's words. */
type Dispute = Money & { status: string }

/** How a dispute stands, in a few words. The bank decides it, for one side or the other. */
export function disputeInShort({ status }: Dispute): string {
  if (status === 'lost') return 'your bank gave it back to you'
  if (status === 'won' || status === 'warning_closed' || status === 'prevented') return 'settled, the payment stands'
  return 'your bank looks into it'
}

/** The same for somebody who looks at what was paid. */
export function disputeText(dispute: Dispute): string {
  return `${formatMoney(dispute)} of your payment is disputed with your bank: ${disputeInShort(dispute)}.`
}
