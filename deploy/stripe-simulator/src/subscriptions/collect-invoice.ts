import { cardByLast4, type Decline } from '../payments/cards.ts'
import { chargeCard, failIntent, challengeUrl, requireAction } from '../payments/charge-card.ts'
import { idOf } from '../protocol/ids.ts'
import type { Cause, Invoice, InvoicePayment, PaymentMethod, Subscription } from '../protocol/types.ts'
/** Charging an invoice, the effects on its subscription, and retries. */
import type { Context } from '../resources/context.ts'
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

/** The payment method for automatic charges of a subscription's invoice. */
export function defaultMethod(ctx: Context, subscription: Subscription | undefined, customer: string) {
  const id =
    idOf(subscription?.default_payment_method) ||
    idOf(ctx.store.customers.get(customer)?.object.invoice_settings.default_payment_method)
  return ctx.store.paymentMethods.get(id)
}

interface Attempt {
  /** Overrides the default method. */
  method?: PaymentMethod
  /** Whether the customer is absent: if the bank requires a confirmation, a manual attempt is declined, and a scheduled one waits. */
  offSession: boolean
  /** Whether it is a scheduled attempt; a manual one does not change the schedule. */
  scheduled: boolean
  cause: Cause
}

/** Attempts to collect an open invoice; null if it is paid. */
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
      requireAction(ctx, intent, method, { url: challengeUrl(ctx, intent), returnUrl }, cause)
    }
  }
  if (decline === null) {
    settleInvoice(ctx, invoice, payment, cause)
    return null
  }
  if (isAwaited(subscription, invoice)) {
    // Nothing is due yet, so the subscription is not past due, and there is no retry.
    emit(ctx, 'invoice.payment_failed', invoice, cause)
    if (asks) emit(ctx, 'invoice.payment_action_required', invoice, cause)
    return decline
  }
  const isLast = counts && !scheduleRetry(ctx, invoice, subscription)
  emit(ctx, 'invoice.payment_failed', invoice, cause)
  if (asks) emit(ctx, 'invoice.payment_action_required', invoice, cause)
  if (subscription !== undefined) markPastDue(ctx, subscription, invoice, isLast, cause)
  return decline
}

/** Schedules the next attempt; false after the last one. */
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

/** Marks an invoice as paid, with the effects on its subscription. */
export function settleInvoice(ctx: Context, invoice: Invoice, payment: InvoicePayment, cause: Cause): void {
  markPaid(ctx, invoice, payment, cause)
  const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
  if (subscription === undefined) return
  applyPending(ctx, subscription, invoice, cause)
  reactivate(ctx, subscription, invoice, cause)
}

/** Reactivates a subscription after its last open invoice was paid or voided. */
export function reactivate(ctx: Context, subscription: Subscription, invoice: Invoice, cause: Cause): void {
  if (!['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) return
  if (idOf(subscription.latest_invoice) !== invoice.id) return
  const before = structuredClone(subscription)
  subscription.status = 'active'
  emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
}

function markPastDue(ctx: Context, subscription: Subscription, invoice: Invoice, isLast: boolean, cause: Cause): void {
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
