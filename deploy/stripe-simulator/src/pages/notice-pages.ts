import { money } from '../protocol/money.ts'
import type { Charge, PaymentIntent, Session } from '../protocol/types.ts'
import { clock, robot, shield, tick } from './drawings.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

function notice(title: string, drawing: Html, body: Html, merchant: string): string {
  return layout({
    title,
    body: html`<main class="narrow">
      <div class="brand">${robot}<span>${merchant}</span></div>
      <section class="card">
        ${drawing}
        <h1>${title}</h1>
        ${body}
      </section>
    </main>`,
  })
}

function merchantOf(session: Session): string {
  return session.branding_settings?.display_name ?? ''
}

export function expiredPage(session: Session): string {
  const merchant = merchantOf(session)
  return notice(
    'This payment page has expired',
    clock,
    html`<p>You have not been charged. To pay, go back to ${merchant} and start again.</p>
      ${session.cancel_url !== null && html`<a class="button" href="${session.cancel_url}">Back to ${merchant}</a>`}`,
    merchant,
  )
}

export function completePage(session: Session, successUrl: string): string {
  const merchant = merchantOf(session)
  const isPending = session.payment_status === 'unpaid'
  return notice(
    isPending ? 'Your payment is being processed' : 'You have already paid',
    isPending ? clock : tick,
    html`<p>
        ${
          isPending
            ? `Your bank has not sent the money yet. ${merchant} will write to you when it has.`
            : `${money(session.amount_total ?? 0, session.currency ?? 'usd')} was paid once; this page charges nothing more.`
        }
      </p>
      <a class="button" href="${successUrl}">Continue to ${merchant}</a>`,
    merchant,
  )
}

export function notFoundPage(merchant: string): string {
  return notice(
    'This payment page does not exist',
    clock,
    html`<p>Nothing was charged. Check the link that you were given.</p>`,
    merchant,
  )
}

/** The bank's confirmation (3-D Secure), with a choice of answers. */
export function challengePage(session: Session, challenge: { id: string; last4: string }): string {
  const merchant = merchantOf(session)
  return notice(
    'Confirm this payment',
    shield,
    html`<p>This stands in for your bank’s own page (3-D Secure). Choose what the bank should answer.</p>
      <dl class="facts">
        <dt>Shop</dt>
        <dd>${merchant}</dd>
        <dt>Amount</dt>
        <dd>${money(session.amount_total ?? 0, session.currency ?? 'usd')}</dd>
        <dt>Card</dt>
        <dd>•••• ${challenge.last4}</dd>
      </dl>
      <form method="post" action="/c/authenticate/${session.id}/${challenge.id}">
        <button type="submit" name="answer" value="complete">Complete</button>
        <button type="submit" name="answer" value="fail" class="quiet">Fail</button>
      </form>`,
    merchant,
  )
}

export function receiptPage(charge: Charge, merchant: string): string {
  const last4 = charge.payment_method_details?.card?.last4
  return notice(
    'Receipt',
    tick,
    html`<dl class="facts">
        <dt>Amount paid</dt>
        <dd>${money(charge.amount, charge.currency)}</dd>
        ${
          charge.amount_refunded > 0 &&
          html`<dt>Refunded</dt>
            <dd>${money(charge.amount_refunded, charge.currency)}</dd>`
        }
        <dt>Date paid</dt>
        <dd>${new Date(charge.created * 1000).toISOString().slice(0, 10)}</dd>
        ${
          last4 !== null &&
          last4 !== undefined &&
          html`<dt>Card</dt>
            <dd>•••• ${last4}</dd>`
        }
        <dt>Payment</dt>
        <dd>${charge.id}</dd>
      </dl>
      <p class="small">A test receipt: no money moved.</p>`,
    merchant,
  )
}

export function portalGonePage(merchant: string): string {
  return notice(
    'This link has expired',
    clock,
    html`<p>
      For your safety, a link to your payments is good for an hour. Go back to ${merchant} and open it again.
    </p>`,
    merchant,
  )
}

/** The bank's confirmation of a payment without a checkout page. */
export function confirmPage(intent: PaymentIntent, action: string, merchant: string): string {
  return notice(
    'Confirm this payment',
    shield,
    html`<p>This stands in for your bank’s own page (3-D Secure). Choose what the bank should answer.</p>
      <dl class="facts">
        <dt>Amount</dt>
        <dd>${money(intent.amount, intent.currency)}</dd>
      </dl>
      <form method="post" action="${action}">
        <button type="submit" name="answer" value="complete">Complete</button>
        <button type="submit" name="answer" value="fail" class="quiet">Fail</button>
      </form>`,
    merchant,
  )
}

export function messagePage(title: string, isGood: boolean, merchant: string): string {
  return notice(title, isGood ? tick : clock, html`<p>You can close this page.</p>`, merchant)
}
