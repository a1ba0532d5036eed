import { cardByLast4, type Decline } from '../payments/cards.ts'
import { cardError } from '../payments/charge-card.ts'
import { invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { idOf } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { mergeMetadata, type MetadataChange } from '../protocol/params.ts'
import type { Cause, Invoice, InvoiceLineItem, Price, Subscription, SubscriptionItem } from '../protocol/types.ts'
/** Changes of a subscription's items, end and payment method. */
import type { Context } from '../resources/context.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { collectInvoice, defaultMethod } from './collect-invoice.ts'
import { draftInvoice, finalizeInvoice, fullLine, previewInvoice, prorationLine } from './invoices.ts'
import { applyPending, dropPending, pendingSeconds } from './pending-update.ts'
import { currentEnd, stateOf, upcomingInvoice } from './renew-subscription.ts'
import { createItem, planOf } from './subscription-items.ts'
import { periodEnd } from './subscription-periods.ts'

type ProrationBehavior = 'always_invoice' | 'create_prorations' | 'none'

interface ItemChange {
  id?: string | undefined
  price?: Price | undefined
  quantity?: number | undefined
  metadata?: MetadataChange | undefined
  deleted?: boolean | undefined
}

export interface ItemsChange {
  items: readonly ItemChange[]
  prorationBehavior: ProrationBehavior
  prorationDate?: number | undefined
  resetsCycle: boolean
}

interface Plan {
  items: SubscriptionItem[]
  /** Whether a new billing cycle starts now, and is charged immediately. */
  resets: boolean
  lines: InvoiceLineItem[]
  /** Whether the lines are invoiced now instead of with the next invoice. */
  isInvoiced: boolean
}

/** Calculates a change without applying it. */
function plan(ctx: Context, subscription: Subscription, change: ItemsChange): Plan {
  const now = ctx.clock.seconds()
  const old = subscription.items.data
  const items = changedItems(subscription, change, now)
  const resets = change.resetsCycle || intervalChanged(old, items)
  if (resets) {
    for (const item of items) {
      item.current_period_start = now
      item.current_period_end = periodEnd(now, now, item.price)
    }
  }
  const at = change.prorationDate ?? now
  const prorates = change.prorationBehavior !== 'none'
  const lines: InvoiceLineItem[] = []
  for (const before of old) {
    const after = items.find((item) => item.id === before.id)
    const isSame = after?.price.id === before.price.id && after.quantity === before.quantity
    if (prorates && (resets || !isSame)) lines.push(prorationLine(ctx, subscription, before, at, 'credit'))
    if (prorates && !resets && !isSame && after !== undefined) {
      lines.push(prorationLine(ctx, subscription, after, at, 'charge'))
    }
  }
  if (prorates && !resets) {
    const added = items.filter((item) => !old.some((one) => one.id === item.id))
    lines.push(...added.map((item) => prorationLine(ctx, subscription, item, at, 'charge')))
  }
  if (resets) lines.push(...items.map((item) => fullLine(ctx, subscription, item)))
  return { items, resets, lines, isInvoiced: resets || change.prorationBehavior === 'always_invoice' }
}

function intervalChanged(old: readonly SubscriptionItem[], items: readonly SubscriptionItem[]): boolean {
  const lengthOf = (item: SubscriptionItem | undefined) =>
    `${item?.price.recurring?.interval_count} ${item?.price.recurring?.interval}`
  return lengthOf(old[0]) !== lengthOf(items[0])
}

function changedItems(subscription: Subscription, change: ItemsChange, now: number): SubscriptionItem[] {
  const items = structuredClone(subscription.items.data)
  for (const [index, one] of change.items.entries()) {
    if (one.id === undefined) {
      if (one.price === undefined) {
        throw invalidRequest('You must pass either `price`, `price_data` or an existing item `id`.', {
          code: 'parameter_missing',
          param: `items[${index}][price]`,
        })
      }
      const first = items[0]
      const period = { start: first?.current_period_start ?? now, end: first?.current_period_end ?? now }
      const metadata = mergeMetadata({}, one.metadata)
      items.push(createItem(subscription.id, { price: one.price, quantity: one.quantity ?? 1, metadata }, period, now))
      continue
    }
    const at = items.findIndex((item) => item.id === one.id)
    const item = items[at]
    if (item === undefined) throw noSuchReference('subscription_item', one.id, `items[${index}][id]`)
    if (one.deleted === true) {
      items.splice(at, 1)
      continue
    }
    if (one.price !== undefined) {
      item.price = one.price
      item.plan = planOf(one.price)
    }
    if (one.quantity !== undefined) item.quantity = one.quantity
    item.metadata = mergeMetadata(item.metadata, one.metadata)
  }
  if (items.length === 0) {
    throw invalidRequest('A subscription must have at least one active plan.', { param: 'items' })
  }
  const [first] = items
  const isOdd = items.some(
    (item) =>
      item.price.currency !== subscription.currency ||
      item.price.recurring?.interval !== first?.price.recurring?.interval ||
      item.price.recurring?.interval_count !== first?.price.recurring?.interval_count,
  )
  if (isOdd) {
    throw invalidRequest(
      'The payment simulator supports subscriptions whose prices share one currency and one interval. To replace a price, pass the `id` of its subscription item.',
      { param: 'items' },
    )
  }
  return items
}

/** A preview of a change's invoice, or of the next one if it has none. */
export function previewChange(ctx: Context, subscription: Subscription, change: ItemsChange | null): Invoice {
  if (change === null) return upcomingInvoice(ctx, subscription)
  const { items, lines, isInvoiced } = plan(ctx, subscription, change)
  const changed: Subscription = { ...subscription, items: { ...subscription.items, data: items } }
  if (!isInvoiced) {
    const next = upcomingInvoice(ctx, changed)
    const total = lines.reduce((sum, line) => sum + line.amount, next.total)
    return { ...next, lines: { ...next.lines, data: [...lines, ...next.lines.data] }, total, amount_due: total }
  }
  const now = ctx.clock.seconds()
  return previewInvoice(ctx, changed, {
    lines,
    reason: 'upcoming',
    period: { start: now, end: now },
    finalizesAt: null,
  })
}

/** Whether a change with a failed payment is undone, stays pending, or leaves the subscription past due. */
export type PaymentBehavior = 'allow_incomplete' | 'error_if_incomplete' | 'pending_if_incomplete'

/**
 * Applies a change, with its invoice if it has one.
 * @throws ApiError 402 if the card is declined or needs a confirmation, and the caller wants no change then
 */
export function changeItems(
  ctx: Context,
  subscription: Subscription,
  change: ItemsChange,
  behavior: PaymentBehavior,
  cause: Cause,
): void {
  const before = structuredClone(subscription)
  const planned = plan(ctx, subscription, change)
  const chargeError = planned.isInvoiced ? findChargeError(ctx, subscription, planned.lines) : undefined
  if (chargeError && behavior === 'error_if_incomplete') throw cardError(chargeError)
  // A new change replaces a pending one.
  if (planned.isInvoiced) dropPending(ctx, subscription, cause)
  if (chargeError && behavior === 'pending_if_incomplete') {
    waitForPayment(ctx, subscription, planned, cause)
    return
  }
  const now = ctx.clock.seconds()
  const endsWithPeriod = subscription.cancel_at !== null && subscription.cancel_at === currentEnd(subscription)
  subscription.items = page(planned.items, { limit: 100 }, subscription.items.url, 'subscription_item')
  if (planned.resets) {
    subscription.billing_cycle_anchor = now
    // A cancellation at the period's end moves with the period.
    if (endsWithPeriod) subscription.cancel_at = currentEnd(subscription)
  }
  const state = stateOf(ctx, subscription)
  ctx.store.subscriptionStates.save(subscription.id)
  if (!planned.isInvoiced) {
    state.pending.push(...planned.lines)
    emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
    return
  }
  if (planned.lines.length === 0) {
    emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
    return
  }
  const invoice = draftInvoice(ctx, subscription, {
    lines: [...state.pending, ...planned.lines],
    reason: 'subscription_update',
    period: { start: now, end: now },
    finalizesAt: null,
  })
  state.pending = []
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
  emit(ctx, 'invoice.created', invoice, cause)
  finalizeInvoice(ctx, invoice, cause)
  if (invoice.status === 'open') collectInvoice(ctx, invoice, { offSession: true, scheduled: true, cause })
}

const requiresAction: Decline = {
  code: 'subscription_payment_intent_requires_action',
  declineCode: null,
  message:
    'Payment for this subscription requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with `subscription.latest_invoice`.',
}

/** The error that charging these lines to the card on file would cause. */
function findChargeError(
  ctx: Context,
  subscription: Subscription,
  lines: readonly InvoiceLineItem[],
): Decline | undefined {
  const customer = ctx.store.customers.get(idOf(subscription.customer))?.object
  const due = lines.reduce((sum, line) => sum + line.amount, customer?.balance ?? 0)
  if (due <= 0) return undefined
  const card = cardByLast4(defaultMethod(ctx, subscription, idOf(subscription.customer))?.card?.last4)
  return card?.authentication === 'always' ? requiresAction : card?.decline
}

/** Creates the invoice of a pending change, which is applied once that is paid. */
function waitForPayment(ctx: Context, subscription: Subscription, planned: Plan, cause: Cause): void {
  const before = structuredClone(subscription)
  const now = ctx.clock.seconds()
  const invoice = draftInvoice(ctx, subscription, {
    lines: planned.lines,
    reason: 'subscription_update',
    period: { start: now, end: now },
    finalizesAt: null,
  })
  subscription.pending_update = {
    billing_cycle_anchor: planned.resets ? now : null,
    cancel_at_period_end: null,
    discount: null,
    discounts: null,
    expires_at: Math.min(now + pendingSeconds, currentEnd(subscription)),
    metadata: null,
    subscription_items: planned.items,
    trial_end: null,
    trial_from_plan: null,
  }
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
  emit(ctx, 'invoice.created', invoice, cause)
  finalizeInvoice(ctx, invoice, cause)
  if (invoice.status === 'open') collectInvoice(ctx, invoice, { offSession: false, scheduled: false, cause })
  // An amount below the minimum is added to the balance.
  else applyPending(ctx, subscription, invoice, cause)
}

/** `at`: its end; null undoes a cancellation. */
export function scheduleCancel(
  ctx: Context,
  subscription: Subscription,
  at: { time: number; atPeriodEnd: boolean } | null,
): void {
  subscription.cancel_at = at?.time ?? null
  subscription.cancel_at_period_end = at?.atPeriodEnd ?? false
  subscription.canceled_at = at === null ? null : ctx.clock.seconds()
  subscription.cancellation_details = {
    ...(subscription.cancellation_details ?? { comment: null, feedback: null, feedback_option: null }),
    reason: at === null ? null : 'cancellation_requested',
  }
}
