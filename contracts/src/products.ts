/* In a file without zod, which the shop's page does not load. */

/** The states of a product: in stock, on pre-order, shown only, or no longer sold. */
export const productStates = ['available', 'pre_order', 'coming_soon', 'withdrawn'] as const
export type ProductState = (typeof productStates)[number]

/** Returns whether a product in this state can be ordered. */
export function canBeBought(state: ProductState): boolean {
  return state === 'available' || state === 'pre_order'
}

/** Returns whether a stock alert can be requested: the product is not in stock but may become so. */
export function canRequestStockAlert(state: ProductState): boolean {
  return state === 'pre_order' || state === 'coming_soon'
}

/* SKUs in the price book. */
export const robotSpider = 'product:robot-spider'
export const teddyBear = 'product:ai-teddy-bear'
export type ProductSku = typeof robotSpider | typeof teddyBear

/** The maximum quantity per product in an order. */
export const maxQuantity = 10
/** The maximum number of different products in an order. */
export const maxLines = 20
