import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { PaymentState } from '@robokids/contracts/billing'
import { orderTerms, registrationTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { canBeBought, type Order, type OrderItem, type OrderLine, type Product } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { Attempt } from '../schema.ts'
import { isOrder } from '../purchase.ts'

/** What an attempt is for, as it was agreed to. */
export function termsOf({
  agreement,
  purchase,
  parameters,
}: Pick<Attempt, 'agreement' | 'purchase' | 'parameters'>): AgreementTerms {
  if (agreement) return agreement.terms
  if (isOrder(purchase)) return orderTerms(purchase.lines)
  const { classType, startDate, children } = purchase
  // A class is one line of what the provider was asked for.
  const [seats] = parameters.line_items
  return registrationTerms({
    classType,
    startDate,
    children: children.length,
    siblingJoinsFree: (seats?.quantity ?? children.length) < children.length,
    unitAmount: seats?.price_data.unit_amount ?? 0,
  })
}

/**
 * What a cart comes to by today's products.
 * @throws DomainError product_not_for_sale, naming each line that cannot be bought (any more)
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

/** Whether two carts hold the same, in whatever order. */
export function sameItems(one: OrderItem[], other: OrderItem[]): boolean {
  const quantities = new Map(one.map(({ sku, quantity }) => [sku, quantity]))
  return one.length === other.length && other.every(({ sku, quantity }) => quantities.get(sku) === quantity)
}

/** Why an order cannot be shipped, in words that follow a colon; undefined where it can. */
export function whyNotShippable(state: PaymentState | undefined, owedCents: number): string | undefined {
  switch (state) {
    case undefined:
      return 'it is not paid'
    case 'refund_under_way':
      return 'all that was paid is on its way back'
    case 'refunded':
      return 'all that was paid went back'
    case 'refund_failed': {
      const money = formatMoney({ amount: owedCents, currency: 'usd' })
      return `it is cancelled, and ${money} of its refund did not reach the buyer: it is owed still`
    }
    case 'disputed':
      return 'its payment is disputed with the bank'
    case 'lost':
      return 'the dispute about its payment is lost'
    case 'paid':
    case 'won':
      return undefined
  }
}

/** How an order is doing, by its payment and its parcel. What was told as cancelled stays so. */
export function orderStatus(
  payment: { state?: PaymentState | undefined; returnedAt?: string | null | undefined } | null,
  shippedAt: Temporal.Instant | null,
): Order['status'] {
  if (!payment) return 'unpaid'
  if ((payment.returnedAt ?? null) !== null || payment.state === 'refunded') return 'refunded'
  return shippedAt === null ? 'paid' : 'shipped'
}
