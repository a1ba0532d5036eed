/** The actions of a customer in the billing portal, for the page's forms and the control API. */
import type { PayField } from '../checkout/pay.ts'
import { checkCard, isProblem, type CardEntry } from '../payments/cards.ts'
import { attach, createCardMethod, requireSavable } from '../payments/payment-methods.ts'
import { ApiError } from '../protocol/errors.ts'
import { idOf } from '../protocol/ids.ts'
import { noRequest, type Invoice, type Price, type Subscription } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { newestFirst, type PortalSessionRecord } from '../store/store.ts'
import { changeItems, previewChange, scheduleCancel, type ItemsChange } from '../subscriptions/change-subscription.ts'
import { collectInvoice } from '../subscriptions/collect-invoice.ts'
import { atTimeOf } from '../subscriptions/customer-time.ts'
import { endSubscription, endedStatuses } from '../subscriptions/end-subscription.ts'
import { currentEnd } from '../subscriptions/renew-subscription.ts'
import { emitChange } from '../webhooks/events.ts'
import { configurationOf } from './billing-portal.ts'

export interface PortalOutcome {
  status: 'done' | 'declined' | 'invalid' | 'not_found'
  message: string
  /** The next page; null to stay. */
  redirectUrl: string | null
  field: PayField | null
}

function refused(status: PortalOutcome['status'], message: string, field: PayField | null = null): PortalOutcome {
  return { status, message, redirectUrl: null, field }
}

const notFound = refused('not_found', 'This is not on your account.')

/** The portal's page, or the URL after the flow. */
function done(ctx: Context, record: PortalSessionRecord, message: string): PortalOutcome {
  record.done = message
  ctx.store.save(record.object)
  const after = record.object.flow?.after_completion
  return { status: 'done', message, redirectUrl: after?.redirect?.return_url ?? record.object.url, field: null }
}

/** The customer's subscriptions that have not ended, newest first. */
export function subscriptionsOf(ctx: Context, record: PortalSessionRecord): Subscription[] {
  return newestFirst(ctx.store.subscriptions).filter(
    (one) => idOf(one.customer) === record.object.customer && !endedStatuses.includes(one.status),
  )
}

export function invoicesOf(ctx: Context, record: PortalSessionRecord): Invoice[] {
  return newestFirst(ctx.store.invoices).filter(
    (one) => idOf(one.customer) === record.object.customer && one.status !== 'draft',
  )
}

export function findSubscription(ctx: Context, record: PortalSessionRecord, id: string): Subscription | undefined {
  return subscriptionsOf(ctx, record).find((one) => one.id === id)
}

/** The prices to which a subscription can be switched: those of the configuration, or all active ones. */
export function choicesFor(ctx: Context, record: PortalSessionRecord, subscription: Subscription): Price[] {
  const { subscription_update: update } = configurationOf(ctx, record.object).features
  const allowed = update.products?.flatMap((one) => one.prices)
  const now = subscription.items.data.map((item) => item.price.id)
  return [...ctx.store.prices.values()].filter(
    (price) =>
      price.recurring !== null &&
      price.currency === subscription.currency &&
      !now.includes(price.id) &&
      (allowed === undefined ? price.active : allowed.includes(price.id)),
  )
}

export function updateCard(
  ctx: Context,
  record: PortalSessionRecord,
  entry: CardEntry & { name: string },
): PortalOutcome {
  if (!configurationOf(ctx, record.object).features.payment_method_update.enabled) return notFound
  const checked = checkCard(entry, new Date(ctx.clock.ms()))
  if (isProblem(checked)) return refused('invalid', checked.message, checked.field)
  if (entry.name.trim() === '') return refused('invalid', 'Enter the name on the card.', 'name')
  const customer = ctx.store.customers.get(record.object.customer)?.object
  if (customer === undefined) return notFound
  return atTimeOf(ctx, customer.id, () => {
    const payer = { name: entry.name.trim().slice(0, 256), email: customer.email ?? '' }
    const method = createCardMethod(ctx, checked, payer, null)
    try {
      requireSavable(method)
    } catch (error) {
      if (error instanceof ApiError) return refused('declined', error.message, 'number')
      throw error
    }
    attach(ctx, method, customer.id, noRequest)
    const before = structuredClone(customer)
    customer.invoice_settings.default_payment_method = method.id
    emitChange(ctx, 'customer.updated', before, customer, noRequest)
    for (const subscription of subscriptionsOf(ctx, record)) {
      if (subscription.default_payment_method === null) continue
      const old = structuredClone(subscription)
      subscription.default_payment_method = method.id
      emitChange(ctx, 'customer.subscription.updated', old, subscription, noRequest)
    }
    return done(ctx, record, `Your card ending in ${checked.last4} is saved and pays from now on.`)
  })
}

