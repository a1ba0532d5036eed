import type { MembershipPlan } from './auth.ts'
import type { LevelClassType } from './enrollment.ts'
import { type ProductSku, type ProductState, robotSpider, teddyBear } from './products.ts'

/*
 * The prices on the first day, in US cents. They seed the price book, which is the source of truth from then on. The shop shows
 * them until its response arrives; membership prices are shown only as the price book has them.
 */

export const openingClassPrices: Record<LevelClassType, number> = {
  basic: 40_000,
  intermediate: 50_000,
  advanced: 75_000,
  custom: 100_000,
}

export const openingMembershipPrices: Record<MembershipPlan, number> = { monthly: 700, yearly: 6_000 }

export const openingProducts: Record<ProductSku, { name: string; state: ProductState; amount: number }> = {
  [robotSpider]: { name: 'Robot Spider', state: 'pre_order', amount: 30_000 },
  [teddyBear]: { name: 'AI Teddy Bear Companion', state: 'coming_soon', amount: 15_000 },
}
