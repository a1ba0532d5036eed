import { currency, maxAmount } from '../protocol/currency.ts'
import { existingIn, invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import {
  boolean,
  clearable,
  expandParam,
  httpUrl,
  integer,
  list,
  listParams,
  mergeMetadata,
  metadata,
  missing,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  timeRange,
  type Decoded,
} from '../protocol/params.ts'
import type { Metadata, Price, Product } from '../protocol/types.ts'
/** Prices and products, created by requests or by a Checkout Session's inline `price_data`. */
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'

export interface ProductFields {
  name: string
  description: string | null
  images: string[]
  metadata: Metadata
  /** Default: an inline product, which is not for sale elsewhere. */
  active?: boolean
  id?: string | undefined
}

export function createProduct(ctx: Context, fields: ProductFields): Product {
  const now = ctx.clock.seconds()
  const product: Product = {
    id: fields.id ?? newId('prod_'),
    object: 'product',
    active: fields.active ?? false,
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
  /** Null for one-time prices. */
  recurring: { interval: 'day' | 'week' | 'month' | 'year'; count: number } | null
  active?: boolean
  lookupKey?: string | null
  metadata?: Metadata
  nickname?: string | null
  taxBehavior?: Price['tax_behavior'] | undefined
}

export function createPrice(ctx: Context, fields: PriceFields): Price {
  const { recurring } = fields
  const price: Price = {
    id: newId('price_1'),
    object: 'price',
    active: fields.active ?? false,
    billing_scheme: 'per_unit',
    created: ctx.clock.seconds(),
    currency: fields.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: fields.lookupKey ?? null,
    metadata: fields.metadata ?? {},
    nickname: fields.nickname ?? null,
    product: fields.product,
    recurring: recurring && {
      interval: recurring.interval,
      interval_count: recurring.count,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: fields.taxBehavior ?? 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring === null ? 'one_time' : 'recurring',
    unit_amount: fields.unitAmount,
    unit_amount_decimal: String(fields.unitAmount),
  }
  ctx.store.prices.set(price.id, price)
  return price
}

function existingPrice({ store }: Context, id: string): Price {
  return existingIn(store.prices, id, 'price', 'price')
}

function existingProduct({ store }: Context, id: string): Product {
  return existingIn(store.products, id, 'product', 'id')
}

/** @throws ApiError 400 if a price is no longer for sale */
export function requireActive(ctx: Context, price: Price, param: string): void {
  if (!price.active) {
    throw invalidRequest('The price specified is inactive. This field only accepts active prices.', { param })
  }
  if (ctx.store.products.get(idOf(price.product))?.active === false) {
    throw invalidRequest(`Price \`${price.id}\` is not available to be purchased because its product is not active.`, {
      param,
    })
  }
}

/** A lookup key belongs to one price at a time. */
function claimLookupKey(ctx: Context, key: string | null | undefined, transfers: boolean | undefined): void {
  if (key === undefined || key === null) return
  const holder = [...ctx.store.prices.values()].find((price) => price.lookup_key === key)
  if (holder === undefined) return
  if (transfers !== true) {
    throw invalidRequest(
      `A price (\`${holder.id}\`) already uses that lookup key. Pass \`transfer_lookup_key=true\` to transfer it.`,
      { code: 'resource_already_exists', param: 'lookup_key' },
    )
  }
  holder.lookup_key = null
  ctx.store.save(holder)
}

const recurring = object({
  interval: oneOf(['day', 'week', 'month', 'year']),
  interval_count: optional(integer(1, 1095)),
  usage_type: optional(oneOf(['licensed'])),
})

function recurrence(given: Decoded<typeof recurring> | undefined): PriceFields['recurring'] {
  return given === undefined ? null : { interval: given.interval, count: given.interval_count ?? 1 }
}

const taxBehavior = optional(oneOf(['exclusive', 'inclusive', 'unspecified']))

const productFields = {
  active: optional(boolean()),
  description: optional(clearable(string())),
  images: optional(clearable(list(httpUrl(), 8))),
  metadata: optional(metadata()),
  url: optional(clearable(httpUrl())),
  unit_label: optional(clearable(string(12))),
}

export const priceRoutes: Routes = (route) => {
  route(
    post(
      '/v1/products',
      {
        ...expandParam,
        ...productFields,
        default_price_data: optional(
          object({
            currency,
            currency_options: notSimulated(),
            custom_unit_amount: notSimulated(),
            metadata: optional(metadata()),
            recurring: optional(recurring),
            tax_behavior: taxBehavior,
            unit_amount: optional(integer(0, maxAmount)),
            unit_amount_decimal: notSimulated(),
          }),
        ),
        id: optional(string(255)),
        name: string(250),
      },
      (ctx, params, _path, cause) => {
        const { default_price_data: data } = params
        if (data !== undefined && data.unit_amount === undefined) throw missing('default_price_data[unit_amount]')
        if (params.id !== undefined && ctx.store.products.has(params.id)) {
          throw invalidRequest('Product already exists.', { code: 'resource_already_exists', param: 'id' })
        }
        const product = createProduct(ctx, {
          active: params.active ?? true,
          description: params.description ?? null,
          id: params.id,
          images: params.images ?? [],
          metadata: mergeMetadata({}, params.metadata),
          name: params.name,
        })
        product.url = params.url ?? null
        product.unit_label = params.unit_label ?? null
        if (data === undefined) {
          emit(ctx, 'product.created', product, cause)
          return product
        }
        const price = createPrice(ctx, {
          active: true,
          currency: data.currency,
          metadata: mergeMetadata({}, data.metadata),
          product: product.id,
          recurring: recurrence(data.recurring),
          taxBehavior: data.tax_behavior,
          unitAmount: data.unit_amount ?? 0,
        })
        product.default_price = price.id
        emit(ctx, 'product.created', product, cause)
        emit(ctx, 'price.created', price, cause)
        return product
      },
    ),
  )

  route(
    get(
      '/v1/products',
      { ...listParams, active: optional(boolean()), created: timeRange(), ids: optional(list(string())) },
      (ctx, { active, created, ids, ...paging }) => {
        const found = newestFirst(ctx.store.products).filter(
          (one) =>
            created(one.created) &&
            (active === undefined || one.active === active) &&
            (ids === undefined || ids.includes(one.id)),
        )
        return page(found, paging, '/v1/products', 'product')
      },
    ),
  )

  route(get('/v1/products/:id', expandParam, (ctx, _params, { id }) => existingProduct(ctx, id)))

  route(
    post(
      '/v1/products/:id',
      { ...expandParam, ...productFields, default_price: optional(string()), name: optional(string(250)) },
      (ctx, params, { id }, cause) => {
        const product = existingProduct(ctx, id)
        const before = structuredClone(product)
        if (params.active !== undefined) product.active = params.active
        if (params.description !== undefined) product.description = params.description
        if (params.images !== undefined) product.images = params.images ?? []
        if (params.name !== undefined) product.name = params.name
        if (params.url !== undefined) product.url = params.url
        if (params.unit_label !== undefined) product.unit_label = params.unit_label
        if (params.default_price !== undefined) {
          if (idOf(ctx.store.prices.get(params.default_price)?.product) !== id) {
            throw noSuchReference('price', params.default_price, 'default_price')
          }
          product.default_price = params.default_price
        }
        product.metadata = mergeMetadata(product.metadata, params.metadata)
        product.updated = ctx.clock.seconds()
        emitChange(ctx, 'product.updated', before, product, cause)
        return product
      },
    ),
  )

  route(
    del('/v1/products/:id', expandParam, (ctx, _params, { id }, cause) => {
      const product = existingProduct(ctx, id)
      if ([...ctx.store.prices.values()].some((price) => price.product === id)) {
        throw invalidRequest(
          'This product cannot be deleted because it has one or more user-created prices. Archive it instead.',
        )
      }
      ctx.store.products.delete(id)
      emit(ctx, 'product.deleted', product, cause)
      return { id, object: 'product', deleted: true }
    }),
  )

  route(
    post(
      '/v1/prices',
      {
        ...expandParam,
        active: optional(boolean()),
        billing_scheme: notSimulated('per_unit'),
        currency,
        currency_options: notSimulated(),
        custom_unit_amount: notSimulated(),
        lookup_key: optional(string(200)),
        metadata: optional(metadata()),
        nickname: optional(string()),
        product: optional(string()),
        product_data: optional(
          object({ active: optional(boolean()), metadata: optional(metadata()), name: string(250) }),
        ),
        recurring: optional(recurring),
        tax_behavior: taxBehavior,
        transfer_lookup_key: optional(boolean()),
        unit_amount: integer(0, maxAmount),
        unit_amount_decimal: notSimulated(),
      },
      (ctx, params, _path, cause) => {
        const { product: productId, product_data: data } = params
        if ((productId === undefined) === (data === undefined)) {
          throw invalidRequest('You must specify exactly one of `product` and `product_data`.', {
            code: 'parameter_missing',
            param: 'product',
          })
        }
        if (productId !== undefined && !ctx.store.products.has(productId)) {
          throw noSuchReference('product', productId, 'product')
        }
        claimLookupKey(ctx, params.lookup_key, params.transfer_lookup_key)
        const product =
          productId ??
          createProduct(ctx, {
            active: data?.active ?? true,
            description: null,
            images: [],
            metadata: mergeMetadata({}, data?.metadata),
            name: data?.name ?? '',
          }).id
        const price = createPrice(ctx, {
          active: params.active ?? true,
          currency: params.currency,
          lookupKey: params.lookup_key ?? null,
          metadata: mergeMetadata({}, params.metadata),
          nickname: params.nickname ?? null,
          product,
          recurring: recurrence(params.recurring),
          taxBehavior: params.tax_behavior,
          unitAmount: params.unit_amount,
        })
        emit(ctx, 'price.created', price, cause)
        return price
      },
    ),
  )

  route(
    get(
      '/v1/prices',
      {
        ...listParams,
        active: optional(boolean()),
        created: timeRange(),
        currency: optional(string(10)),
        lookup_keys: optional(list(string(), 10)),
        product: optional(string()),
        recurring: optional(object({ interval: optional(oneOf(['day', 'week', 'month', 'year'])) })),
        type: optional(oneOf(['one_time', 'recurring'])),
      },
      (ctx, { active, created, currency: money, lookup_keys: keys, product, recurring, type, ...paging }) => {
        const found = newestFirst(ctx.store.prices).filter(
          (one) =>
            created(one.created) &&
            (active === undefined || one.active === active) &&
            (money === undefined || one.currency === money) &&
            (keys === undefined || keys.includes(one.lookup_key ?? '')) &&
            (product === undefined || idOf(one.product) === product) &&
            (recurring?.interval === undefined || one.recurring?.interval === recurring.interval) &&
            (type === undefined || one.type === type),
        )
        return page(found, paging, '/v1/prices', 'price')
      },
    ),
  )

  route(get('/v1/prices/:id', expandParam, (ctx, _params, { id }) => existingPrice(ctx, id)))

  route(
    post(
      '/v1/prices/:id',
      {
        ...expandParam,
        active: optional(boolean()),
        lookup_key: optional(clearable(string(200))),
        metadata: optional(metadata()),
        nickname: optional(clearable(string())),
        transfer_lookup_key: optional(boolean()),
      },
      (ctx, params, { id }, cause) => {
        const price = existingPrice(ctx, id)
        if (params.active === false && ctx.store.products.get(idOf(price.product))?.default_price === id) {
          throw invalidRequest('This price cannot be archived because it is the default price of its product.', {
            param: 'active',
          })
        }
        const before = structuredClone(price)
        if (params.active !== undefined) price.active = params.active
        if (params.nickname !== undefined) price.nickname = params.nickname
        if (params.lookup_key !== undefined && params.lookup_key !== price.lookup_key) {
          claimLookupKey(ctx, params.lookup_key, params.transfer_lookup_key)
          price.lookup_key = params.lookup_key
        }
        price.metadata = mergeMetadata(price.metadata, params.metadata)
        emitChange(ctx, 'price.updated', before, price, cause)
        return price
      },
    ),
  )
}
