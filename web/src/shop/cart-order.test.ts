import { afterEach, describe, expect, it, vi } from 'vitest'
import { orderOf } from './cart-order.ts'

const spiders = (quantity: number) => [{ id: 'product:robot-spider', name: 'Robot Spider', price: 300, quantity }]

function withStorage() {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  }
  vi.stubGlobal('window', { sessionStorage: storage })
  vi.stubGlobal('sessionStorage', storage)
}

afterEach(() => vi.unstubAllGlobals())

describe('what a cart is sent as', () => {
  it('stays the same as long as the cart does', () => {
    withStorage()
    const first = orderOf(spiders(1))
    expect(first).toEqual({ orderId: first.orderId, items: [{ sku: 'product:robot-spider', quantity: 1 }] })
    expect(orderOf(spiders(1))).toEqual(first)
  })

  it('names in each change what the cart was sent as first', () => {
    withStorage()
    const first = orderOf(spiders(1))
    const second = orderOf(spiders(2))
    expect(second.orderId).not.toBe(first.orderId)
    expect(second).toMatchObject({ items: [{ quantity: 2 }], replaces: first.orderId })
    expect(orderOf(spiders(2))).toEqual(second)
    const third = orderOf(spiders(1))
    expect([first.orderId, second.orderId]).not.toContain(third.orderId)
    expect(third).toMatchObject({ replaces: first.orderId })
  })
})
