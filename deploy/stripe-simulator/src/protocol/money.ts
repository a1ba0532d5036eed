/** `$400.00` from 40000 cents, and `¥400` from 400 yen: amounts are in the smallest unit that a currency has. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: currency.toUpperCase() })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}
