import { cardError } from '../payments/charge-card.ts'
import { savedMethod } from '../payments/payment-methods.ts'
import { existingIn, invalidRequest, noSuch } from '../protocol/errors.ts'
import { idOf } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import {
  boolean,
  expandParam,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  timeRange,
} from '../protocol/params.ts'
import type { Invoice } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { collectInvoice, reactivate } from './collect-invoice.ts'
import { atTimeOf } from './customer-time.ts'
import { subscriptionOf } from './end-subscription.ts'
import { closeInvoice, finalizeInvoice } from './invoices.ts'
import { dropVoided } from './pending-update.ts'

function existing({ store }: Context, id: string): Invoice {
  return existingIn(store.invoices, id, 'invoice', 'invoice')
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
            (subscription === undefined || subscriptionOf(one) === subscription),
        )
        return page(found, paging, '/v1/invoices', 'invoice')
      },
    ),
  )

  route(get('/v1/invoices/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    get('/v1/invoices/:id/lines', listParams, (ctx, paging, { id }) =>
      page(existing(ctx, id).lines.data, paging, `/v1/invoices/${id}/lines`, 'line_item'),
    ),
  )

  route(
    post(
      '/v1/invoices/:id',
      { ...expandParam, auto_advance: optional(boolean()), metadata: optional(metadata()) },
      (ctx, params, { id }) => {
        const invoice = existing(ctx, id)
        if (params.auto_advance !== undefined) invoice.auto_advance = params.auto_advance
        invoice.metadata = mergeMetadata(invoice.metadata ?? {}, params.metadata)
        ctx.store.save(invoice)
        return invoice
      },
    ),
  )

  route(
    post(
      '/v1/invoices/:id/finalize',
      { ...expandParam, auto_advance: optional(boolean()) },
      (ctx, _params, { id }, cause) => {
        const invoice = existing(ctx, id)
        if (invoice.status !== 'draft') {
          throw invalidRequest("This invoice is already finalized, you can't re-finalize a non-draft invoice.", {
            code: 'invoice_not_editable',
          })
        }
        atTimeOf(ctx, invoice.customer, () => finalizeInvoice(ctx, invoice, cause))
        return invoice
      },
    ),
  )

  route(
    post(
      '/v1/invoices/:id/pay',
      {
        ...expandParam,
        forgive: notSimulated('false'),
        off_session: optional(boolean()),
        paid_out_of_band: notSimulated('false'),
        payment_method: optional(string()),
      },
      (ctx, params, { id }, cause) => {
        const invoice = existing(ctx, id)
        if (invoice.status === 'paid') {
          throw invalidRequest('Invoice is already paid')
        }
        if (invoice.status !== 'open' && invoice.status !== 'draft' && invoice.status !== 'uncollectible') {
          throw invalidRequest(`Invoices with a status of ${invoice.status} cannot be paid.`)
        }
        return atTimeOf(ctx, invoice.customer, () => {
          const method =
            params.payment_method === undefined
              ? undefined
              : savedMethod(ctx, params.payment_method, idOf(invoice.customer), 'payment_method', cause)
          if (invoice.status === 'draft') finalizeInvoice(ctx, invoice, cause)
          if (invoice.status === 'paid') return invoice
          const decline = collectInvoice(ctx, invoice, {
            ...(method === undefined ? {} : { method }),
            offSession: params.off_session ?? true,
            scheduled: false,
            cause,
          })
          if (decline !== null) throw cardError(decline)
          return invoice
        })
      },
    ),
  )

  for (const [action, as] of [
    ['void', 'void'],
    ['mark_uncollectible', 'uncollectible'],
  ] as const) {
    route(
      post(`/v1/invoices/:id/${action}`, expandParam, (ctx, _params, { id }, cause) => {
        const invoice = existing(ctx, id)
        if (invoice.status !== 'open' && !(as === 'void' && invoice.status === 'uncollectible')) {
          throw invalidRequest(`You can only pass in open invoices. This invoice isn't open: it is ${invoice.status}.`)
        }
        atTimeOf(ctx, invoice.customer, () => {
          closeInvoice(ctx, invoice, as, cause)
          dropVoided(ctx, invoice, cause)
          const subscription = ctx.store.subscriptions.get(subscriptionOf(invoice))
          if (subscription !== undefined && subscription.status !== 'incomplete')
            reactivate(ctx, subscription, invoice, cause)
        })
        return invoice
      }),
    )
  }

  route(
    get(
      '/v1/invoice_payments',
      {
        ...listParams,
        invoice: optional(string()),
        payment: optional(
          object({
            payment_intent: optional(string()),
            payment_record: notSimulated(),
            type: oneOf(['payment_intent']),
          }),
        ),
        status: optional(oneOf(['canceled', 'open', 'paid'])),
      },
      (ctx, { invoice, payment, status, ...paging }) => {
        const intentId = payment?.payment_intent
        const found = newestFirst(ctx.store.invoicePayments).filter(
          (one) =>
            (invoice === undefined || one.invoice === invoice) &&
            (intentId === undefined || one.payment.payment_intent === intentId) &&
            (status === undefined || one.status === status),
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
