import type { Prices } from '@robokids/contracts/billing'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, gt, isNull, lte, or } from 'drizzle-orm'
import { promotionInForce } from './rules.ts'
import { priceBook, promotions } from '../schema.ts'

/** Matches the prices in force at `now`. */
export function inForce(now: Temporal.Instant) {
  return and(lte(priceBook.validFrom, now), or(isNull(priceBook.validTo), gt(priceBook.validTo, now)))
}

/** Returns the price of a sku at `now`, in cents, or undefined if it is not for sale. */
export async function findPrice(tx: Transaction, sku: string, now: Temporal.Instant): Promise<number | undefined> {
  const [row] = await tx
    .select({ amount: priceBook.amount })
    .from(priceBook)
    .where(and(eq(priceBook.sku, sku), inForce(now)))
  return row?.amount
}

/** Returns all prices at `now`, with the promotion in force. */
export async function readPrices(db: Database, now: Temporal.Instant): Promise<Prices> {
  const prices = await db
    .select({ sku: priceBook.sku, amount: priceBook.amount, currency: priceBook.currency })
    .from(priceBook)
    .where(inForce(now))
    .orderBy(asc(priceBook.sku))
  const promotion = promotionInForce(await db.select().from(promotions), now)
  return {
    prices,
    promotions: (promotion ? [promotion] : []).map(({ id, kind, classTypes, startsAt, endsAt }) => ({
      promotionId: id,
      kind,
      classTypes,
      startsAt: startsAt.toString(),
      endsAt: endsAt.toString(),
    })),
  }
}
