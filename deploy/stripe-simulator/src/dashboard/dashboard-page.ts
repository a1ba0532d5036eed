import { robot } from '../pages/drawings.ts'
import { html, type Html } from '../pages/html.ts'
import { layout } from '../pages/layout.ts'
import { isOpen } from '../payments/disputes.ts'
import { money } from '../protocol/money.ts'
import type { Charge, Customer, Dispute, Invoice, Session, SnapshotEvent, Subscription } from '../protocol/types.ts'

export interface Dashboard {
  merchant: string
  now: number
  aheadSeconds: number
  due: number | null
  mode: 'delivered' | 'held' | 'lost'
  held: number
  sessions: readonly Session[]
  payments: readonly { charge: Charge; email: string }[]
  subscriptions: readonly { subscription: Subscription; email: string }[]
  invoices: readonly Invoice[]
  customers: readonly Customer[]
  disputes: readonly Dispute[]
  events: readonly { event: SnapshotEvent; deliveries: readonly string[] }[]
  totals: Record<string, number>
}

export function dashboardPage(dashboard: Dashboard, told: string | null): string {
  const { merchant, totals } = dashboard
  return layout({
    title: `Payment simulator: ${merchant}`,
    body: html`<main class="desk">
      <div class="brand">${robot}<span>${merchant}</span></div>
      <h1>Payment simulator</h1>
      <p>This stands in for Stripe on this machine. Everything below is made up, and no money moves.</p>
      ${told !== null && html`<p class="told" role="status">${told}</p>`}
      <div class="tools">${clock(dashboard)} ${webhooks(dashboard)}</div>
      ${table('Checkout sessions', totals['sessions'], ['Session', 'Amount', 'State', 'Do'], dashboard.sessions.map(session))}
      ${table('Payments', totals['payments'], ['Payment', 'From', 'Amount', 'State', 'Do'], dashboard.payments.map(payment))}
      ${table('Subscriptions', totals['subscriptions'], ['Subscription', 'Of', 'Price', 'State', 'Period ends'], dashboard.subscriptions.map(subscription))}
      ${table('Invoices', totals['invoices'], ['Invoice', 'Of', 'Due', 'State', 'Next try'], dashboard.invoices.map(invoice))}
      ${table('Disputes', totals['disputes'], ['Dispute', 'Amount', 'Reason', 'State', 'Do'], dashboard.disputes.map(dispute))}
      ${table('Customers', totals['customers'], ['Customer', 'E-mail', 'Balance'], dashboard.customers.map(customer))}
      ${table('Events', totals['events'], ['Event', 'About', 'When', 'Deliveries', 'Do'], dashboard.events.map(event))}
    </main>`,
  })
}

function when(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
}

function act(action: string, fields: Record<string, string>, label: Html | string, about = ''): Html {
  return html`<form method="post" action="/dashboard/${action}">
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button type="submit" class="small-button">
      ${label}${about !== '' && html`<span class="unseen"> ${about}</span>`}
    </button>
  </form>`
}

function clock({ now, aheadSeconds, due }: Dashboard): Html {
  const ahead = Math.round(aheadSeconds / 3600)
  return html`<section class="card" aria-labelledby="clock">
    <h2 id="clock">Clock</h2>
    <p><strong>${when(now)} UTC</strong>${ahead > 0 && `, ${ahead} hours ahead`}</p>
    <p class="small">${due === null ? 'Nothing waits for its time.' : `Next: ${when(due)}`}</p>
    <div class="row">
      ${(['due', 'hour', 'day', 'week', 'month'] as const).map((by) =>
        act('advance', { by }, by === 'due' ? 'To what is next' : `+1 ${by}`),
      )}
    </div>
  </section>`
}

function webhooks({ mode, held }: Dashboard): Html {
  return html`<section class="card" aria-labelledby="webhooks">
    <h2 id="webhooks">Webhooks</h2>
    <p>New ones are <strong>${mode}</strong>${held > 0 && `; ${held} are held`}.</p>
    <div class="row">
      ${act('webhooks', { mode: 'deliver' }, 'Deliver')} ${act('webhooks', { mode: 'hold' }, 'Hold')}
      ${act('webhooks', { mode: 'drop' }, 'Lose')} ${act('webhooks', { mode: 'release' }, 'Release the held')}
    </div>
  </section>`
}

