import { classSku, pricesSchema } from '@robokids/contracts/billing'
import { levelClassTypes } from '@robokids/contracts/enrollment'
import { productsSchema, type ShopView } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { Services } from '../upstream.ts'

/** The shop's products, and the price of the cheapest class. */
export async function shopView({ billing }: Services): Promise<ShopView> {
  const [{ products }, { prices }] = await Promise.all([
    billing.call('GET', '/products', { answer: productsSchema }),
    billing.call('GET', '/prices', { answer: pricesSchema }),
  ])
  const classSkus = levelClassTypes.map(classSku)
  const [cheapest] = prices.filter(({ sku }) => classSkus.includes(sku)).toSorted((a, b) => a.amount - b.amount)
  if (!cheapest) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
  return { products, classesFrom: { amount: cheapest.amount, currency: cheapest.currency } }
}
