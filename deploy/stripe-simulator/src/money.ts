/** `$400.00` from cents; currencies of two decimals, which are the only ones taken. */
export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: currency.toUpperCase(),
  }).format(amount / 100)
}
