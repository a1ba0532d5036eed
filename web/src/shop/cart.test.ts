import { describe, expect, it } from 'vitest'
import { readCart } from './cart.ts'

const spider = { id: 'product:robot-spider', name: 'Robot Spider', price: 300 }

describe('a kept cart', () => {
  it('is read as it was kept, an item without a quantity being one', () => {
    expect(readCart(JSON.stringify([spider]))).toEqual([{ ...spider, quantity: 1 }])
    expect(readCart(JSON.stringify([{ ...spider, quantity: 3 }]))).toEqual([{ ...spider, quantity: 3 }])
  })

  it('has each product once, and no more of it than one order can have', () => {
    expect(readCart(JSON.stringify([spider, spider]))).toEqual([{ ...spider, quantity: 2 }])
    expect(readCart(JSON.stringify([{ ...spider, quantity: 999 }, spider]))).toEqual([{ ...spider, quantity: 10 }])
    const many = Array.from({ length: 50 }, (_, at) => ({ ...spider, id: `product:p${at}` }))
    expect(readCart(JSON.stringify(many))).toHaveLength(20)
  })

  it.each([null, '', '{', 'null', '7', '"x"', '{"0":{}}', '[null]', '[[]]'])('is empty where it says %j', (text) => {
    expect(readCart(text)).toEqual([])
  })

  it.each([
    { id: '' },
    { id: 7 },
    { name: null },
    { price: '300' },
    { price: -1 },
    { price: null },
    { quantity: 0 },
    { quantity: 1.5 },
    { quantity: '2' },
  ])('leaves out an item with %o, and keeps the others', (wrong) => {
    const other = { ...spider, id: 'product:other' }
    expect(readCart(JSON.stringify([{ ...spider, ...wrong }, other]))).toEqual([{ ...other, quantity: 1 }])
  })
})
