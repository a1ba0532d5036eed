/** The actions of a customer on the page of an open invoice, for the page's forms. */
import type { PayField } from '../checkout/pay.ts'
import { checkCard, isProblem, type CardEntry } from '../payments/cards.ts'
import { createCardMethod } from '../payments/payment-methods.ts'
import { idOf } from '../protocol/ids.ts'
import { noRequest, type Invoice, type PaymentMethod } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { collectInvoice, defaultMethod } from '../subscriptions/collect-invoice.ts'
import { atTimeOf } from '../subscriptions/customer-time.ts'
import { subscriptionOf } from '../subscriptions/end-subscription.ts'
import { invoicePaymentOf } from '../subscriptions/invoices.ts'

export interface InvoiceOutcome {
  status: 'paid' | 'requires_action' | 'declined' | 'invalid' | 'not_found'
  message: string
  /** The next page; null to stay. */
  redirectUrl: string | null
  field: PayField | null
}

function outcome(
  status: InvoiceOutcome['status'],
  message: string,
  more: Partial<InvoiceOutcome> = {},
): InvoiceOutcome {
  return { status, message, redirectUrl: null, field: null, ...more }
}

/** The card on file for automatic charges of an invoice. */
export function savedCardOf(ctx: Context, invoice: Invoice): PaymentMethod | undefined {
  return defaultMethod(ctx, ctx.store.subscriptions.get(subscriptionOf(invoice)), idOf(invoice.customer))
}

/**
 * Pays an open invoice while the customer is present.
 * @param entry a new card, or null for the one on file
 */
export function payInvoice(
  ctx: Context,
  invoice: Invoice,
  entry: (CardEntry & { name: string }) | null,
): InvoiceOutcome {
  const redirectUrl = invoice.hosted_invoice_url ?? null
  if (invoice.status === 'paid') return outcome('paid', 'This invoice is paid.', { redirectUrl })
  if (invoice.status !== 'open') return outcome('not_found', 'This invoice cannot be paid any more.')
  return atTimeOf(ctx, idOf(invoice.customer), () => {
    let method = savedCardOf(ctx, invoice)
    if (entry !== null) {
      const checked = checkCard(entry, new Date(ctx.clock.ms()))
      if (isProblem(checked)) return outcome('invalid', checked.message, { field: checked.field })
      const name = entry.name.trim().slice(0, 256)
      if (name === '') return outcome('invalid', 'Enter the name on the card.', { field: 'name' })
      method = createCardMethod(ctx, checked, { name, email: invoice.customer_email ?? '' }, idOf(invoice.customer))
    }
    if (method === undefined) return outcome('invalid', 'Enter a card.', { field: 'number' })
    const decline = collectInvoice(ctx, invoice, { method, offSession: false, scheduled: false, cause: noRequest })
    if (decline === null) return outcome('paid', 'Thank you: the invoice is paid.', { redirectUrl })
    const challengeUrl = pendingChallengeUrl(ctx, invoice)
    if (challengeUrl !== null) {
      return outcome('requires_action', 'Your bank asks you to confirm this payment.', { redirectUrl: challengeUrl })
    }
    return outcome('declined', decline.message, { field: 'number' })
  })
}

/** URL of an invoice's pending confirmation, or null. */
function pendingChallengeUrl(ctx: Context, invoice: Invoice): string | null {
  const intentId = idOf(invoicePaymentOf(ctx, invoice)?.payment.payment_intent)
  return ctx.store.paymentIntents.get(intentId)?.next_action?.redirect_to_url?.url ?? null
}
