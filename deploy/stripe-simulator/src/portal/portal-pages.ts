/** The pages of the billing portal, of invoices and of the bank's confirmation. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../pages/layout.ts'
import { confirmPage, notFoundPage, portalGonePage, messagePage } from '../pages/notice-pages.ts'
import { bodyOf, cardEntryOf, wantsJson } from '../pages/page-forms.ts'
import { chargeCard, failedAuthentication, failIntent } from '../payments/charge-card.ts'
import { idOf } from '../protocol/ids.ts'
import { noRequest, type PaymentIntent, type Price, type Subscription } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import type { PortalSessionRecord } from '../store/store.ts'
import { settleInvoice } from '../subscriptions/collect-invoice.ts'
import { atTimeOf } from '../subscriptions/customer-time.ts'
import { invoicePaymentOf } from '../subscriptions/invoices.ts'
import { currentEnd } from '../subscriptions/renew-subscription.ts'
import { configurationOf, openPortalSession } from './billing-portal.ts'
import { invoicePage } from './invoice-page.ts'
import { payInvoice as payOpenInvoice, savedCardOf } from './pay-invoice.ts'
import {
  cancelPlan,
  choicesFor,
  findSubscription,
  invoicesOf,
  payInvoice,
  previewSwitch,
  resumePlan,
  subscriptionsOf,
  switchPlan,
  updateCard,
  type PortalOutcome,
} from './portal-actions.ts'
import {
  portalCancelPage,
  portalCardPage,
  portalDonePage,
  portalPage,
  portalSwitchPage,
  type Plan,
} from './portal-page.ts'

type Path = { Params: { id: string; of?: string } }
type Show = (record: PortalSessionRecord, of: string) => string | null

export function registerPortalPages(app: FastifyInstance, ctx: Context): void {
  const merchant = ctx.settings.merchantName

  const show = (path: string, page: Show) => {
    app.get<Path>(`/p/session/:id${path}`, (request, reply) => {
      const record = openPortalSession(ctx, request.params.id)
      if (record === undefined) return reply.code(410).headers(pageHeaders()).send(portalGonePage(merchant))
      const text = page(record, request.params.of ?? '')
      if (text === null) return reply.redirect(`${record.object.url}/home`, 303)
      return reply.headers(headersOf(record)).send(text)
    })
  }

  const act = (
    path: string,
    run: (record: PortalSessionRecord, fields: Record<string, string>) => PortalOutcome,
    refuse: (record: PortalSessionRecord, fields: Record<string, string>, outcome: PortalOutcome) => string,
  ) => {
    app.post<Path>(`/p/session/:id/${path}`, (request, reply) => {
      const record = openPortalSession(ctx, request.params.id)
      if (record === undefined) return reply.code(410).headers(pageHeaders()).send(portalGonePage(merchant))
      const fields = bodyOf(request)
      const outcome = run(record, fields)
      if (wantsJson(request)) return reply.header('cache-control', 'no-store').send(outcome)
      if (outcome.redirectUrl !== null) return reply.redirect(outcome.redirectUrl, 303)
      return reply
        .code(statusOf(outcome))
        .headers(headersOf(record))
        .send(refuse(record, fields, outcome))
    })
  }

  show('', (record) => {
    const { object: session } = record
    const { flow } = session
    const { done } = record
    if (flow === null) return home(ctx, record)
    if (done !== null) {
      if (flow.after_completion.type === 'portal_homepage') return home(ctx, record)
      return portalDonePage(session, merchant, done, flow.after_completion.hosted_confirmation?.custom_message ?? null)
    }
    return flowPage(ctx, record)
  })
  show('/home', (record) => home(ctx, record))
  show('/card', (record) => portalCardPage(record.object, merchant))
  show('/cancel/:of', (record, of) => cancelPage(ctx, record, of))
  show('/switch/:of', (record, of) => switchPage(ctx, record, of))

  act(
    'card',
    (record, fields) => updateCard(ctx, record, { ...cardEntryOf(fields), name: fields['name'] ?? '' }),
    (record, fields, { message, field }) =>
      portalCardPage(record.object, merchant, { message, field, name: fields['name'] ?? '' }),
  )
  const homeWith = (record: PortalSessionRecord, _fields: unknown, { message }: PortalOutcome) =>
    home(ctx, record, message)
  act('cancel', (record, fields) => cancelPlan(ctx, record, fields['subscription'] ?? ''), homeWith)
  act('resume', (record, fields) => resumePlan(ctx, record, fields['subscription'] ?? ''), homeWith)
  act('pay', (record, fields) => payInvoice(ctx, record, fields['invoice'] ?? ''), homeWith)
  act(
    'switch',
    (record, fields) => switchPlan(ctx, record, fields['subscription'] ?? '', fields['price'] ?? ''),
    (record, fields, { message }) =>
      switchPage(ctx, record, fields['subscription'] ?? '', message) ?? home(ctx, record, message),
  )

  app.get<Path>('/i/:id', (request, reply) => {
    const invoice = ctx.store.invoices.get(request.params.id)
    if (invoice === undefined || invoice.status === 'draft') {
      return reply.code(404).headers(pageHeaders()).send(notFoundPage(merchant))
    }
    return reply.headers(pageHeaders()).send(invoicePage(invoice, merchant, savedCardOf(ctx, invoice)))
  })
  app.post<Path>('/i/:id/pay', (request, reply) => {
    const invoice = ctx.store.invoices.get(request.params.id)
    if (invoice === undefined) return reply.code(404).headers(pageHeaders()).send(notFoundPage(merchant))
    const fields = bodyOf(request)
    const entry = fields['number'] === undefined ? null : { ...cardEntryOf(fields), name: fields['name'] ?? '' }
    const outcome = payOpenInvoice(ctx, invoice, entry)
    if (wantsJson(request)) return reply.header('cache-control', 'no-store').send(outcome)
    if (outcome.redirectUrl !== null) return reply.redirect(outcome.redirectUrl, 303)
    return reply
      .code(outcome.status === 'declined' ? 402 : outcome.status === 'invalid' ? 422 : 410)
      .headers(pageHeaders())
      .send(invoicePage(invoice, merchant, savedCardOf(ctx, invoice), { ...outcome, name: entry?.name ?? '' }))
  })

  app.get<Path>('/c/confirm/:id/:of', (request, reply) => {
    const intent = findChallengedIntent(ctx, request)
    if (intent === undefined) return reply.code(404).headers(pageHeaders()).send(notFoundPage(merchant))
    return reply.headers(pageHeaders()).send(confirmPage(intent, request.url, merchant))
  })
  app.post<Path>('/c/confirm/:id/:of', (request, reply) => {
    const intent = findChallengedIntent(ctx, request)
    if (intent === undefined) return reply.code(404).headers(pageHeaders()).send(notFoundPage(merchant))
    const returnUrl = intent.next_action?.redirect_to_url?.return_url
    answerQuestion(ctx, intent, bodyOf(request)['answer'] === 'complete')
    if (typeof returnUrl === 'string') return reply.redirect(returnUrl, 303)
    return answered(reply, intent, merchant)
  })
}

function answered(reply: FastifyReply, intent: PaymentIntent, merchant: string): FastifyReply {
  const isPaid = intent.status === 'succeeded'
  return reply
    .headers(pageHeaders())
    .send(messagePage(isPaid ? 'Payment confirmed' : 'Payment not confirmed', isPaid, merchant))
}

function headersOf({ object: session }: PortalSessionRecord): Record<string, string> {
  return pageHeaders([session.return_url, session.flow?.after_completion.redirect?.return_url ?? null])
}

function statusOf({ status }: PortalOutcome): number {
  if (status === 'declined') return 402
  return status === 'invalid' ? 422 : 404
}

/** Finds the intent with an open confirmation at this URL. */
function findChallengedIntent(ctx: Context, request: FastifyRequest<Path>): PaymentIntent | undefined {
  const intent = ctx.store.paymentIntents.get(request.params.id)
  const url = intent?.next_action?.redirect_to_url?.url
  return typeof url === 'string' && url.endsWith(request.url) ? intent : undefined
}

