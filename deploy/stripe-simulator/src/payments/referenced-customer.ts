import { noSuchReference } from '../protocol/errors.ts'
import type { Customer } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'

/** Finds a customer referenced by another request; a deleted one does not exist. */
export function referencedCustomer(ctx: Context, id: string, param: string): Customer {
  const record = ctx.store.customers.get(id)
  if (record === undefined || record.deleted) throw noSuchReference('customer', id, param)
  return record.object
}