function table(title: string, total: number | undefined, columns: readonly string[], rows: readonly Html[]): Html {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title} <span class="small">${total ?? 0}</span></h2>
    ${
      rows.length === 0
        ? html`<p class="small">None yet.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="${title}, table">
            <table>
              <thead>
                <tr>
                  ${columns.map((column) => html`<th scope="col">${column}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${rows}
              </tbody>
            </table>
          </div>`
    }
  </section>`
}

function row(id: string, ...cells: readonly (Html | string | null)[]): Html {
  return html`<tr>
    <th scope="row"><code>${short(id)}</code></th>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`
}

/** Abbreviates an id to its start and end. */
function short(id: string): string {
  return id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id
}

function session(one: Session): Html {
  const amount = money(one.amount_total ?? 0, one.currency ?? 'usd')
  const buttons = html`<div class="row">
    ${one.url !== null && html`<a href="${one.url}">Open page</a>`}
    ${act('pay', { id: one.id, card: '4242424242424242' }, 'Pay', short(one.id))}
    ${act('pay', { id: one.id, card: '4000000000000002' }, 'Fail', short(one.id))}
  </div>`
  return row(one.id, amount, `${one.status ?? ''}, ${one.payment_status}`, one.status === 'open' ? buttons : null)
}

function payment({ charge, email }: Dashboard['payments'][number]): Html {
  const state = charge.disputed
    ? 'disputed'
    : charge.amount_refunded > 0
      ? `refunded ${money(charge.amount_refunded, charge.currency)}`
      : charge.status
  const canDispute = charge.status === 'succeeded' && !charge.disputed && !charge.refunded
  const button = canDispute ? act('dispute', { id: charge.id }, 'Dispute', short(charge.id)) : null
  return row(charge.id, email, money(charge.amount, charge.currency), state, button)
}

function subscription({ subscription: one, email }: Dashboard['subscriptions'][number]): Html {
  const [item] = one.items.data
  const price = item === undefined ? '' : money(item.price.unit_amount ?? 0, one.currency)
  const state = one.cancel_at !== null && one.status === 'active' ? `ends ${when(one.cancel_at)}` : one.status
  const interval = item?.price.recurring?.interval ?? ''
  return row(one.id, email, `${price} a ${interval}`, state, when(item?.current_period_end ?? 0))
}

function invoice(one: Invoice): Html {
  const next = one.next_payment_attempt ?? one.automatically_finalizes_at
  const due = money(one.amount_due, one.currency)
  return row(one.id, one.customer_email ?? '', due, one.status ?? '', typeof next === 'number' ? when(next) : '')
}

function dispute(one: Dispute): Html {
  const buttons = html`<div class="row">
    ${act('close', { id: one.id, outcome: 'won' }, 'Win', short(one.id))}
    ${act('close', { id: one.id, outcome: 'lost' }, 'Lose', short(one.id))}
  </div>`
  return row(one.id, money(one.amount, one.currency), one.reason, one.status, isOpen(one) ? buttons : null)
}

function customer(one: Customer): Html {
  return row(one.id, one.email ?? '', money(one.balance, one.currency ?? 'usd'))
}

function event({ event: one, deliveries }: Dashboard['events'][number]): Html {
  const about = html`<code>${short(one.data.object.id ?? one.data.object.object)}</code>`
  const states = [...new Set(deliveries)].map((state) => {
    const count = deliveries.filter((each) => each === state).length
    return count === 1 ? state : `${state} × ${count}`
  })
  const button = act('resend', { id: one.id }, 'Send again', `${one.type} ${short(one.id)}`)
  return html`<tr>
    <th scope="row">${one.type}</th>
    <td>${about}</td>
    <td>${when(one.created)}</td>
    <td>${states.length === 0 ? 'no endpoint' : states.join(', ')}</td>
    <td>${button}</td>
  </tr>`
}