function answerQuestion(ctx: Context, intent: PaymentIntent, passed: boolean): void {
  const method = ctx.store.paymentMethods.get(idOf(intent.payment_method))
  if (method === undefined) return
  atTimeOf(ctx, idOf(intent.customer), () => {
    if (!passed) {
      failIntent(ctx, intent, method, failedAuthentication, null, noRequest)
      return
    }
    if (chargeCard(ctx, intent, method, true, noRequest) !== null) return
    for (const invoice of ctx.store.invoices.values()) {
      const payment = invoicePaymentOf(ctx, invoice)
      if (invoice.status !== 'open' || payment?.payment.payment_intent !== intent.id) continue
      settleInvoice(ctx, invoice, payment, noRequest)
    }
  })
}

function planOf(ctx: Context, record: PortalSessionRecord, subscription: Subscription): Plan {
  const [item] = subscription.items.data
  return {
    subscription,
    name: item === undefined ? 'Plan' : nameOf(ctx, item.price),
    choices: choicesFor(ctx, record, subscription),
  }
}

function nameOf(ctx: Context, price: Price): string {
  return ctx.store.products.get(idOf(price.product))?.name ?? 'Plan'
}

function home(ctx: Context, record: PortalSessionRecord, problem?: string): string {
  const { object: session } = record
  const { features } = configurationOf(ctx, session)
  const customer = ctx.store.customers.get(session.customer)?.object
  const plans = subscriptionsOf(ctx, record).map((one) => planOf(ctx, record, one))
  const methodId =
    idOf(plans[0]?.subscription.default_payment_method) || idOf(customer?.invoice_settings.default_payment_method)
  const text = problem ?? record.done
  // Shown once; a flow stores that it is completed.
  if (session.flow === null) record.done = null
  return portalPage({
    session,
    merchant: ctx.settings.merchantName,
    plans,
    method: ctx.store.paymentMethods.get(methodId),
    invoices: invoicesOf(ctx, record).slice(0, 24),
    can: {
      card: features.payment_method_update.enabled,
      cancel: features.subscription_cancel.enabled,
      switch: features.subscription_update.enabled,
      invoices: features.invoice_history.enabled,
    },
    note: text === null ? undefined : { text, isProblem: problem !== undefined },
  })
}

