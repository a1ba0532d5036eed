import { recurringPriceData } from '../prices/line-items.ts'
import { createPrice, requireActive } from '../prices/prices.ts'
import { invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import {
  integer,
  mergeMetadata,
  metadata,
  notSimulated,
  object,
  optional,
  string,
  type Decoded,
} from '../protocol/params.ts'
import type { Metadata, Price, SubscriptionItem } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'

export const newItemParams = object({
  billing_thresholds: notSimulated(''),
  discounts: notSimulated(''),
  metadata: optional(metadata()),
  plan: notSimulated(),
  price: optional(string()),
  price_data: optional(recurringPriceData),
  quantity: optional(integer(1, 999_999)),
  tax_rates: notSimulated(''),
})

/**
 * Resolves the recurring price of a request, by id or inline.
 * @param kept ids of prices in use: they are allowed although no longer for sale
 */
export function recurringPrice(
  ctx: Context,
  given: Pick<Decoded<typeof newItemParams>, 'price' | 'price_data'>,
  param: string,
  kept: readonly string[] = [],
): Price | undefined {
  if (given.price !== undefined && given.price_data !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: price, price_data.', { param })
  }
  if (given.price_data !== undefined) {
    const { currency, product, recurring, unit_amount: unitAmount } = given.price_data
    if (!ctx.store.products.has(product)) throw noSuchReference('product', product, `${param}[price_data][product]`)
    return createPrice(ctx, {
      currency,
      unitAmount,
      product,
      recurring: { interval: recurring.interval, count: recurring.interval_count ?? 1 },
    })
  }
  if (given.price === undefined) return undefined
  const price = ctx.store.prices.get(given.price)
  if (price === undefined) throw noSuchReference('price', given.price, `${param}[price]`)
  if (price.recurring === null) {
    throw invalidRequest(
      `The price specified is set to \`type=one_time\` but this field only accepts prices with \`type=recurring\`.`,
      { param: `${param}[price]` },
    )
  }
  if (!kept.includes(price.id)) requireActive(ctx, price, `${param}[price]`)
  return price
}

export function createItem(
  subscription: string,
  of: { price: Price; quantity: number; metadata?: Metadata },
  period: { start: number; end: number },
  now: number,
): SubscriptionItem {
  return {
    id: newId('si_'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: now,
    current_period_end: period.end,
    current_period_start: period.start,
    current_trial: null,
    discounts: [],
    metadata: mergeMetadata({}, of.metadata),
    plan: planOf(of.price),
    price: of.price,
    quantity: of.quantity,
    subscription,
    tax_rates: [],
  }
}

/** The price in the older shape of a plan. */
export function planOf(price: Price): SubscriptionItem['plan'] {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: idOf(price.product),
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  }
}
