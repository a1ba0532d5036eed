/** Prices and products: those that a Checkout Session's inline `price_data` makes. Both can be retrieved. */
import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import { newId } from './ids.ts'
import { expandParam } from './params.ts'
import { get, type Routes } from './routes.ts'
import type { Metadata, Price, Product } from './types.ts'

export interface ProductFields {
  name: string
  description: string | null
  images: string[]
  metadata: Metadata
}

export function createProduct(ctx: Context, fields: ProductFields): Product {
  const now = ctx.clock.seconds()
  const product: Product = {
    id: newId('prod_'),
    object: 'product',
    // A product made inline is not for sale elsewhere.
    active: false,
    created: now,
    default_price: null,
    description: fields.description,
    images: fields.images,
    livemode: false,
    marketing_features: [],
    metadata: fields.metadata,
    name: fields.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: now,
    url: null,
  }
  ctx.store.products.set(product.id, product)
  return product
}

export interface PriceFields {
  currency: string
  unitAmount: number
  product: string
  /** Null for what is paid once. */
  recurring: { interval: 'day' | 'week' | 'month' | 'year'; count: number } | null
}

export function createPrice(ctx: Context, fields: PriceFields): Price {
  const { recurring } = fields
  const price: Price = {
    id: newId('price_1'),
    object: 'price',
    active: false,
    billing_scheme: 'per_unit',
    created: ctx.clock.seconds(),
    currency: fields.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product: fields.product,
    recurring: recurring && {
      interval: recurring.interval,
      interval_count: recurring.count,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring === null ? 'one_time' : 'recurring',
    unit_amount: fields.unitAmount,
    unit_amount_decimal: String(fields.unitAmount),
  }
  ctx.store.prices.set(price.id, price)
  return price
}

export const priceRoutes: Routes = (route) => {
  route(
    get('/v1/prices/:id', expandParam, (ctx, _params, { id }) => {
      const price = ctx.store.prices.get(id)
      if (price === undefined) throw noSuch('price', id, 'price')
      return price
    }),
  )
  route(
    get('/v1/products/:id', expandParam, (ctx, _params, { id }) => {
      const product = ctx.store.products.get(id)
      if (product === undefined) throw noSuch('product', id, 'id')
      return product
    }),
  )
}
