import { namedMethod, requireSavable, savedMethod } from '../payments/payment-methods.ts'
import { noSuch, noSuchReference } from '../protocol/errors.ts'
import { newId, randomToken } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
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
} from '../protocol/params.ts'
import type { Cause, Customer } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { searchRoute, type SearchFields } from '../resources/search.ts'
import { newestFirst } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endSubscriptionsOf } from './end-subscription.ts'

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
  invoice_settings: optional(object({ default_payment_method: optional(clearable(string())) })),
  phone: optional(clearable(string(20))),
  preferred_locales: optional(list(string())),
}
const writableParams = { ...writable, ...expandParam }
type Writable = Partial<Omit<Fields<typeof writableParams>, 'expand'>>

const createParams = {
  ...writableParams,
  payment_method: optional(string()),
  test_clock: optional(string()),
}

export function createCustomer(
  ctx: Context,
  fields: Writable & { test_clock?: string | undefined },
  cause: Cause,
): Customer {
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
    metadata: mergeMetadata({}, fields.metadata),
    name: fields.name ?? null,
    next_invoice_sequence: 1,
    phone: fields.phone ?? null,
    preferred_locales: fields.preferred_locales ?? [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: fields.test_clock ?? null,
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

function existing(ctx: Context, id: string): Customer {
  const record = ctx.store.customers.get(id)
  if (record === undefined || record.deleted) throw noSuch('customer', id, 'id')
  return record.object
}

const searched: SearchFields<Customer> = {
  created: { kind: 'number', of: (one) => one.created },
  email: { kind: 'string', of: (one) => one.email },
  name: { kind: 'string', of: (one) => one.name ?? null },
  phone: { kind: 'string', of: (one) => one.phone ?? null },
}

const defaultMethod = 'invoice_settings[default_payment_method]'

function setDefault(ctx: Context, customer: Customer, method: string, cause: Cause): void {
  customer.invoice_settings.default_payment_method = savedMethod(ctx, method, customer.id, defaultMethod, cause).id
}

export const customerRoutes: Routes = (route) => {
  route(
    post('/v1/customers', createParams, (ctx, params, _path, cause) => {
      const clock = params.test_clock
      if (clock !== undefined && !ctx.store.testClocks.has(clock)) {
        throw noSuchReference('test clock', clock, 'test_clock')
      }
      const { payment_method: saved, invoice_settings: settings } = params
      // First, so that a card that cannot be saved creates no customer.
      if (saved !== undefined) requireSavable(namedMethod(ctx, saved, 'payment_method'))
      const customer = createCustomer(ctx, params, cause)
      if (saved !== undefined) savedMethod(ctx, saved, customer.id, 'payment_method', cause)
      if (settings?.default_payment_method) setDefault(ctx, customer, settings.default_payment_method, cause)
      return customer
    }),
  )

  route(
    get(
      '/v1/customers',
      { ...listParams, created: timeRange(), email: optional(string()), test_clock: optional(string()) },
      (ctx, { created, email: wanted, test_clock: clock, ...paging }) => {
        const found = newestFirst(ctx.store.customers)
          .filter((record) => !record.deleted)
          .map((record) => record.object)
          .filter(
            (one) =>
              created(one.created) &&
              (wanted === undefined || one.email === wanted) &&
              (clock === undefined || one.test_clock === clock),
          )
        return page(found, paging, '/v1/customers', 'customer')
      },
    ),
  )

  route(
    searchRoute('/v1/customers/search', searched, (ctx) =>
      newestFirst(ctx.store.customers)
        .filter((record) => !record.deleted)
        .map((record) => record.object),
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
      const method = params.invoice_settings?.default_payment_method
      if (method === null) customer.invoice_settings.default_payment_method = null
      else if (method !== undefined) setDefault(ctx, customer, method, cause)
      if (params.metadata !== undefined) {
        customer.metadata = mergeMetadata(customer.metadata, params.metadata)
      }
      emitChange(ctx, 'customer.updated', before, customer, cause)
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
