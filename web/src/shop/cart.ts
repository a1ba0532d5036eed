import { maxLines, maxQuantity } from '@robokids/contracts/products'
import { useSyncExternalStore } from 'react'
import { session } from '../browser/storage.ts'

/** As it is kept: `price` in dollars. Left out, `quantity` is 1. */
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

/** What of a kept cart can be understood: each product once. */
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

/** The cart as it is now. */
export function currentCart(): CartItem[] {
  const text = session.get(cartKey)
  if (text !== last.text) last = { text, items: readCart(text) }
  return last.items
}

/** How many things are in it. */
export function inCart(): number {
  return currentCart().reduce((sum, { quantity }) => sum + quantity, 0)
}

function keep(items: CartItem[]): void {
  if (items.length === 0) session.remove(cartKey)
  else session.set(cartKey, JSON.stringify(items))
  // Also for the frame, which every page has, and which would not load all this to listen.
  window.dispatchEvent(new Event('cart'))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('cart', listener)
  return () => window.removeEventListener('cart', listener)
}

/** The cart of this visit; empty where the page is prerendered, and in the first moment of hydration. */
export function useCart(): CartItem[] {
  return useSyncExternalStore(subscribe, currentCart, () => nothing)
}

/** One more of it. @returns how many there are now, or null where there is no room for more */
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

/** As it was before something was taken out of it. */
export function restoreCart(items: CartItem[]): void {
  keep(items)
}
