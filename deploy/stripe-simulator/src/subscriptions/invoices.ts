import { createIntent, cancelPaymentIntent } from '../payments/payment-intents.ts'
import { minAmount } from '../protocol/currency.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page, type ListPage } from '../protocol/lists.ts'
import { money } from '../protocol/money.ts'
import {
  noRequest,
  type Cause,
  type Customer,
  type Invoice,
  type InvoiceLineItem,
  type InvoicePayment,
  type PaymentIntent,
  type Subscription,
  type SubscriptionItem,
} from '../protocol/types.ts'
/** Invoices and their payments, from draft to final. */
import type { Context } from '../resources/context.ts'
import { newestFirst } from '../store/store.ts'
import { emit } from '../webhooks/events.ts'
import { changeBalance } from './customer-balance.ts'
import { intervalOf } from './subscription-periods.ts'

/** Creates the first invoice of a Checkout's subscription, from draft to paid, with the events of each step. */
export function createPaidInvoice(ctx: Context, subscription: Subscription, intent: PaymentIntent): Invoice {
  const now = ctx.clock.seconds()
  const lines = subscription.items.data.map((item) => fullLine(ctx, subscription, item))
  const invoice = draftInvoice(ctx, subscription, {
    lines,
    reason: 'subscription_create',
    period: { start: now, end: now },
    finalizesAt: null,
  })
  emit(ctx, 'invoice.created', invoice, noRequest)
  // Checkout has charged the whole amount already: the balance is for later invoices.
  open(ctx, invoice, false)
  emit(ctx, 'invoice.finalized', invoice, noRequest)
  invoice.attempted = true
  markPaid(ctx, invoice, createInvoicePayment(ctx, invoice, intent), noRequest)
  return invoice
}

interface Draft {
  lines: readonly InvoiceLineItem[]
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update' | 'upcoming'
  period: { start: number; end: number }
  /** When it is finalized automatically; null if the caller does so. */
  finalizesAt: number | null
}

/** Drafts and stores an invoice. */
export function draftInvoice(ctx: Context, subscription: Subscription, draft: Draft): Invoice {
  const invoice = invoiceOf(ctx, subscription, draft, newId('in_1'))
  ctx.store.invoices.set(invoice.id, invoice)
  subscription.latest_invoice = invoice.id
  ctx.store.save(subscription)
  return invoice
}

/** A preview of an invoice, which is not stored. */
export function previewInvoice(ctx: Context, subscription: Subscription, draft: Draft): Invoice {
  const invoice = invoiceOf(ctx, subscription, draft, newId('upcoming_in_1'))
  const customer = ctx.store.customers.get(idOf(subscription.customer))?.object
  invoice.starting_balance = customer?.balance ?? 0
  const { due, ending } = settleBalance(invoice, invoice.starting_balance)
  invoice.amount_due = due
  invoice.amount_remaining = due
  invoice.ending_balance = ending
  return invoice
}

function invoiceOf(ctx: Context, subscription: Subscription, draft: Draft, id: string): Invoice {
  const now = ctx.clock.seconds()
  const customer = ctx.store.customers.get(idOf(subscription.customer))?.object
  const total = draft.lines.reduce((sum, line) => sum + line.amount, 0)
  return {
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: ctx.settings.merchantName,
    account_tax_ids: null,
    amount_due: Math.max(0, total),
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: Math.max(0, total),
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: draft.finalizesAt !== null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: draft.finalizesAt,
    billing_reason: draft.reason,
    collection_method: 'charge_automatically',
    created: now,
    currency: subscription.currency,
    custom_fields: null,
    customer: subscription.customer,
    customer_account: null,
    customer_address: customer?.address ?? null,
    customer_email: customer?.email ?? null,
    customer_name: customer?.name ?? null,
    customer_phone: customer?.phone ?? null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: page(
      draft.lines.map((line) => ({ ...line, invoice: id })),
      { limit: 100 },
      `/v1/invoices/${id}/lines`,
      'line_item',
    ),
    livemode: false,
    metadata: {},
    next_payment_attempt: draft.finalizesAt,
    number: null,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: { ...subscription.metadata }, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: ['card'] },
    period_end: draft.period.end,
    period_start: draft.period.start,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'draft',
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal: total,
    subtotal_excluding_tax: total,
    test_clock: idOf(customer?.test_clock) || null,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: now,
  }
}

