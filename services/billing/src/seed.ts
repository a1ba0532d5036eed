import { membershipPlans } from '@robokids/contracts/auth'
import { classSku, membershipSku } from '@robokids/contracts/billing'
import { openingClassPrices, openingMembershipPrices, openingProducts } from '@robokids/contracts/opening-prices'
import type { Database } from '@robokids/runtime/db'
import { siblingPromotion } from './prices/rules.ts'
import { counters, priceBook, products, promotions } from './schema.ts'

/** The start of 2025 in California. */
const pricesSince = Temporal.Instant.from('2025-01-01T08:00:00Z')

const fall2025 = siblingPromotion(
  'sibling-free-2025-fall',
  Temporal.PlainDate.from('2025-08-23'),
  Temporal.PlainDate.from('2025-10-10'),
)

/**
 * Writes the prices, the products and the past promotion. Safe at every start: existing rows stay unchanged. Later seasons
 * bring their own promotions: `promoteSeason`.
 */
export async function seed(db: Database): Promise<void> {
  const amounts = [
    ...Object.entries(openingClassPrices).map(([classType, amount]) => [classSku(classType), amount] as const),
    ...membershipPlans.map((plan) => [membershipSku(plan), openingMembershipPrices[plan]] as const),
    ...Object.entries(openingProducts).map(([sku, { amount }]) => [sku, amount] as const),
  ]
  const prices = amounts.map(([sku, amount]) => ({
    sku,
    amount,
    currency: 'usd' as const,
    validFrom: pricesSince,
  }))
  await db.insert(priceBook).values(prices).onConflictDoNothing()
  await db
    .insert(products)
    .values(Object.entries(openingProducts).map(([sku, { name, state }]) => ({ sku, name, state })))
    .onConflictDoNothing()
  await db.insert(counters).values({ name: 'receipt', value: 0 }).onConflictDoNothing()
  await db.insert(promotions).values(fall2025).onConflictDoNothing()
}
