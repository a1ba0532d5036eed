import type { TableLives } from '@robokids/runtime/sweep'

/** Half a year for questions, and longer than any payment takes. */
const unpaidDays = 180
const isOver = `status in ('expired', 'failed')`

/** How long the rows of each table are kept. */
export const tables: TableLives = {
  price_book: { kept: 'What a purchase of that time cost' },
  promotions: { kept: 'What a purchase of that time cost' },
  products: { kept: 'What the shop offers' },
  account_states: { kept: 'Whose a purchase is follows from all of them' },
  payments: { kept: 'Money' },
  refunds: { kept: 'Money' },
  disputes: { kept: 'Money' },
  ledger_entries: { kept: 'Money: the database itself refuses to delete them' },
  ledger_transactions: { kept: 'Money: the database itself refuses to delete them' },
  membership_invoices: { kept: 'Money' },
  membership_credits: { kept: 'What was paid for' },
  memberships: { kept: 'Purchases' },
  plan_offers: {
    days: 1,
    since: 'created_at',
    only: 'agreed_at is null',
    why: 'An offer is for a day. Those that were agreed to are kept, as evidence',
  },
  checkout_attempts: {
    days: unpaidDays,
    since: 'created_at',
    realTime: true,
    only: `${isOver} and not exists (select from payments where attempt_id = checkout_attempts.id)`,
    why: 'Nobody paid: half a year for questions, and longer than any payment takes. Paid ones are kept',
  },
  orders: {
    days: unpaidDays,
    since: 'created_at',
    only: `email is null
      and not exists (select from checkout_attempts where registration_id = orders.id)
      and not exists (select from payments where registration_id = orders.id)`,
    why: 'As their checkouts, and after them. Paid ones are kept',
  },
  membership_consents: {
    days: unpaidDays,
    since: 'agreed_at',
    realTime: true,
    only: `attempt_id in (
        select id from membership_attempts where ${isOver} and created_at < now() - interval '${unpaidDays} days')
      and not exists (select from memberships where attempt_id = membership_consents.attempt_id)`,
    why: 'Nobody paid. Those of a membership are kept, as evidence',
  },
  membership_attempts: {
    days: unpaidDays,
    since: 'created_at',
    realTime: true,
    only: `${isOver} and not exists (select from memberships where attempt_id = membership_attempts.id)
      and not exists (select from membership_consents where attempt_id = membership_attempts.id)`,
    why: 'Nobody paid: half a year for questions, and longer than any payment takes. Paid ones are kept',
  },
  stripe_events: {
    days: 40,
    since: 'handled_at',
    realTime: true,
    why: 'Stripe lists the events of the last 30 days, and sends none that is older',
  },
  failed_events: { until: 'its handling succeeds' },
  counters: { kept: 'One row for each sequence' },
  cursors: { kept: 'One row for each of Stripe’s lists' },
}