/** The line of an item for its whole current period. */
export function fullLine(
  ctx: Context,
  subscription: Subscription,
  item: SubscriptionItem,
  period = { start: item.current_period_start, end: item.current_period_end },
): InvoiceLineItem {
  const quantity = item.quantity ?? 1
  const each = `${money(item.price.unit_amount ?? 0, item.price.currency)} / ${intervalOf(item.price)}`
  return line(subscription, item, {
    amount: (item.price.unit_amount ?? 0) * quantity,
    description: `${quantity} × ${nameOf(ctx, item)} (at ${each})`,
    period,
    proration: false,
  })
}

/**
 * The line for the rest of an item's period at `at`: a credit for the unused part, or the charge for
 * its replacement. Prorated by the second, as by Stripe.
 */
export function prorationLine(
  ctx: Context,
  subscription: Subscription,
  item: SubscriptionItem,
  at: number,
  kind: 'credit' | 'charge',
): InvoiceLineItem {
  const { current_period_start: start, current_period_end: end } = item
  const share = Math.min(1, Math.max(0, (end - at) / (end - start)))
  const amount = Math.round((item.price.unit_amount ?? 0) * (item.quantity ?? 1) * share)
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(at * 1000)
  return line(subscription, item, {
    amount: kind === 'credit' ? -amount : amount,
    description: `${kind === 'credit' ? 'Unused' : 'Remaining'} time on ${nameOf(ctx, item)} after ${day}`,
    period: { start: at, end },
    proration: true,
    ...(kind === 'credit' ? { credited: creditedItems(ctx, subscription, item) } : {}),
  })
}

/** The line of the last invoice that charged for this item. */
function creditedItems(ctx: Context, subscription: Subscription, item: SubscriptionItem) {
  for (const invoice of newestFirst(ctx.store.invoices)) {
    if (idOf(invoice.parent?.subscription_details?.subscription) !== subscription.id) continue
    const charged = invoice.lines.data.filter(
      (one) => one.amount > 0 && one.parent?.subscription_item_details?.subscription_item === item.id,
    )
    if (charged.length > 0) return { invoice: invoice.id, invoice_line_items: charged.map((one) => one.id) }
  }
  return null
}

function nameOf(ctx: Context, item: SubscriptionItem): string {
  return ctx.store.products.get(idOf(item.price.product))?.name ?? 'Subscription'
}

function line(
  subscription: Subscription,
  item: SubscriptionItem,
  of: {
    amount: number
    description: string
    period: { start: number; end: number }
    proration: boolean
    credited?: { invoice: string; invoice_line_items: string[] } | null
  },
): InvoiceLineItem {
  const { price, quantity = 1 } = item
  return {
    id: newId('il_1'),
    object: 'line_item',
    amount: of.amount,
    currency: price.currency,
    description: of.description,
    discount_amounts: [],
    discountable: !of.proration,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata: { ...subscription.metadata },
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: of.proration,
        proration_details: { credited_items: of.credited ?? null },
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: 'subscription_item_details',
    },
    period: of.period,
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: idOf(price.product) },
      type: 'price_details',
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    subtotal: of.amount,
    taxes: [],
  }
}

/**
 * The amount due after the customer's balance, and the new balance. An amount below the minimum is added to the next
 * invoice instead.
 */
function settleBalance({ total, currency }: Invoice, balance: number): { due: number; ending: number } {
  const sum = total + balance
  return sum < minAmount(currency) ? { due: 0, ending: sum } : { due: sum, ending: 0 }
}

/** Sets the number and the final amounts of a draft. */
function open(ctx: Context, invoice: Invoice, takesBalance: boolean): void {
  const now = ctx.clock.seconds()
  const customer = ctx.store.customers.get(idOf(invoice.customer))?.object
  invoice.status = 'open'
  invoice.number = customer === undefined ? null : nextNumber(ctx, customer)
  invoice.effective_at = now
  invoice.automatically_finalizes_at = null
  invoice.hosted_invoice_url = `${ctx.settings.publicUrl}/i/${invoice.id}`
  invoice.status_transitions.finalized_at = now
  invoice.starting_balance = customer?.balance ?? 0
  invoice.ending_balance = invoice.starting_balance
  if (customer === undefined || !takesBalance) return
  const { due, ending } = settleBalance(invoice, invoice.starting_balance)
  invoice.ending_balance = ending
  invoice.amount_due = due
  invoice.amount_remaining = due
  const change = ending - invoice.starting_balance
  const isSmall = invoice.total > 0 && ending > 0
  changeBalance(ctx, customer, change, invoice, isSmall ? 'invoice_too_small' : 'applied_to_invoice')
}

