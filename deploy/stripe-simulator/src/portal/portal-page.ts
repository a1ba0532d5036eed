import { cardFields } from '../checkout/card-fields.ts'
import type { PayField } from '../checkout/pay.ts'
import { robot } from '../pages/drawings.ts'
import { html, type Html } from '../pages/html.ts'
import { layout } from '../pages/layout.ts'
import { money } from '../protocol/money.ts'
import type { BillingPortalSession, Invoice, PaymentMethod, Price, Subscription } from '../protocol/types.ts'
import { intervalOf } from '../subscriptions/subscription-periods.ts'

export interface Plan {
  subscription: Subscription
  name: string
  choices: readonly Price[]
}

export interface PortalPage {
  session: BillingPortalSession
  merchant: string
  plans: readonly Plan[]
  method: PaymentMethod | undefined
  invoices: readonly Invoice[]
  can: { card: boolean; cancel: boolean; switch: boolean; invoices: boolean }
  /** The outcome of the last action. */
  note?: { text: string; isProblem: boolean } | undefined
}

function day(seconds: number): string {
  return new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(seconds * 1000)
}

function priceText(price: Price): string {
  return `${money(price.unit_amount ?? 0, price.currency)} per ${intervalOf(price)}`
}

function shell(session: BillingPortalSession, merchant: string, title: string, body: Html, script = false): string {
  return layout({
    title: `${title}: ${merchant}`,
    script,
    body: html`<main class="narrow">
      <div class="brand">${robot}<span>${merchant}</span></div>
      ${session.return_url !== null && html`<a class="back" href="${session.return_url}"><span aria-hidden="true">←</span> <span>Back to ${merchant}</span></a>`}
      <h1>${title}</h1>
      ${body}
    </main>`,
  })
}

export function portalPage(page: PortalPage): string {
  const { session, merchant, note } = page
  return shell(
    session,
    merchant,
    'Your plan and payments',
    html`${note !== undefined && html`<p class="${note.isProblem ? 'alert' : 'told'}" role="${note.isProblem ? 'alert' : 'status'}">${note.text}</p>`}
      ${page.plans.length === 0 && html`<section class="card"><p>You have no plan at the moment.</p></section>`}
      ${page.plans.map((plan) => planCard(page, plan))}
      <section class="card" aria-labelledby="method">
        <h2 id="method">Payment method</h2>
        <p>${page.method === undefined ? 'No card is saved.' : cardText(page.method)}</p>
        ${page.can.card && html`<a class="button quiet" href="/p/session/${session.id}/card">Update card</a>`}
      </section>
      ${page.can.invoices && invoiceList(page)}`,
  )
}

function cardText(method: PaymentMethod): string {
  const { card } = method
  return `Card ending in ${card?.last4 ?? '????'}, good through ${card?.exp_month ?? '?'}/${card?.exp_year ?? '?'}`
}

function planCard({ session, can }: PortalPage, { subscription, name, choices }: Plan): Html {
  const [item] = subscription.items.data
  const end = item?.current_period_end ?? 0
  const base = `/p/session/${session.id}`
  const state =
    subscription.cancel_at !== null
      ? `Cancelled: it runs until ${day(subscription.cancel_at)} and is not charged again.`
      : subscription.status === 'past_due' || subscription.status === 'unpaid'
        ? 'The last payment failed. Update your card, then pay the open invoice below.'
        : `Renews on ${day(end)}.`
  return html`<section class="card" aria-label="Plan ${name}">
    <h2>${name}</h2>
    <p>${item === undefined ? '' : priceText(item.price)}</p>
    <p>${state}</p>
    ${
      subscription.cancel_at !== null
        ? html`<form method="post" action="${base}/resume">
            <input type="hidden" name="subscription" value="${subscription.id}" />
            <button type="submit">Don’t cancel</button>
          </form>`
        : html`${can.switch && choices.length > 0 && html`<a class="button quiet" href="${base}/switch/${subscription.id}">Change plan</a>`}
          ${can.cancel && html`<a class="button quiet" href="${base}/cancel/${subscription.id}">Cancel plan</a>`}`
    }
  </section>`
}

