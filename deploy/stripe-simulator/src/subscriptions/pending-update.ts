import { idOf } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { noRequest, type Cause, type Invoice, type Subscription } from '../protocol/types.ts'
/** A change of a subscription that takes effect only once its invoice is paid. */
import type { Context } from '../resources/context.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endedStatuses, subscriptionOf } from './end-subscription.ts'
import { closeInvoice } from './invoices.ts'

/** The lifetime of a pending change. */
export const pendingSeconds = 23 * 3600

/** Whether a pending change waits for this invoice. */
export function isAwaited(subscription: Subscription | undefined, invoice: Pick<Invoice, 'id'>): boolean {
  return (subscription?.pending_update ?? null) !== null && idOf(subscription?.latest_invoice) === invoice.id
}

/** Applies a pending change whose invoice is paid. */
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

/** Drops a pending change with its invoice, if any. */
export function dropPending(ctx: Context, subscription: Subscription, cause: Cause): void {
  if (subscription.pending_update === null) return
  const invoice = ctx.store.invoices.get(idOf(subscription.latest_invoice))
  subscription.pending_update = null
  ctx.store.save(subscription)
  if (invoice?.status === 'open') closeInvoice(ctx, invoice, 'void', cause)
}

/** Expires a pending change. */
export function expirePending(ctx: Context, subscription: Subscription): void {
  const before = structuredClone(subscription)
  dropPending(ctx, subscription, noRequest)
  emitChange(ctx, 'customer.subscription.updated', before, subscription, noRequest)
  emit(ctx, 'customer.subscription.pending_update_expired', subscription, noRequest)
}

/** Drops the pending change of an invoice that was voided by hand. */
export function dropVoided(ctx: Context, invoice: Invoice, cause: Cause): void {
  const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
  if (subscription === undefined || !isAwaited(subscription, invoice)) return
  const before = structuredClone(subscription)
  subscription.pending_update = null
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
}
