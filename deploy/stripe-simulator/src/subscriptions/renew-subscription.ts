import { noRequest, type Invoice, type Subscription, type SubscriptionItem } from '../protocol/types.ts'
/** Scheduled effects of a subscription: the notice, the renewal, the cancellation. */
import type { Context } from '../resources/context.ts'
import type { SubscriptionState } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endSubscription, endedStatuses } from './end-subscription.ts'
import { draftInvoice, fullLine, previewInvoice } from './invoices.ts'
import { expirePending } from './pending-update.ts'
import { periodEnd } from './subscription-periods.ts'
import { enterPhase, priceFrom } from './subscription-schedules.ts'

const hour = 3600
const day = 24 * hour
/** How long a renewal's invoice stays a draft. */
const draftSeconds = hour
/** How long a first payment may take before the subscription expires. */
const incompleteSeconds = 23 * hour

export function stateOf(ctx: Context, subscription: Subscription): SubscriptionState {
  const known = ctx.store.subscriptionStates.get(subscription.id)
  if (known !== undefined) return known
  const state: SubscriptionState = { announced: null, pending: [] }
  ctx.store.subscriptionStates.set(subscription.id, state)
  return state
}

/** The end of the current period. */
export function currentEnd(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_end))
}

interface ScheduledEffect {
  at: number
  run: () => void
}

/** The next scheduled effect of a subscription. */
export function nextSubscriptionEffect(ctx: Context, subscription: Subscription): ScheduledEffect | null {
  if (endedStatuses.includes(subscription.status)) return null
  if (subscription.status === 'incomplete') {
    return { at: subscription.created + incompleteSeconds, run: () => expireIncomplete(ctx, subscription) }
  }
  const end = currentEnd(subscription)
  const cancelAt = subscription.cancel_at
  const expiresAt = subscription.pending_update?.expires_at
  if (expiresAt !== undefined && (cancelAt === null || expiresAt < cancelAt)) {
    return { at: expiresAt, run: () => expirePending(ctx, subscription) }
  }
  if (cancelAt !== null && cancelAt <= end) {
    return { at: cancelAt, run: () => endSubscription(ctx, subscription, noRequest) }
  }
  if (stateOf(ctx, subscription).announced !== end) {
    // A period shorter than the notice is announced at its start.
    const begun = Math.max(...subscription.items.data.map((item) => item.current_period_start))
    const at = Math.max(begun, end - ctx.settings.upcomingDays * day)
    return { at, run: () => announce(ctx, subscription, end) }
  }
  return { at: end, run: () => renew(ctx, subscription, end) }
}

function expireIncomplete(ctx: Context, subscription: Subscription): void {
  const before = structuredClone(subscription)
  subscription.status = 'incomplete_expired'
  subscription.ended_at = ctx.clock.seconds()
  emitChange(ctx, 'customer.subscription.updated', before, subscription, noRequest)
}

function announce(ctx: Context, subscription: Subscription, end: number): void {
  stateOf(ctx, subscription).announced = end
  ctx.store.subscriptionStates.save(subscription.id)
  // An upcoming invoice cannot be fetched: the event shows it without an id.
  const { id: _, ...invoice } = upcomingInvoice(ctx, subscription)
  emit(ctx, 'invoice.upcoming', invoice, noRequest)
}

/** A preview of the next renewal's invoice. */
export function upcomingInvoice(ctx: Context, subscription: Subscription): Invoice {
  const lines = subscription.items.data.map((item) => {
    const price = priceFrom(ctx, subscription, item.current_period_end) ?? item.price
    const next = price.id === item.price.id ? item : { ...item, price, current_period_start: item.current_period_end }
    return fullLine(ctx, subscription, next, nextPeriod(subscription, next))
  })
  return previewInvoice(ctx, subscription, {
    lines: [...stateOf(ctx, subscription).pending, ...lines],
    reason: 'upcoming',
    period: currentPeriod(subscription),
    finalizesAt: currentEnd(subscription) + draftSeconds,
  })
}

function currentPeriod(subscription: Subscription): { start: number; end: number } {
  const [item] = subscription.items.data
  return { start: item?.current_period_start ?? 0, end: item?.current_period_end ?? 0 }
}

function nextPeriod(subscription: Subscription, item: SubscriptionItem): { start: number; end: number } {
  const start = item.current_period_end
  return { start, end: periodEnd(subscription.billing_cycle_anchor, start, item.price) }
}

function renew(ctx: Context, subscription: Subscription, end: number): void {
  const before = structuredClone(subscription)
  const period = currentPeriod(subscription)
  enterPhase(ctx, subscription, end)
  for (const item of subscription.items.data) {
    if (item.current_period_end !== end) continue
    const next = nextPeriod(subscription, item)
    item.current_period_start = next.start
    item.current_period_end = next.end
  }
  const state = stateOf(ctx, subscription)
  const invoice = draftInvoice(ctx, subscription, {
    lines: [...state.pending, ...subscription.items.data.map((item) => fullLine(ctx, subscription, item))],
    reason: 'subscription_cycle',
    period,
    // Invoices of an unpaid subscription stay drafts for the merchant.
    finalizesAt: subscription.status === 'unpaid' ? null : ctx.clock.seconds() + draftSeconds,
  })
  state.pending = []
  ctx.store.subscriptionStates.save(subscription.id)
  emit(ctx, 'invoice.created', invoice, noRequest)
  emitChange(ctx, 'customer.subscription.updated', before, subscription, noRequest)
}
