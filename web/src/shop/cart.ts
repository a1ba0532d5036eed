import { maxLines, maxQuantity } from '@robokids/contracts/products'
import { useSyncExternalStore } from 'react'
import { session } from '../browser/storage.ts'

/** As stored: `price` in dollars; `quantity` defaults to 1. */
export interface CartItem {
  id: string
  name: string
  price: number
  quantity: number
}

const cartKey = 'cart'

const nothing: CartItem[] = []

function itemOf(value: unknown): CartItem | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { id, name, price, quantity = 1 } = value as Record<string, unknown>
  if (typeof id !== 'string' || id === '' || typeof name !== 'string') return undefined
  if (typeof price !== 'number' || !Number.isFinite(price) || price < 0) return undefined
  if (!Number.isSafeInteger(quantity) || Number(quantity) < 1) return undefined
  return { id, name, price, quantity: Math.min(Number(quantity), maxQuantity) }
}

export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

/** The valid items of a stored cart, each product once. */
export function readCart(text: string | null): CartItem[] {
  const kept = parseJson(text)
  if (!Array.isArray(kept)) return nothing
  const items = new Map<string, CartItem>()
  for (const value of kept) {
    const item = itemOf(value)
    if (!item) continue
    const known = items.get(item.id)
    if (known) known.quantity = Math.min(known.quantity + item.quantity, maxQuantity)
    else if (items.size < maxLines) items.set(item.id, item)
  }
  return items.size > 0 ? [...items.values()] : nothing
}

let last: { text: string | null; items: CartItem[] } = { text: null, items: nothing }

/** The current cart. */
export function currentCart(): CartItem[] {
  const text = session.get(cartKey)
  if (text !== last.text) last = { text, items: readCart(text) }
  return last.items
}

/** The number of items. */
export function inCart(): number {
  return currentCart().reduce((sum, { quantity }) => sum + quantity, 0)
}

function keep(items: CartItem[]): void {
  if (items.length === 0) session.remove(cartKey)
  else session.set(cartKey, JSON.stringify(items))
  // Also notifies the frame, which is on every page and does not import this module.
  window.dispatchEvent(new Event('cart'))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('cart', listener)
  return () => window.removeEventListener('cart', listener)
}

/** The cart of this visit; empty in prerendered pages and during hydration. */
export function useCart(): CartItem[] {
  return useSyncExternalStore(subscribe, currentCart, () => nothing)
}

/** Adds one. @returns the new quantity, or null if the limit is reached */
export function addToCart(product: { sku: string; name: string; amount: number }): number | null {
  const items = currentCart()
  const known = items.find(({ id }) => id === product.sku)
  if (known ? known.quantity >= maxQuantity : items.length >= maxLines) return null
  const quantity = (known?.quantity ?? 0) + 1
  const item = { id: product.sku, name: product.name, price: product.amount / 100, quantity }
  keep(known ? items.map((one) => (one === known ? item : one)) : [...items, item])
  return quantity
}

export function removeFromCart(id: string): void {
  keep(currentCart().filter((item) => item.id !== id))
}

export function clearCart(): void {
  keep(nothing)
}

/** Restores the cart as it was before a removal. */
export function restoreCart(items: CartItem[]): void {
  keep(items)
}
