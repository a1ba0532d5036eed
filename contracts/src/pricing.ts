import type { Money } from './fields.ts'

/**
 * Returns the number of paid seats of a registration. While the sibling promotion covers the class, one sibling joins free per
 * paid child: 2 children pay for 1, 3 for 2, 4 for 2.
 */
export function payableChildren(children: number, siblingJoinsFree: boolean): number {
  return siblingJoinsFree ? Math.ceil(children / 2) : children
}

/** `{amount: 40000, currency: 'usd'}` → `$400.00`; with `whole`, `$400` if there are no cents. */
export function formatMoney(money: Money, whole = false): string {
  const cents = String(money.amount % 100).padStart(2, '0')
  const dollars = String(Math.trunc(money.amount / 100)).replace(/\B(?=(\d{3})+$)/g, ',')
  return whole && cents === '00' ? `$${dollars}` : `$${dollars}.${cents}`
}
