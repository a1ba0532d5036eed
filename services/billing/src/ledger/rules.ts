/** The accounts of the ledger: Stripe's balance, and its sources and uses. */
export type Account = 'stripe_balance' | 'bank' | 'sales' | 'refunds' | 'disputes' | 'fees' | 'adjustments'

/** The double entry of one of Stripe's balance transactions: cents per account, debits positive, with a sum of zero. */
export function toLedgerEntries(transaction: { type: string; amount: number; fee: number }): Map<Account, number> {
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
  // Stripe books disputes as adjustments.
  add(counter[type] ?? (type === 'adjustment' ? 'disputes' : 'adjustments'), -amount)
  if (entries.get('fees') === 0 && type !== 'stripe_fee') entries.delete('fees')
  return entries
}

/** Formats a receipt number: `RK-000001`. */
export function receiptNumber(count: number): string {
  return `RK-${String(count).padStart(6, '0')}`
}