function flowPage(ctx: Context, record: PortalSessionRecord): string | null {
  const { flow } = record.object
  if (flow === null) return null
  if (flow.type === 'payment_method_update') return portalCardPage(record.object, ctx.settings.merchantName)
  if (flow.subscription_cancel !== null) return cancelPage(ctx, record, flow.subscription_cancel.subscription)
  const confirm = flow.subscription_update_confirm
  if (confirm !== null) {
    return switchPage(ctx, record, confirm.subscription, undefined, confirm.items[0]?.price ?? undefined)
  }
  return switchPage(ctx, record, flow.subscription_update?.subscription ?? '')
}

function cancelPage(ctx: Context, record: PortalSessionRecord, id: string): string | null {
  const subscription = findSubscription(ctx, record, id)
  if (subscription === undefined || subscription.cancel_at !== null) return null
  const { mode } = configurationOf(ctx, record.object).features.subscription_cancel
  const end = mode === 'immediately' ? null : currentEnd(subscription)
  return portalCancelPage(record.object, ctx.settings.merchantName, planOf(ctx, record, subscription), end)
}

function switchPage(
  ctx: Context,
  record: PortalSessionRecord,
  id: string,
  problem?: string,
  only?: string,
): string | null {
  const subscription = findSubscription(ctx, record, id)
  if (subscription === undefined) return null
  const plan = planOf(ctx, record, subscription)
  const choices = plan.choices
    .filter((price) => only === undefined || price.id === only)
    .map((price) => ({
      price,
      name: nameOf(ctx, price),
      invoice: previewSwitch(ctx, record, subscription, price),
    }))
  if (choices.length === 0) return null
  return portalSwitchPage(record.object, ctx.settings.merchantName, plan, choices, problem)
}