function invoiceList({ session, invoices }: PortalPage): Html {
  return html`<section class="card" aria-labelledby="invoices">
    <h2 id="invoices">Invoices</h2>
    ${invoices.length === 0 && html`<p>None yet.</p>`}
    <ul class="items">
      ${invoices.map(
        (invoice) =>
          html`<li>
            <span class="name"><a href="/i/${invoice.id}">${day(invoice.created)}</a></span>
            <span class="price">${money(invoice.amount_due, invoice.currency)}</span>
            <span class="more">${invoice.number ?? ''} · ${invoice.status ?? ''}</span>
            ${
              invoice.status === 'open' &&
              html`<form class="more" method="post" action="/p/session/${session.id}/pay">
                <input type="hidden" name="invoice" value="${invoice.id}" />
                <button type="submit">Pay ${money(invoice.amount_remaining, invoice.currency)} now</button>
              </form>`
            }
          </li>`,
      )}
    </ul>
  </section>`
}

export function portalCardPage(
  session: BillingPortalSession,
  merchant: string,
  refusal?: { message: string; field: PayField | null; name: string },
): string {
  const problem = (field: PayField) => (refusal?.field === field ? refusal.message : '')
  return shell(
    session,
    merchant,
    'Update your card',
    html`<section class="card" aria-label="New card">
      <form id="pay" method="post" action="/p/session/${session.id}/card" novalidate>
        <p id="form-alert" class="alert" role="alert">${refusal?.field === null ? refusal.message : ''}</p>
        ${cardFields(problem, refusal?.name ?? '')}
        <button type="submit"><span class="spin" aria-hidden="true"></span><span class="label">Save card</span></button>
        <p class="small">Takes only the listed test cards and keeps no card number.</p>
      </form>
    </section>`,
    true,
  )
}

export function portalCancelPage(
  session: BillingPortalSession,
  merchant: string,
  plan: Plan,
  at: number | null,
): string {
  return shell(
    session,
    merchant,
    'Cancel your plan?',
    html`<section class="card" aria-label="Cancel ${plan.name}">
      <p>
        ${
          at === null
            ? `${plan.name} ends at once.`
            : `${plan.name} goes on until ${day(at)}, which you have paid for. After that you are not charged again.`
        }
      </p>
      <form method="post" action="/p/session/${session.id}/cancel">
        <input type="hidden" name="subscription" value="${plan.subscription.id}" />
        <button type="submit">Cancel plan</button>
      </form>
      <a class="button quiet" href="/p/session/${session.id}/home">Keep plan</a>
    </section>`,
  )
}

export function portalSwitchPage(
  session: BillingPortalSession,
  merchant: string,
  plan: Plan,
  choices: readonly { price: Price; name: string; invoice: Invoice }[],
  problem?: string,
): string {
  return shell(
    session,
    merchant,
    'Change your plan',
    html`${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
      ${choices.map(
        ({ price, name, invoice }) =>
          html`<section class="card" aria-label="${name}, ${priceText(price)}">
            <h2>${name}</h2>
            <p>${priceText(price)}</p>
            <ul class="items">
              ${invoice.lines.data.map(
                (line) =>
                  html`<li>
                    <span class="name">${line.description}</span
                    ><span class="price">${money(line.amount, line.currency)}</span>
                  </li>`,
              )}
            </ul>
            <p class="sum">
              <span>To pay now</span><span class="price">${money(invoice.amount_due, invoice.currency)}</span>
            </p>
            ${(invoice.ending_balance ?? 0) < 0 && html`<p class="small">${money(-(invoice.ending_balance ?? 0), invoice.currency)} stays as a credit for your next payments.</p>`}
            <form method="post" action="/p/session/${session.id}/switch">
              <input type="hidden" name="subscription" value="${plan.subscription.id}" />
              <input type="hidden" name="price" value="${price.id}" />
              <button type="submit">Switch to ${priceText(price)}</button>
            </form>
          </section>`,
      )} <a class="button quiet" href="/p/session/${session.id}/home">Keep ${plan.name} as it is</a>`,
  )
}

export function portalDonePage(
  session: BillingPortalSession,
  merchant: string,
  title: string,
  message: string | null,
): string {
  return shell(
    session,
    merchant,
    title,
    html`<section class="card" aria-label="Confirmation">
      ${message !== null && html`<p>${message}</p>`}
      ${session.return_url !== null && html`<a class="button" href="${session.return_url}">Return to ${merchant}</a>`}
    </section>`,
  )
}
