import type { Product } from '@robokids/contracts/shop'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq } from 'drizzle-orm'
import { inForce } from './read-prices.ts'
import { priceBook, products } from '../schema.ts'

/** Returns the products with their prices at `now`, except those without a price. */
export async function readProducts(db: Database | Transaction, now: Temporal.Instant): Promise<Product[]> {
  return db
    .select({
      sku: products.sku,
      name: products.name,
      state: products.state,
      amount: priceBook.amount,
      currency: priceBook.currency,
    })
    .from(products)
    .innerJoin(priceBook, and(eq(priceBook.sku, products.sku), inForce(now)))
    .orderBy(asc(products.sku))
}