function nextNumber(ctx: Context, customer: Customer): string {
  const sequence = customer.next_invoice_sequence ?? 1
  customer.next_invoice_sequence = sequence + 1
  ctx.store.save(customer)
  return `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`
}

/** Finalizes a draft: with nothing due it is paid, otherwise its payment can be attempted. */
export function finalizeInvoice(ctx: Context, invoice: Invoice, cause: Cause): void {
  open(ctx, invoice, true)
  emit(ctx, 'invoice.finalized', invoice, cause)
  if (invoice.amount_due === 0) {
    invoice.attempted = true
    markPaid(ctx, invoice, null, cause)
    return
  }
  const intent = createIntent(
    ctx,
    {
      amount: invoice.amount_due,
      currency: invoice.currency,
      customer: idOf(invoice.customer),
      description: invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
      setup_future_usage: invoice.billing_reason === 'subscription_create' ? 'off_session' : null,
    },
    cause,
  )
  createInvoicePayment(ctx, invoice, intent)
}

/** The payment of an invoice, pending or made. */
export function invoicePaymentOf(ctx: Context, invoice: Invoice): InvoicePayment | undefined {
  return newestFirst(ctx.store.invoicePayments).find((one) => one.invoice === invoice.id && one.is_default)
}

export function markPaid(ctx: Context, invoice: Invoice, payment: InvoicePayment | null, cause: Cause): void {
  const now = ctx.clock.seconds()
  if (payment !== null) {
    payment.status = 'paid'
    payment.amount_paid = invoice.amount_due
    payment.status_transitions.paid_at = now
    emit(ctx, 'invoice_payment.paid', payment, cause)
  }
  invoice.status = 'paid'
  invoice.auto_advance = false
  invoice.next_payment_attempt = null
  invoice.amount_paid = invoice.amount_due
  invoice.amount_remaining = 0
  invoice.status_transitions.paid_at = now
  emit(ctx, 'invoice.paid', invoice, cause)
  emit(ctx, 'invoice.payment_succeeded', invoice, cause)
}

/** Ends the collection of an invoice. */
export function closeInvoice(ctx: Context, invoice: Invoice, as: 'void' | 'uncollectible', cause: Cause): void {
  const now = ctx.clock.seconds()
  invoice.status = as
  invoice.auto_advance = false
  invoice.automatically_finalizes_at = null
  invoice.next_payment_attempt = null
  if (as === 'uncollectible') {
    invoice.status_transitions.marked_uncollectible_at = now
    emit(ctx, 'invoice.marked_uncollectible', invoice, cause)
    return
  }
  invoice.amount_remaining = 0
  invoice.status_transitions.voided_at = now
  const payment = invoicePaymentOf(ctx, invoice)
  if (payment?.status === 'open') {
    payment.status = 'canceled'
    payment.status_transitions.canceled_at = now
    ctx.store.save(payment)
    const intent = ctx.store.paymentIntents.get(idOf(payment.payment.payment_intent))
    if (intent !== undefined) cancelPaymentIntent(ctx, intent, 'void_invoice', cause)
  }
  emit(ctx, 'invoice.voided', invoice, cause)
}

function createInvoicePayment(ctx: Context, invoice: Invoice, intent: PaymentIntent): InvoicePayment {
  const payment: InvoicePayment = {
    id: newId('inpay_1'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: ctx.clock.seconds(),
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  }
  ctx.store.invoicePayments.set(payment.id, payment)
  return payment
}

export function paymentsOf(ctx: Context, invoiceId: string): ListPage<InvoicePayment> {
  const found = newestFirst(ctx.store.invoicePayments).filter((one) => one.invoice === invoiceId)
  return page(found, { limit: 100 }, `/v1/invoice_payments?invoice=${invoiceId}`, 'invoice_payment')
}
