/** Invoices and what paid them: so far the first one of a subscription, which Checkout pays before it makes it. */
import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import { emit } from './events.ts'
import { idOf, newId } from './ids.ts'
import { page, type ListPage } from './lists.ts'
import { expandParam, listParams, oneOf, optional, string, timeRange } from './params.ts'
import { get, type Routes } from './routes.ts'
import { newestFirst } from './store.ts'
import {
  BY_ITSELF,
  type Customer,
  type Invoice,
  type InvoiceLineItem,
  type InvoicePayment,
  type LineItem,
  type PaymentIntent,
  type Subscription,
} from './types.ts'

/** The first invoice of a subscription, from its draft to paid, with the events of each step. */
export function createPaidInvoice(
  ctx: Context,
  subscription: Subscription,
  lineItems: readonly LineItem[],
  intent: PaymentIntent,
): Invoice {
  const invoice = draft(ctx, subscription, lineItems, intent)
  emit(ctx, 'invoice.created', invoice, BY_ITSELF)

  const now = ctx.clock.seconds()
  const customer = ctx.store.customers.get(idOf(subscription.customer))?.object
  invoice.status = 'open'
  invoice.number = customer === undefined ? null : nextNumber(customer)
  invoice.effective_at = now
  invoice.ending_balance = 0
  invoice.status_transitions.finalized_at = now
  emit(ctx, 'invoice.finalized', invoice, BY_ITSELF)

  const payment = createInvoicePayment(ctx, invoice, intent)
  emit(ctx, 'invoice_payment.paid', payment, BY_ITSELF)
  invoice.status = 'paid'
  invoice.attempted = true
  invoice.amount_paid = invoice.amount_due
  invoice.amount_remaining = 0
  invoice.status_transitions.paid_at = now
  emit(ctx, 'invoice.paid', invoice, BY_ITSELF)
  emit(ctx, 'invoice.payment_succeeded', invoice, BY_ITSELF)
  return invoice
}

function nextNumber(customer: Customer): string {
  const sequence = customer.next_invoice_sequence ?? 1
  customer.next_invoice_sequence = sequence + 1
  return `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`
}

function draft(
  ctx: Context,
  subscription: Subscription,
  lineItems: readonly LineItem[],
  intent: PaymentIntent,
): Invoice {
  const now = ctx.clock.seconds()
  const id = newId('in_1')
  const customer = ctx.store.customers.get(idOf(subscription.customer))?.object
  const total = lineItems.reduce((sum, item) => sum + item.amount_total, 0)
  const invoice: Invoice = {
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: ctx.settings.merchantName,
    account_tax_ids: null,
    amount_due: total,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: total,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: false,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: 'subscription_create',
    collection_method: 'charge_automatically',
    created: now,
    currency: intent.currency,
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
      subscription.items.data.map((item, index) => lineOf(id, subscription, item, lineItems[index])),
      { limit: 100 },
      `/v1/invoices/${id}/lines`,
      'line_item',
    ),
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: { ...subscription.metadata }, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: ['card'] },
    period_end: now,
    period_start: now,
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
    test_clock: null,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: now,
  }
  ctx.store.invoices.set(id, invoice)
  return invoice
}

function lineOf(
  invoice: string,
  subscription: Subscription,
  item: Subscription['items']['data'][number],
  sold: LineItem | undefined,
): InvoiceLineItem {
  const { price, quantity = 1 } = item
  const amount = (price.unit_amount ?? 0) * quantity
  return {
    id: newId('il_1'),
    object: 'line_item',
    amount,
    currency: price.currency,
    description: sold?.description ?? null,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice,
    livemode: false,
    metadata: { ...subscription.metadata },
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: 'subscription_item_details',
    },
    period: { end: item.current_period_end, start: item.current_period_start },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: idOf(price.product) },
      type: 'price_details',
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    subtotal: amount,
    taxes: [],
  }
}

function createInvoicePayment(ctx: Context, invoice: Invoice, intent: PaymentIntent): InvoicePayment {
  const now = ctx.clock.seconds()
  const payment: InvoicePayment = {
    id: newId('inpay_1'),
    object: 'invoice_payment',
    amount_paid: invoice.amount_due,
    amount_requested: invoice.amount_due,
    created: now,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'paid',
    status_transitions: { canceled_at: null, paid_at: now },
  }
  ctx.store.invoicePayments.set(payment.id, payment)
  return payment
}

export function paymentsOf(ctx: Context, invoiceId: string): ListPage<InvoicePayment> {
  const found = newestFirst(ctx.store.invoicePayments).filter((one) => one.invoice === invoiceId)
  return page(found, { limit: 100 }, `/v1/invoice_payments?invoice=${invoiceId}`, 'invoice_payment')
}

export const invoiceRoutes: Routes = (route) => {
  route(
    get(
      '/v1/invoices',
      {
        ...listParams,
        created: timeRange(),
        customer: optional(string()),
        status: optional(oneOf(['draft', 'open', 'paid', 'uncollectible', 'void'])),
        subscription: optional(string()),
      },
      (ctx, { created, customer, status, subscription, ...paging }) => {
        const found = newestFirst(ctx.store.invoices).filter(
          (one) =>
            created(one.created) &&
            (customer === undefined || one.customer === customer) &&
            (status === undefined || one.status === status) &&
            (subscription === undefined || one.parent?.subscription_details?.subscription === subscription),
        )
        return page(found, paging, '/v1/invoices', 'invoice')
      },
    ),
  )

  route(
    get('/v1/invoices/:id', expandParam, (ctx, _params, { id }) => {
      const invoice = ctx.store.invoices.get(id)
      if (invoice === undefined) throw noSuch('invoice', id, 'invoice')
      return invoice
    }),
  )

  route(
    get(
      '/v1/invoice_payments',
      { ...listParams, invoice: optional(string()), status: optional(oneOf(['canceled', 'open', 'paid'])) },
      (ctx, { invoice, status, ...paging }) => {
        const found = newestFirst(ctx.store.invoicePayments).filter(
          (one) =>
            (invoice === undefined || one.invoice === invoice) && (status === undefined || one.status === status),
        )
        return page(found, paging, '/v1/invoice_payments', 'invoice_payment')
      },
    ),
  )

  route(
    get('/v1/invoice_payments/:id', expandParam, (ctx, _params, { id }) => {
      const payment = ctx.store.invoicePayments.get(id)
      if (payment === undefined) throw noSuch('invoice_payment', id, 'invoice_payment')
      return payment
    }),
  )
}
