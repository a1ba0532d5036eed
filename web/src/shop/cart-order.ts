import type { OrderItem } from '@robokids/contracts/shop'
import { session } from '../browser/storage.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { type CartItem, clearCart, currentCart, parseJson } from './cart.ts'

/** The order that the cart was last sent as: the same cart is the same order, however often it is sent. */
const orderKey = 'cart-order'

const wanted = (items: CartItem[]): OrderItem[] => items.map(({ id, quantity }) => ({ sku: id, quantity }))

interface SentOrder {
  orderId: string
  items: OrderItem[]
  /**
   * The cart's first order. Each change refers to that one, not to the change before it, which the server may have rejected
   * or never received: it could not relate them then.
   */
  replaces?: string
}

function keptOrder(): SentOrder | null {
  const kept = parseJson(session.get(orderKey)) as Partial<Record<keyof SentOrder, unknown>> | null
  if (typeof kept?.orderId !== 'string' || !Array.isArray(kept.items)) return null
  const { orderId, items, replaces } = kept
  return { orderId, items: items as OrderItem[], ...(typeof replaces === 'string' ? { replaces } : {}) }
}

const same = (one: OrderItem[], other: OrderItem[]) => JSON.stringify(one) === JSON.stringify(other)

/** The order for the cart. */
export function orderOf(items: CartItem[]): SentOrder {
  const kept = keptOrder()
  if (kept && same(kept.items, wanted(items))) return kept
  const order = {
    orderId: uuidV7(),
    items: wanted(items),
    ...(kept ? { replaces: kept.replaces ?? kept.orderId } : {}),
  }
  session.set(orderKey, JSON.stringify(order))
  return order
}

/** The cart is wanted in addition to its earlier order: the next order is a separate one. */
export function forgetSentOrder(): void {
  session.remove(orderKey)
}

/** Empties the cart of a paid order. A cart that was filled since stays. */
export function forgetOrdered(orderId: string): void {
  const kept = keptOrder()
  if (kept?.orderId !== orderId) return
  session.remove(orderKey)
  if (same(kept.items, wanted(currentCart()))) clearCart()
}
