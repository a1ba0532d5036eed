/* What can be said of a product without a schema: the shop's page has no need of those. */

/** What can be done about a product: it is in stock, it is ordered ahead of its making, it is only shown, or it is gone. */
export const productStates = ['available', 'pre_order', 'coming_soon', 'withdrawn'] as const
export type ProductState = (typeof productStates)[number]

/** Whether a product in this state can be put into an order. */
export function canBeBought(state: ProductState): boolean {
  return state === 'available' || state === 'pre_order'
}

/** Whether there is news to wait for: a product that is not in stock, and may come to be. */
export function canBeAwaited(state: ProductState): boolean {
  return state === 'pre_order' || state === 'coming_soon'
}

/* The price book's names. */
export const robotSpider = 'product:robot-spider'
export const teddyBear = 'product:ai-teddy-bear'
export type ProductSku = typeof robotSpider | typeof teddyBear

/** Of one product in one order. */
export const maxQuantity = 10
/** Different products in one order. */
export const maxLines = 20
