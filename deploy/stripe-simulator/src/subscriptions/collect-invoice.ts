/** Charging an invoice, what that makes of its subscription, and when it is tried again. */
import type { Context } from '../context.ts'
import { cardByLast4, type Decline } from '../payments/cards.ts'
import { chargeCard, failIntent, questionUrl, requireAction } from '../payments/charge-card.ts'
import { idOf } from '../protocol/ids.ts'
import type { Cause, Invoice, InvoicePayment, PaymentMethod, Subscription } from '../protocol/types.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endSubscription, endedStatuses, subscriptionOf } from './end-subscription.ts'
import { invoicePaymentOf, markPaid } from './invoices.ts'
import { applyPending, isAwaited } from './pending-update.ts'

const day = 24 * 3600

const noMethod: Decline = {
  code: 'missing',
  declineCode: null,
  message: 'This customer has no default payment method. Add one and try again.',
}
const needsAuthentication: Decline = {
  code: 'authentication_required',
  declineCode: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
}

/** The payment method that an invoice of this subscription is charged to by itself. */
export function defaultMethod(ctx: Context, subscription: Subscription | undefined, customer: string) {
  const id =
    idOf(subscription?.default_payment_method) ||
    idOf(ctx.store.customers.get(customer)?.object.invoice_settings.default_payment_method)
  return ctx.store.paymentMethods.get(id)
}

interface Attempt {
  /** Another method than the default. */
  method?: PaymentMethod
  /** Nobody sits in front of it: where the bank asks, a try by hand is declined, and a scheduled one waits for an answer. */
  offSession: boolean
  /** By the schedule, which a try by hand does not move. */
  scheduled: boolean
  cause: Cause
}

/** Tries to collect an open invoice; null when it is paid. */
export function collectInvoice(ctx: Context, invoice: Invoice, attempt: Attempt): Decline | null {
  const { cause } = attempt
  const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
  const payment = invoicePaymentOf(ctx, invoice)
  const intent = ctx.store.paymentIntents.get(idOf(payment?.payment.payment_intent))
  if (payment === undefined || intent === undefined) return null
  const method = attempt.method ?? defaultMethod(ctx, subscription, idOf(invoice.customer))
  const counts = attempt.scheduled || invoice.attempt_count === 0
  if (counts) invoice.attempt_count += 1
  invoice.attempted = true

  let decline: Decline | null = noMethod
  let asks = false
  if (method !== undefined) {
    const authentication = cardByLast4(method.card?.last4)?.authentication
    asks = authentication === 'always' || (authentication === 'once' && !attempt.offSession)
    if (!asks) {
      decline = chargeCard(ctx, intent, method, false, cause)
    } else if (attempt.offSession && !attempt.scheduled) {
      decline = needsAuthentication
      failIntent(ctx, intent, method, decline, null, cause)
    } else {
      decline = needsAuthentication
      const returnUrl = invoice.hosted_invoice_url ?? null
      requireAction(ctx, intent, method, { url: questionUrl(ctx, intent), returnUrl }, cause)
    }
  }
  if (decline === null) {
    settleInvoice(ctx, invoice, payment, cause)
    return null
  }
  if (isAwaited(subscription, invoice)) {
    // Nothing is owed yet, so nothing falls behind, and it is not tried again.
    emit(ctx, 'invoice.payment_failed', invoice, cause)
    if (asks) emit(ctx, 'invoice.payment_action_required', invoice, cause)
    return decline
  }
  const isLast = counts && !scheduleRetry(ctx, invoice, subscription)
  emit(ctx, 'invoice.payment_failed', invoice, cause)
  if (asks) emit(ctx, 'invoice.payment_action_required', invoice, cause)
  if (subscription !== undefined) fallBehind(ctx, subscription, invoice, isLast, cause)
  return decline
}

/** Says when it is tried again; false when that was the last time. */
function scheduleRetry(ctx: Context, invoice: Invoice, subscription: Subscription | undefined): boolean {
  const days = ctx.settings.dunning.retryAfterDays[invoice.attempt_count - 1]
  const retries = days !== undefined && subscription !== undefined && !endedStatuses.includes(subscription.status)
  if (!retries || invoice.billing_reason === 'subscription_create') {
    invoice.next_payment_attempt = null
    return false
  }
  invoice.auto_advance = true
  invoice.next_payment_attempt = ctx.clock.seconds() + days * day
  return true
}

/** An invoice is paid, with all that this brings its subscription. */
export function settleInvoice(ctx: Context, invoice: Invoice, payment: InvoicePayment, cause: Cause): void {
  markPaid(ctx, invoice, payment, cause)
  const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
  if (subscription === undefined) return
  applyPending(ctx, subscription, invoice, cause)
  revive(ctx, subscription, invoice, cause)
}

/** An invoice that is paid, or that nobody owes any more, brings its subscription back, if it is the last one. */
export function revive(ctx: Context, subscription: Subscription, invoice: Invoice, cause: Cause): void {
  if (!['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) return
  if (idOf(subscription.latest_invoice) !== invoice.id) return
  const before = structuredClone(subscription)
  subscription.status = 'active'
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
}

function fallBehind(ctx: Context, subscription: Subscription, invoice: Invoice, isLast: boolean, cause: Cause): void {
  if (endedStatuses.includes(subscription.status) || invoice.billing_reason === 'subscription_create') return
  const { lastly } = ctx.settings.dunning
  if (isLast && lastly === 'cancel') {
    endSubscription(ctx, subscription, cause, 'payment_failed')
    return
  }
  const before = structuredClone(subscription)
  if (isLast && lastly === 'unpaid') subscription.status = 'unpaid'
  else if (subscription.status === 'active') subscription.status = 'past_due'
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
}
