import { robotSpider, teddyBear } from '@robokids/contracts/products'
import { productStates } from '@robokids/contracts/shop'
import * as fc from 'fast-check'
import { operation } from '../operation.ts'

const skus = ['class:basic', 'class:custom', 'membership:monthly', 'membership:yearly', robotSpider, teddyBear]

export const catalogueOperations = [
  operation('a price changes', {
    args: fc.record({ sku: fc.constantFrom(...skus), amount: fc.integer({ min: 5, max: 30 }) }),
    async run(walk, { sku, amount }) {
      walk.world.pricesChanged()
      await walk.operate('billing', 'POST', '/admin/prices', { sku, amount: amount * 100 })
    },
  }),

  operation('a product changes its state', {
    args: fc.record({ sku: fc.constantFrom(robotSpider, teddyBear), state: fc.constantFrom(...productStates) }),
    async run(walk, { sku, state }) {
      walk.world.pricesChanged()
      await walk.operate('billing', 'POST', '/admin/products', { sku, state })
    },
  }),
]
