import type { MembershipPlan } from './auth.ts'
import type { LevelClassType } from './enrollment.ts'
import { type ProductSku, type ProductState, robotSpider, teddyBear } from './products.ts'

/*
 * What things cost on the first day, in cents of US dollars. The price book begins with it, and from then on it alone says
 * what is true. The shop shows this until it has answered; what renews by itself is shown as the price book has it, or not.
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
