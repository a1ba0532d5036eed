import { membershipPlans } from '@robokids/contracts/auth'
import { classSku, membershipSku } from '@robokids/contracts/billing'
import { productSku, type ProductState } from '@robokids/contracts/shop'
import type { Clock } from '@robokids/runtime/clock'
import type { Database } from '@robokids/runtime/db'
import { businessDay, seasonIsAhead, seasonPromotion, siblingPromotion } from './rules.ts'
import { counters, priceBook, products, promotions } from './schema.ts'

/** 2025 began in California. */
const pricesSince = Temporal.Instant.from('2025-01-01T08:00:00Z')
const classPrices = { basic: 40_000, intermediate: 50_000, advanced: 75_000, custom: 100_000 }

const membershipPrices = { monthly: 700, yearly: 6_000 }

const shopProducts: { product: string; name: string; state: ProductState; amount: number }[] = [
  { product: 'robot-spider', name: 'Robot Spider', state: 'pre_order', amount: 30_000 },
  { product: 'ai-teddy-bear', name: 'AI Teddy Bear Companion', state: 'coming_soon', amount: 15_000 },
]

const fall2025 = siblingPromotion(
  'sibling-free-2025-fall',
  Temporal.PlainDate.from('2025-08-23'),
  Temporal.PlainDate.from('2025-10-10'),
)

/** Writes the prices, products and promotions that must exist. Safe at every start: what is there, changed or not, stays as it is. */
export async function seed(db: Database, clock: Clock): Promise<void> {
  const amounts = [
    ...Object.entries(classPrices).map(([classType, amount]) => [classSku(classType), amount] as const),
    ...membershipPlans.map((plan) => [membershipSku(plan), membershipPrices[plan]] as const),
    ...shopProducts.map(({ product, amount }) => [productSku(product), amount] as const),
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
    .values(shopProducts.map(({ product, name, state }) => ({ sku: productSku(product), name, state })))
    .onConflictDoNothing()
  await db.insert(counters).values({ name: 'receipt', value: 0 }).onConflictDoNothing()
  await db.insert(promotions).values(fall2025).onConflictDoNothing()
  const today = businessDay(clock.now())
  const known = await db.select({ id: promotions.id }).from(promotions)
  if (known.some(({ id }) => seasonIsAhead(id, today))) return
  await db.insert(promotions).values(seasonPromotion(today)).onConflictDoNothing()
}
