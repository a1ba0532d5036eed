import { cardFields } from '../checkout/card-fields.ts'
import type { PayField } from '../checkout/pay.ts'
import { clock, robot, tick } from '../pages/drawings.ts'
import { html, type Html } from '../pages/html.ts'
import { layout } from '../pages/layout.ts'
import { money } from '../protocol/money.ts'
import type { Invoice, PaymentMethod } from '../protocol/types.ts'

/** The outcome of a form sent without script. */
interface Refusal {
  message: string
  field: PayField | null
  name: string
}

/** An invoice with its payment options: the card on file, which may need a confirmation, or another one. */
export function invoicePage(
  invoice: Invoice,
  merchant: string,
  saved: PaymentMethod | undefined,
  refusal?: Refusal,
): string {
  const isPaid = invoice.status === 'paid'
  const isOpen = invoice.status === 'open' && invoice.amount_remaining > 0
  const title = `Invoice ${invoice.number ?? ''}`
  return layout({
    title,
    script: isOpen,
    body: html`<main class="narrow">
      <div class="brand">${robot}<span>${merchant}</span></div>
      <section class="card">
        ${isPaid ? tick : clock}
        <h1>${title}</h1>
        <dl class="facts">
          <dt>Amount due</dt>
          <dd>${money(invoice.amount_due, invoice.currency)}</dd>
          <dt>State</dt>
          <dd>${invoice.status}</dd>
          <dt>Date</dt>
          <dd>${new Date(invoice.created * 1000).toISOString().slice(0, 10)}</dd>
        </dl>
        <ul class="items">
          ${invoice.lines.data.map(
            (line) =>
              html`<li>
                <span class="name">${line.description}</span
                ><span class="price">${money(line.amount, line.currency)}</span>
              </li>`,
          )}
        </ul>
        ${isPaid && html`<p class="small">A test invoice: no money moved.</p>`}
        ${!isPaid && !isOpen && html`<p>Nothing is to be paid for this invoice.</p>`}
      </section>
      ${isOpen && waysToPay(invoice, saved, refusal)}
    </main>`,
  })
}

function waysToPay(invoice: Invoice, saved: PaymentMethod | undefined, refusal: Refusal | undefined): Html {
  const action = `/i/${invoice.id}/pay`
  const amount = money(invoice.amount_remaining, invoice.currency)
  const problem = (field: PayField) => (refusal?.field === field ? refusal.message : '')
  return html`${
      saved !== undefined &&
      html`<section class="card" aria-label="Card on file">
        <form method="post" action="${action}">
          <button type="submit">Pay ${amount} with the card ending in ${saved.card?.last4 ?? '????'}</button>
        </form>
      </section>`
    }
    <section class="card" aria-label="Another card">
      <h2>Pay with another card</h2>
      <form id="pay" method="post" action="${action}" novalidate>
        <p id="form-alert" class="alert" role="alert">${refusal?.field === null ? refusal.message : ''}</p>
        ${cardFields(problem, refusal?.name ?? '')}
        <button type="submit">
          <span class="spin" aria-hidden="true"></span><span class="label">Pay ${amount}</span>
        </button>
      </form>
    </section>`
}
