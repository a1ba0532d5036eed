import type { Store } from '../store/store.ts'
import { deletedCustomer } from '../subscriptions/customers.ts'

/** Returns the object of an id as in the API, for `expand`. */
export function lookUp(store: Store, id: string): unknown {
  const customer = store.customers.get(id)
  if (customer !== undefined) return customer.deleted ? deletedCustomer(id) : customer.object
  return (
    store.sessions.get(id)?.object ??
    store.paymentIntents.get(id) ??
    store.paymentMethods.get(id) ??
    store.charges.get(id) ??
    store.refunds.get(id)?.object ??
    store.balanceTransactions.get(id) ??
    store.products.get(id) ??
    store.prices.get(id) ??
    store.subscriptions.get(id) ??
    store.subscriptionSchedules.get(id) ??
    store.invoices.get(id) ??
    store.invoicePayments.get(id) ??
    store.disputes.get(id)?.object ??
    store.portalConfigurations.get(id) ??
    store.testClocks.get(id)
  )
}
