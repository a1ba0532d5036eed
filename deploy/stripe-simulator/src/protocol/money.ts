/** `$400.00` for 40000 cents, and `¥400` for 400 yen: amounts are in the currency's smallest unit. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: currency.toUpperCase() })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}
