import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Refund } from '@robokids/contracts/billing'
import type { Money } from '@robokids/contracts/fields'
import { canBeBought, type Order, type OrderItem, type OrderLine, type Product } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import { refundedTotal } from './rules.ts'

/** What an attempt at paying an order is for, frozen with its prices. */
export interface OrderFacts {
  orderId: string
  lines: OrderLine[]
}

export function isOrder(purchase: RegistrationFacts | OrderFacts): purchase is OrderFacts {
  return 'orderId' in purchase
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

/** As `sessionParameters`, for an order: the payment page asks whom and where it goes to. */
export function orderParameters(
  attemptId: string,
  { orderId, lines }: OrderFacts,
  expiresAt: Temporal.Instant,
  siteUrl: string,
) {
  const metadata = { orderId, attemptId }
  return {
    mode: 'payment' as const,
    allowed_payment_method_types: ['card' as const],
    adaptive_pricing: { enabled: false },
    client_reference_id: orderId,
    line_items: lines.map(({ name, state, quantity, unitAmount }) => ({
      quantity,
      price_data: {
        currency: 'usd',
        unit_amount: unitAmount,
        product_data: {
          name,
          ...(state === 'pre_order' ? { description: 'Pre-order: ships when it is made' } : {}),
        },
      },
    })),
    shipping_address_collection: { allowed_countries: ['US' as const] },
    metadata,
    payment_intent_data: { metadata },
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/shop/success?reference=${orderId}`,
    cancel_url: `${siteUrl}/shop`,
  }
}

export type OrderParameters = ReturnType<typeof orderParameters>

/** How an order is doing, by its payment, what went back of that, and its parcel. */
export function orderStatus(
  payment: Money | undefined,
  refunds: Pick<Refund, 'amount' | 'status'>[],
  shippedAt: Temporal.Instant | null,
): Order['status'] {
  if (!payment) return 'unpaid'
  if (refundedTotal(refunds) >= payment.amount) return 'refunded'
  return shippedAt === null ? 'paid' : 'shipped'
}
