import { idOf } from '../protocol/ids.ts'
import type { Cause, Invoice, Subscription } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { emit } from '../webhooks/events.ts'
import { closeInvoice } from './invoices.ts'

/** Final statuses. */
export const endedStatuses: readonly string[] = ['canceled', 'incomplete_expired']

/** Ends a subscription now. Payments stay; open invoices are no longer collected automatically. */
export function endSubscription(
  ctx: Context,
  subscription: Subscription,
  cause: Cause,
  reason: 'cancellation_requested' | 'payment_failed' = 'cancellation_requested',
): void {
  const now = ctx.clock.seconds()
  subscription.status = 'canceled'
  subscription.canceled_at ??= now
  subscription.ended_at = now
  subscription.cancellation_details = {
    ...(subscription.cancellation_details ?? { comment: null, feedback: null, feedback_option: null }),
    reason,
  }
  const awaited = subscription.pending_update === null ? '' : idOf(subscription.latest_invoice)
  subscription.pending_update = null
  for (const invoice of ctx.store.invoices.values()) {
    if (subscriptionOf(invoice) !== subscription.id) continue
    if (invoice.id === awaited && invoice.status === 'open') closeInvoice(ctx, invoice, 'void', cause)
    if (invoice.status !== 'draft' && invoice.status !== 'open') continue
    invoice.auto_advance = false
    invoice.automatically_finalizes_at = null
    invoice.next_payment_attempt = null
    ctx.store.save(invoice)
  }
  ctx.store.subscriptionStates.delete(subscription.id)
  emit(ctx, 'customer.subscription.deleted', subscription, cause)
}

/** Ends all subscriptions of a deleted customer. */
export function endSubscriptionsOf(ctx: Context, customer: string, cause: Cause): void {
  for (const subscription of ctx.store.subscriptions.values()) {
    if (idOf(subscription.customer) === customer && !endedStatuses.includes(subscription.status)) {
      endSubscription(ctx, subscription, cause)
    }
  }
}

/** The subscription of an invoice; empty if none. */
export function subscriptionOf(invoice: Pick<Invoice, 'parent'>): string {
  return idOf(invoice.parent?.subscription_details?.subscription)
}
