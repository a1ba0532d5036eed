import { pricesChanged, type SetPrice } from '@robokids/contracts/billing'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { priceBook } from '../schema.ts'

export function pricesChangedData(skus: string[], changedAt: Temporal.Instant) {
  return { skus, changedAt: changedAt.toString({ fractionalSecondDigits: 3 }) }
}

/**
 * Sets a price from now or a later instant until the next price that is already in the book. Open checkouts keep the agreed
 * price.
 */
export async function setPrice({ db, clock }: BillingContext, { sku, amount, validFrom }: SetPrice): Promise<void> {
  await db.transaction(async (tx) => {
    // One at a time. The rows are read after taking the lock, to include those of its previous holder.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('price_book'))`)
    const rows = await tx.select().from(priceBook).where(eq(priceBook.sku, sku)).orderBy(asc(priceBook.validFrom))
    if (rows.length === 0)
      throw new DomainError('validation_failed', `There is nothing called ${sku} in the price book.`)
    const now = clock.now().round({ smallestUnit: 'millisecond', roundingMode: 'floor' })
    const from = validFrom === undefined ? now : Temporal.Instant.from(validFrom)
    if (Temporal.Instant.compare(from, now) < 0) {
      throw new DomainError('validation_failed', 'A price cannot be changed for a time in the past.')
    }
    const before = rows.findLast((row) => Temporal.Instant.compare(row.validFrom, from) < 0)
    const after = rows.find((row) => Temporal.Instant.compare(row.validFrom, from) > 0)
    if (before) {
      await tx
        .update(priceBook)
        .set({ validTo: from })
        .where(and(eq(priceBook.sku, sku), eq(priceBook.validFrom, before.validFrom)))
    }
    await tx
      .insert(priceBook)
      .values({ sku, amount, currency: 'usd', validFrom: from, validTo: after?.validFrom ?? null })
      .onConflictDoUpdate({ target: [priceBook.sku, priceBook.validFrom], set: { amount } })
    // A later price publishes nothing, now or when it takes effect: consumers cache prices for a few seconds only.
    if (Temporal.Instant.compare(from, now) === 0) await publish(tx, pricesChanged, sku, pricesChangedData([sku], now))
  })
}
