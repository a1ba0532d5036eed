/** A change of a subscription that waits until its invoice is paid; without that, nothing of it comes about. */
import type { Context } from '../context.ts'
import { idOf } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { byItself, type Cause, type Invoice, type Subscription } from '../protocol/types.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endedStatuses, subscriptionOf } from './end-subscription.ts'
import { closeInvoice } from './invoices.ts'

/** How long a change waits at the longest. */
export const pendingSeconds = 23 * 3600

/** Whether an invoice is the one that a change waits for. */
export function isAwaited(subscription: Subscription | undefined, invoice: Pick<Invoice, 'id'>): boolean {
  return (subscription?.pending_update ?? null) !== null && idOf(subscription?.latest_invoice) === invoice.id
}

/** Its invoice is paid: the change comes about. */
export function applyPending(ctx: Context, subscription: Subscription, invoice: Invoice, cause: Cause): void {
  const update = subscription.pending_update
  if (update === null || !isAwaited(subscription, invoice) || endedStatuses.includes(subscription.status)) return
  const before = structuredClone(subscription)
  const { subscription_items: items, billing_cycle_anchor: anchor } = update
  if (items !== null) subscription.items = page(items, { limit: 100 }, subscription.items.url, 'subscription_item')
  if (anchor !== null) subscription.billing_cycle_anchor = anchor
  subscription.pending_update = null
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
  emit(ctx, 'customer.subscription.pending_update_applied', subscription, cause)
}

/** Forgets a change that waits, with its invoice, where there is one. */
export function dropPending(ctx: Context, subscription: Subscription, cause: Cause): void {
  if (subscription.pending_update === null) return
  const invoice = ctx.store.invoices.get(idOf(subscription.latest_invoice))
  subscription.pending_update = null
  ctx.store.save(subscription)
  if (invoice?.status === 'open') closeInvoice(ctx, invoice, 'void', cause)
}

/** Its time is over. */
export function expirePending(ctx: Context, subscription: Subscription): void {
  const before = structuredClone(subscription)
  dropPending(ctx, subscription, byItself)
  emitChange(ctx, 'customer.subscription.updated', before, subscription, byItself)
  emit(ctx, 'customer.subscription.pending_update_expired', subscription, byItself)
}

/** An invoice was voided by hand: a change that waited for it does not come about. */
export function forgetVoided(ctx: Context, invoice: Invoice, cause: Cause): void {
  const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
  if (subscription === undefined || !isAwaited(subscription, invoice)) return
  const before = structuredClone(subscription)
  subscription.pending_update = null
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
}
