import type { PaymentState } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { canBeBought, type Order, type OrderItem, type OrderLine, type Product } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'

/**
 * Quotes a cart by today's products.
 * @throws DomainError product_not_for_sale, with an issue for each line that cannot be bought
 */
export function quoteOrder(items: OrderItem[], products: Product[]): { lines: OrderLine[]; amount: number } {
  const known = new Map(products.map((product) => [product.sku, product]))
  const issues = items.flatMap(({ sku }, index) => {
    const product = known.get(sku)
    if (product && canBeBought(product.state)) return []
    const message = product ? `${product.name} cannot be bought right now.` : `We do not sell ${sku}.`
    return [{ path: `items.${index}.sku`, message }]
  })
  const [first] = issues
  if (first) throw new DomainError('product_not_for_sale', `${first.message} Please remove it from your cart.`, issues)
  const lines = items.flatMap(({ sku, quantity }) => {
    const product = known.get(sku)
    return product ? [{ sku, quantity, name: product.name, state: product.state, unitAmount: product.amount }] : []
  })
  return { lines, amount: lines.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0) }
}

/** Whether two carts have the same items, in any order. */
export function sameItems(one: OrderItem[], other: OrderItem[]): boolean {
  const quantities = new Map(one.map(({ sku, quantity }) => [sku, quantity]))
  return one.length === other.length && other.every(({ sku, quantity }) => quantities.get(sku) === quantity)
}

/** Why an order cannot be shipped, as text that follows a colon; undefined if it can. */
export function whyNotShippable(state: PaymentState | undefined, dueCents: number): string | undefined {
  switch (state) {
    case undefined:
      return 'it is not paid'
    case 'refund_under_way':
      return 'it is being refunded in full'
    case 'refunded':
      return 'it was refunded in full'
    case 'refund_failed': {
      const money = formatMoney({ amount: dueCents, currency: 'usd' })
      return `it is canceled, and ${money} of its refund did not reach the buyer and is still owed`
    }
    case 'disputed':
      return 'its payment is disputed with the bank'
    case 'lost':
      return 'the dispute about its payment was lost'
    case 'paid':
    case 'won':
      return undefined
  }
}

/** The status of an order by its payment and shipment. Once announced as refunded, it stays so. */
export function orderStatus(
  payment: { state?: PaymentState | undefined; returnedAt?: string | null | undefined } | null,
  shippedAt: Temporal.Instant | null,
): Order['status'] {
  if (!payment) return 'unpaid'
  if ((payment.returnedAt ?? null) !== null || payment.state === 'refunded') return 'refunded'
  return shippedAt === null ? 'paid' : 'shipped'
}
