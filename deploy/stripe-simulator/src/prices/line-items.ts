import { currency, maxAmount } from '../protocol/currency.ts'
import { invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import {
  httpUrl,
  integer,
  list,
  mergeMetadata,
  metadata,
  missing,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  type Decoded,
} from '../protocol/params.ts'
import type { LineItem, Price } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { createPrice, createProduct, requireActive } from './prices.ts'

const recurring = object({
  interval: oneOf(['day', 'week', 'month', 'year']),
  interval_count: optional(integer(1, 1095)),
})

/** The inline price of a subscription's item. */
export const recurringPriceData = object({
  currency,
  product: string(),
  recurring,
  tax_behavior: optional(oneOf(['exclusive', 'inclusive', 'unspecified'])),
  unit_amount: integer(0, maxAmount),
  unit_amount_decimal: notSimulated(),
})

export const lineItemParams = object({
  adjustable_quantity: optional(object({ enabled: notSimulated('false') })),
  metadata: optional(metadata()),
  price: optional(string()),
  price_data: optional(
    object({
      currency,
      product: optional(string()),
      product_data: optional(
        object({
          description: optional(string()),
          images: optional(list(httpUrl(), 8)),
          metadata: optional(metadata()),
          name: string(),
          tax_code: optional(string()),
          tax_details: notSimulated(),
          unit_label: optional(string()),
        }),
      ),
      recurring: optional(recurring),
      tax_behavior: optional(oneOf(['exclusive', 'inclusive', 'unspecified'])),
      unit_amount: optional(integer(0, maxAmount)),
      unit_amount_decimal: notSimulated(),
    }),
  ),
  quantity: optional(integer(1, 999_999)),
  tax_rates: notSimulated(''),
})

type LineItemParams = Decoded<typeof lineItemParams>

export function createLineItem(ctx: Context, params: LineItemParams, param: string): LineItem {
  if (params.quantity === undefined) throw missing(`${param}[quantity]`)
  const price = priceOf(ctx, params, param)
  const amount = (price.unit_amount ?? 0) * params.quantity
  const productId = typeof price.product === 'string' ? price.product : price.product.id
  return {
    id: newId('li_1'),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: price.currency,
    description: ctx.store.products.get(productId)?.name ?? null,
    metadata: mergeMetadata({}, params.metadata),
    price,
    quantity: params.quantity,
  }
}

function priceOf(ctx: Context, params: LineItemParams, param: string): Price {
  const { price, price_data: data } = params
  if (price !== undefined && data !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: price, price_data.', { param })
  }
  if (price !== undefined) {
    const found = ctx.store.prices.get(price)
    if (found === undefined) throw noSuchReference('price', price, `${param}[price]`)
    requireActive(ctx, found, `${param}[price]`)
    return found
  }
  if (data === undefined) {
    throw invalidRequest(`You must specify either \`price\` or \`price_data\` for \`${param}\`.`, {
      code: 'parameter_missing',
      param: `${param}[price]`,
    })
  }
  if (data.unit_amount === undefined) throw missing(`${param}[price_data][unit_amount]`)
  if (data.product !== undefined && !ctx.store.products.has(data.product)) {
    throw noSuchReference('product', data.product, `${param}[price_data][product]`)
  }
  if (data.product === undefined && data.product_data === undefined) {
    throw missing(`${param}[price_data][product]`)
  }
  const product =
    data.product ??
    createProduct(ctx, {
      name: data.product_data?.name ?? '',
      description: data.product_data?.description ?? null,
      images: data.product_data?.images ?? [],
      metadata: mergeMetadata({}, data.product_data?.metadata),
    }).id
  const { recurring } = data
  return createPrice(ctx, {
    currency: data.currency,
    unitAmount: data.unit_amount,
    product,
    recurring: recurring === undefined ? null : { interval: recurring.interval, count: recurring.interval_count ?? 1 },
  })
}
