import type { Context } from '../context.ts'
import { noSuchReference } from '../protocol/errors.ts'
import type { Customer } from '../protocol/types.ts'

/** A customer that another request names; a deleted one is as good as none. */
export function referencedCustomer(ctx: Context, id: string, param: string): Customer {
  const record = ctx.store.customers.get(id)
  if (record === undefined || record.deleted) throw noSuchReference('customer', id, param)
  return record.object
}
