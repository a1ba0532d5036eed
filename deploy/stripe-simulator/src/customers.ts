import type { Context } from './context.ts'
import { noSuch, noSuchReference } from './errors.ts'
import { emit } from './events.ts'
import { newId, randomToken } from './ids.ts'
import { page } from './lists.ts'
import {
  clearable,
  email,
  expandParam,
  list,
  listParams,
  mergeMetadata,
  metadata,
  object,
  optional,
  string,
  timeRange,
  type Fields,
} from './params.ts'
import { del, get, post, type Routes } from './routes.ts'
import { newestFirst } from './store.ts'
import { endSubscriptionsOf } from './subscriptions.ts'
import type { Cause, Customer } from './types.ts'

const address = object({
  city: optional(string()),
  country: optional(string(2)),
  line1: optional(string()),
  line2: optional(string()),
  postal_code: optional(string()),
  state: optional(string()),
})

const writable = {
  address: optional(clearable(address)),
  description: optional(clearable(string())),
  email: optional(clearable(email())),
  metadata: optional(metadata()),
  name: optional(clearable(string(256))),
  phone: optional(clearable(string(20))),
  preferred_locales: optional(list(string())),
}
const writableParams = { ...writable, ...expandParam }
type Writable = Partial<Omit<Fields<typeof writableParams>, 'expand'>>

export function createCustomer(ctx: Context, fields: Writable, cause: Cause): Customer {
  const customer: Customer = {
    id: newId('cus_'),
    object: 'customer',
    address: addressOf(fields.address ?? null),
    balance: 0,
    created: ctx.clock.seconds(),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: fields.description ?? null,
    discount: null,
    email: fields.email ?? null,
    invoice_prefix: randomToken(8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: mergeMetadata({}, fields.metadata ?? {}),
    name: fields.name ?? null,
    next_invoice_sequence: 1,
    phone: fields.phone ?? null,
    preferred_locales: fields.preferred_locales ?? [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  }
  ctx.store.customers.set(customer.id, { object: customer, deleted: false })
  emit(ctx, 'customer.created', customer, cause)
  return customer
}

function addressOf(given: Writable['address'] | null): Customer['address'] & (object | null) {
  if (!given) return null
  return {
    city: given.city ?? null,
    country: given.country ?? null,
    line1: given.line1 ?? null,
    line2: given.line2 ?? null,
    postal_code: given.postal_code ?? null,
    state: given.state ?? null,
  }
}

export function deletedCustomer(id: string) {
  return { id, object: 'customer', deleted: true } as const
}

/** A customer that another request names; a deleted one is as good as none. */
export function referencedCustomer(ctx: Context, id: string, param: string): Customer {
  const record = ctx.store.customers.get(id)
  if (record === undefined || record.deleted) throw noSuchReference('customer', id, param)
  return record.object
}

function existing(ctx: Context, id: string): Customer {
  const record = ctx.store.customers.get(id)
  if (record === undefined || record.deleted) throw noSuch('customer', id, 'id')
  return record.object
}

export const customerRoutes: Routes = (route) => {
  route(post('/v1/customers', writableParams, (ctx, params, _path, cause) => createCustomer(ctx, params, cause)))

  route(
    get(
      '/v1/customers',
      { ...listParams, created: timeRange(), email: optional(string()) },
      (ctx, { created, email: wanted, ...paging }) => {
        const found = newestFirst(ctx.store.customers)
          .filter((record) => !record.deleted)
          .map((record) => record.object)
          .filter((one) => created(one.created) && (wanted === undefined || one.email === wanted))
        return page(found, paging, '/v1/customers', 'customer')
      },
    ),
  )

  route(
    get('/v1/customers/:id', expandParam, (ctx, _params, { id }) => {
      const record = ctx.store.customers.get(id)
      if (record?.deleted === true) return deletedCustomer(id)
      return existing(ctx, id)
    }),
  )

  route(
    post('/v1/customers/:id', writableParams, (ctx, params, { id }, cause) => {
      const customer = existing(ctx, id)
      const before = structuredClone(customer)
      if (params.address !== undefined) customer.address = addressOf(params.address)
      if (params.description !== undefined) customer.description = params.description
      if (params.email !== undefined) customer.email = params.email
      if (params.name !== undefined) customer.name = params.name
      if (params.phone !== undefined) customer.phone = params.phone
      if (params.preferred_locales !== undefined) {
        customer.preferred_locales = params.preferred_locales
      }
      if (params.metadata !== undefined) {
        customer.metadata = mergeMetadata(customer.metadata, params.metadata)
      }
      const changes = previousAttributes(before, customer)
      if (Object.keys(changes).length > 0) emit(ctx, 'customer.updated', customer, cause, changes)
      return customer
    }),
  )

  route(
    del('/v1/customers/:id', expandParam, (ctx, _params, { id }, cause) => {
      const customer = existing(ctx, id)
      endSubscriptionsOf(ctx, id, cause)
      ctx.store.customers.set(id, { object: customer, deleted: true })
      emit(ctx, 'customer.deleted', customer, cause)
      return deletedCustomer(id)
    }),
  )
}

/** The top-level keys that changed, with their old values: an event's `previous_attributes`. */
function previousAttributes(before: object, after: object): Record<string, unknown> {
  const changed = Object.entries(before).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify((after as Record<string, unknown>)[key]),
  )
  return Object.fromEntries(changed)
}
