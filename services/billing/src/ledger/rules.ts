/** The accounts of the ledger: what the provider holds for us and where it came from, or went. */
export type Account = 'stripe_balance' | 'bank' | 'sales' | 'refunds' | 'disputes' | 'fees' | 'adjustments'

/** Entries of one of the provider's balance transactions: cents by account, debits positive, adding up to nothing. */
export function ledgerEntriesOf(transaction: { type: string; amount: number; fee: number }): Map<Account, number> {
  const { type, amount, fee } = transaction
  const counter: Record<string, Account> = {
    charge: 'sales',
    payment: 'sales',
    refund: 'refunds',
    payment_refund: 'refunds',
    refund_failure: 'refunds',
    payment_failure_refund: 'refunds',
    payout: 'bank',
    payout_failure: 'bank',
    payout_cancel: 'bank',
    stripe_fee: 'fees',
  }
  const entries = new Map<Account, number>()
  const add = (account: Account, cents: number) => entries.set(account, (entries.get(account) ?? 0) + cents)
  add('stripe_balance', amount - fee)
  add('fees', fee)
  // The provider calls a dispute's money an adjustment.
  add(counter[type] ?? (type === 'adjustment' ? 'disputes' : 'adjustments'), -amount)
  if (entries.get('fees') === 0 && type !== 'stripe_fee') entries.delete('fees')
  return entries
}

/** The next number of the receipts: `RK-000001`. */
export function receiptNumber(count: number): string {
  return `RK-${String(count).padStart(6, '0')}`
}