export function cancelPlan(ctx: Context, record: PortalSessionRecord, id: string): PortalOutcome {
  const { subscription_cancel: cancel } = configurationOf(ctx, record.object).features
  const subscription = findSubscription(ctx, record, id)
  if (subscription === undefined || !cancel.enabled) return notFound
  if (subscription.cancel_at !== null) return done(ctx, record, 'Your plan is cancelled already.')
  return atTimeOf(ctx, subscription.customer, () => {
    if (cancel.mode === 'immediately') {
      endSubscription(ctx, subscription, noRequest)
      return done(ctx, record, 'Your plan has been cancelled.')
    }
    const before = structuredClone(subscription)
    // Under flexible billing the portal sets only `cancel_at`; `cancel_at_period_end` stays false.
    scheduleCancel(ctx, subscription, { time: currentEnd(subscription), atPeriodEnd: false })
    emitChange(ctx, 'customer.subscription.updated', before, subscription, noRequest)
    return done(ctx, record, 'Your plan is cancelled: it runs to the end of the time that you have paid for.')
  })
}

export function resumePlan(ctx: Context, record: PortalSessionRecord, id: string): PortalOutcome {
  const subscription = findSubscription(ctx, record, id)
  if (subscription === undefined) return notFound
  if (subscription.cancel_at === null) return done(ctx, record, 'Your plan goes on.')
  return atTimeOf(ctx, subscription.customer, () => {
    const before = structuredClone(subscription)
    scheduleCancel(ctx, subscription, null)
    emitChange(ctx, 'customer.subscription.updated', before, subscription, noRequest)
    return done(ctx, record, 'Your plan goes on: nothing is cancelled.')
  })
}

function switchTo(ctx: Context, record: PortalSessionRecord, subscription: Subscription, price: Price): ItemsChange {
  const { proration_behavior: wanted } = configurationOf(ctx, record.object).features.subscription_update
  const behavior = (['always_invoice', 'none'] as const).find((one) => one === wanted)
  return {
    items: [{ id: subscription.items.data[0]?.id, price }],
    prorationBehavior: behavior ?? 'create_prorations',
    resetsCycle: false,
  }
}

/** A preview of a switch's invoice. */
export function previewSwitch(
  ctx: Context,
  record: PortalSessionRecord,
  subscription: Subscription,
  price: Price,
): Invoice {
  return atTimeOf(ctx, subscription.customer, () =>
    previewChange(ctx, subscription, switchTo(ctx, record, subscription, price)),
  )
}

export function switchPlan(ctx: Context, record: PortalSessionRecord, id: string, priceId: string): PortalOutcome {
  const subscription = findSubscription(ctx, record, id)
  if (subscription === undefined) return notFound
  if (subscription.items.data.some((item) => item.price.id === priceId)) {
    return done(ctx, record, 'This is your plan already.')
  }
  const price = choicesFor(ctx, record, subscription).find((one) => one.id === priceId)
  const isAllowed = configurationOf(ctx, record.object).features.subscription_update.enabled
  if (price === undefined || !isAllowed) return notFound
  return atTimeOf(ctx, subscription.customer, () => {
    try {
      changeItems(ctx, subscription, switchTo(ctx, record, subscription, price), 'error_if_incomplete', noRequest)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return refused('declined', `${error.message} Your plan is unchanged.`)
    }
    return done(ctx, record, 'Your plan has been changed.')
  })
}

/** Pays an open invoice with the saved card. */
export function payInvoice(ctx: Context, record: PortalSessionRecord, id: string): PortalOutcome {
  const invoice = invoicesOf(ctx, record).find((one) => one.id === id)
  if (invoice === undefined) return notFound
  if (invoice.status === 'paid') return done(ctx, record, 'This invoice is paid.')
  if (invoice.status !== 'open') return notFound
  return atTimeOf(ctx, invoice.customer, () => {
    const decline = collectInvoice(ctx, invoice, { offSession: true, scheduled: false, cause: noRequest })
    if (decline !== null) return refused('declined', decline.message)
    return done(ctx, record, 'Thank you: the invoice is paid.')
  })
}
