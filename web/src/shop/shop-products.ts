import { type ProductSku, type ProductState, robotSpider, teddyBear } from '@robokids/contracts/products'
import type { Accent } from '../ui/Card.tsx'
import type { DrawingName } from '../ui/drawing-names.ts'

export interface ShopProduct {
  sku: ProductSku
  drawing: DrawingName
  accent: Accent
  text: string
  /** Contents or features. */
  points: string[]
  /** A note beside its actions. */
  mark?: string
  /** Whole dollars are shown without cents. */
  wholePrice: boolean
}

export const classKits = {
  name: 'Robo Kids All Class Levels',
  note: 'Kit styles may vary',
  text: 'Every class comes with its kit: the robot, its board and all the parts for the sessions, shipped to your home across the U.S.',
  points: ['Four levels, for ages 7 to 16', 'Live coaching in groups of 5 to 10', 'The kit is yours to keep'],
}

export const shopProducts: readonly ShopProduct[] = [
  {
    sku: teddyBear,
    drawing: 'bear',
    accent: 'violet',
    text: 'A soft bear with a small computer inside, for children who like to know how a companion thinks.',
    points: ['Soft outside, a robot inside', 'We’ll tell you first when you can order it'],
    wholePrice: false,
  },
  {
    sku: robotSpider,
    drawing: 'spider',
    accent: 'orange',
    text: 'Eight jointed legs and a friendly face. Coming soon: pre-order yours, and we’ll ship it as soon as it’s made.',
    points: ['In final production now', 'Shipped to your home within the U.S.'],
    mark: 'Final production',
    wholePrice: true,
  },
]

export const stateNames: Record<ProductState, string> = {
  available: 'In stock',
  pre_order: 'Pre-order',
  coming_soon: 'Coming soon',
  withdrawn: 'No longer sold',
}
