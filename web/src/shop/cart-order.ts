import type { OrderItem } from '@robokids/contracts/shop'
import { uuidV7 } from '../registration/uuid-v7.ts'
import { session } from '../storage.ts'
import { type CartItem, clearCart, currentCart, parseJson } from './cart.ts'

/** The order that the cart was last sent as: the same cart is the same order, however often it is sent. */
const orderKey = 'cart-order'

const wanted = (items: CartItem[]): OrderItem[] => items.map(({ id, quantity }) => ({ sku: id, quantity }))

function keptOrder(): { orderId: string; items: OrderItem[] } | null {
  const kept = parseJson(session.get(orderKey)) as { orderId?: unknown; items?: unknown } | null
  if (typeof kept?.orderId !== 'string' || !Array.isArray(kept.items)) return null
  return { orderId: kept.orderId, items: kept.items as OrderItem[] }
}

const same = (one: OrderItem[], other: OrderItem[]) => JSON.stringify(one) === JSON.stringify(other)

/** What the cart is sent as. */
export function orderOf(items: CartItem[]): { orderId: string; items: OrderItem[] } {
  const order = { orderId: uuidV7(), items: wanted(items) }
  const kept = keptOrder()
  if (kept && same(kept.items, order.items)) return kept
  session.set(orderKey, JSON.stringify(order))
  return order
}

/** An order is paid: what it was made of is not wanted any more. A cart that was filled since stays. */
export function forgetOrdered(orderId: string): void {
  const kept = keptOrder()
  if (kept?.orderId !== orderId) return
  session.remove(orderKey)
  if (same(kept.items, wanted(currentCart()))) clearCart()
}
