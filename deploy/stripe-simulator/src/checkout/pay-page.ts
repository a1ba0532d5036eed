import { robot } from '../pages/drawings.ts'
import { html, type Html } from '../pages/html.ts'
import { layout } from '../pages/layout.ts'
import { money } from '../protocol/money.ts'
import type { LineItem, Session } from '../protocol/types.ts'
import { cardFields, field } from './card-fields.ts'
import type { PayEntry, PayField, PayOutcome } from './pay.ts'
import type { ShippingField } from './shipping.ts'

export interface PayPage {
  session: Session
  lineItems: readonly LineItem[]
  /** Product id to its description. */
  descriptions: ReadonlyMap<string, string>
  email: string | null
  /** The values and the error of a form sent without script; card details are never sent back. */
  entry?: Omit<PayEntry, 'number' | 'expMonth' | 'expYear' | 'cvc'>
  refusal?: PayOutcome
}

export function payPage(page: PayPage): string {
  const { session } = page
  const merchant = session.branding_settings?.display_name ?? ''
  return layout({
    title: `Pay ${merchant}`,
    script: true,
    body: html`<main class="page">
      ${summary(page, merchant)}
      <section class="card" aria-labelledby="pay-title">
        <h2 id="pay-title">Pay by card</h2>
        ${payForm(page)}
      </section>
    </main>`,
  })
}

function summary({ session, lineItems, descriptions }: PayPage, merchant: string): Html {
  const currency = session.currency ?? 'usd'
  const total = money(session.amount_total ?? 0, currency)
  const subscribes = session.mode === 'subscription'
  const period = subscribes ? ` ${periodOf(lineItems[0])}` : ''
  return html`<section aria-labelledby="sum-title">
    <div class="brand">${robot}<span>${merchant}</span></div>
    ${session.cancel_url !== null && html`<a class="back" href="${session.cancel_url}"><span aria-hidden="true">←</span> <span>Back to ${merchant}</span></a>`}
    <h1 id="sum-title">
      <span class="for small">${subscribes ? 'Subscribe to' : 'Pay'} ${merchant}</span><br /><span class="total"
        >${total}${period}</span
      >
    </h1>
    <ul class="items">
      ${lineItems.map((item) => lineItem(item, descriptions))}
    </ul>
    <p class="sum"><span>${subscribes ? 'Total due today' : 'Total due'}</span><span class="price">${total}</span></p>
  </section>`
}

/** `per month`, `every 3 months`; empty for one-time prices. */
function periodOf(item: LineItem | undefined): string {
  const recurring = item?.price.recurring
  if (!recurring) return ''
  const { interval, interval_count: count } = recurring
  return count === 1 ? `per ${interval}` : `every ${count} ${interval}s`
}

function lineItem(item: LineItem, descriptions: ReadonlyMap<string, string>): Html {
  const quantity = item.quantity ?? 1
  const each = quantity > 1 ? `${quantity} × ${money(item.price.unit_amount ?? 0, item.currency)}` : null
  const productId = typeof item.price.product === 'string' ? item.price.product : ''
  return html`<li>
    <span class="name">${item.description}</span><span class="price">${money(item.amount_total, item.currency)}</span>
    ${item.price.recurring !== null && html`<span class="more">Billed ${money(item.amount_total, item.currency)} ${periodOf(item)} until cancelled</span>`}
    ${each !== null && html`<span class="more">${each}</span>`}
    ${descriptions.has(productId) && html`<span class="more">${descriptions.get(productId)}</span>`}
  </li>`
}

function payForm({ session, email, entry, refusal }: PayPage): Html {
  const total = session.amount_total ?? 0
  const problem = (field: PayField) => (refusal?.field === field ? refusal.message : '')
  const typed = entry?.email ?? email ?? ''
  const isFixed = session.customer_email !== null
  const submitText = session.custom_text.submit?.message
  const afterText = session.custom_text.after_submit?.message
  const verb = session.submit_type === 'book' ? 'Book' : session.submit_type === 'donate' ? 'Donate' : 'Pay'
  const label =
    session.mode === 'subscription'
      ? 'Subscribe'
      : total > 0
        ? `${verb} ${money(total, session.currency ?? 'usd')}`
        : 'Complete order'
  return html`<form id="pay" method="post" action="/c/pay/${session.id}" novalidate>
    <p id="form-alert" class="alert" role="alert">${refusal?.field === null ? refusal.message : ''}</p>
    ${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'email', value: typed, readonly: isFixed, problem: problem('email') })}
    ${session.shipping_address_collection !== null && shippingFields(session.shipping_address_collection.allowed_countries, problem, entry)}
    ${total > 0 && cardFields(problem, entry?.name ?? '')}
    ${session.consent_collection?.terms_of_service === 'required' && termsField(session, problem('terms'), entry?.terms ?? false)}
    ${submitText !== undefined && html`<p class="small">${submitText}</p>`}
    <button type="submit"><span class="spin" aria-hidden="true"></span><span class="label">${label}</span></button>
    ${afterText !== undefined && html`<p class="small">${afterText}</p>`}
    <p class="small">
      This page stands in for the payment provider. It takes only the listed test cards and keeps no card number. Do not
      enter a real card.
    </p>
  </form>`
}

/** The terms to agree to, with the merchant's text if given. */
function termsField({ custom_text: text }: Session, problem: string, checked: boolean): Html {
  return html`<div class="field">
    <label class="check" for="terms">
      <input
        id="terms"
        name="terms"
        type="checkbox"
        required
        aria-describedby="terms-error"
        ${checked && html`checked`}
        ${problem !== '' && html`aria-invalid="true" autofocus`}
      />
      <span>${text.terms_of_service_acceptance?.message ?? 'I agree to the Terms of Service and Privacy Policy.'}</span>
    </label>
    <p id="terms-error" class="error" role="alert">${problem}</p>
  </div>`
}

function shippingFields(
  countries: readonly string[],
  problem: (field: PayField) => string,
  entry: PayPage['entry'],
): Html {
  const part = (
    name: ShippingField | 'line2',
    label: string,
    autocomplete: string,
    more: Partial<Parameters<typeof field>[0]> = {},
  ) =>
    field({
      name,
      label,
      autocomplete: `shipping ${autocomplete}`,
      value: entry?.[name] ?? '',
      maxlength: 256,
      problem: name === 'line2' ? '' : problem(name),
      ...more,
    })
  const chosen = entry?.country ?? countries[0]
  const nameOf = (code: string) => new Intl.DisplayNames('en-US', { type: 'region' }).of(code) ?? code
  return html`<fieldset>
    <legend>Shipping address</legend>
    ${part('shippingName', 'Full name', 'name')} ${part('line1', 'Address', 'address-line1')}
    ${part('line2', 'Address line 2 (optional)', 'address-line2', { optional: true })}
    ${part('city', 'City', 'address-level2')}
    <div class="pair">
      ${part('state', 'State', 'address-level1')}
      ${part('postalCode', 'ZIP code', 'postal-code', { inputmode: 'numeric', maxlength: 20 })}
    </div>
    <div class="field">
      <label for="country">Country</label>
      <select id="country" name="country" autocomplete="shipping country">
        ${countries.map((code) => html`<option value="${code}" ${code === chosen && html`selected`}>${nameOf(code)}</option>`)}
      </select>
    </div>
  </fieldset>`
}
