import { noSuch } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { expandParam, listParams } from '../protocol/params.ts'
import { noRequest, type Customer, type CustomerBalanceTransaction, type Invoice } from '../protocol/types.ts'
/** The balance of a customer, credit (negative) or due with the next invoice (positive), and its transactions. */
import type { Context } from '../resources/context.ts'
import { get, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { emitChange } from '../webhooks/events.ts'

export function changeBalance(
  ctx: Context,
  customer: Customer,
  amount: number,
  invoice: Invoice,
  type: CustomerBalanceTransaction['type'],
): void {
  if (amount === 0) return
  const before = structuredClone(customer)
  customer.balance += amount
  customer.currency ??= invoice.currency
  const entry: CustomerBalanceTransaction = {
    id: newId('cbtxn_1'),
    object: 'customer_balance_transaction',
    amount,
    checkout_session: null,
    created: ctx.clock.seconds(),
    credit_note: null,
    currency: invoice.currency,
    customer: customer.id,
    customer_account: null,
    description: null,
    ending_balance: customer.balance,
    invoice: invoice.id,
    livemode: false,
    metadata: {},
    type,
  }
  ctx.store.customerBalances.set(entry.id, entry)
  emitChange(ctx, 'customer.updated', before, customer, noRequest)
}

export const customerBalanceRoutes: Routes = (route) => {
  route(
    get('/v1/customers/:id/balance_transactions', listParams, (ctx, paging, { id }) => {
      const customer = ctx.store.customers.get(id)
      if (customer === undefined || customer.deleted) throw noSuch('customer', id, 'customer')
      const found = newestFirst(ctx.store.customerBalances).filter((one) => idOf(one.customer) === id)
      return page(found, paging, `/v1/customers/${id}/balance_transactions`, 'customer_balance_transaction')
    }),
  )
  route(
    get('/v1/customers/:id/payment_methods', { ...listParams, ...expandParam }, (ctx, paging, { id }) => {
      const found = newestFirst(ctx.store.paymentMethods).filter((one) => one.customer === id)
      return page(found, paging, `/v1/customers/${id}/payment_methods`, 'payment_method')
    }),
  )
}
