import type { Agreement } from '@robokids/contracts/agreement'
import { membershipPlans } from '@robokids/contracts/auth'
import { checkoutStatuses, type Refund } from '@robokids/contracts/billing'
import type { LevelClassType, RegistrationFacts } from '@robokids/contracts/enrollment'
import { productStates, type OrderItem, type ShipTo } from '@robokids/contracts/shop'
import { instant } from '@robokids/runtime/db'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  json,
  jsonb,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { OrderFacts } from './purchase.ts'
import type { Account } from './ledger/rules.ts'
import type { MembershipParameters, SessionParameters, OrderParameters } from './stripe/session-parameters.ts'
import type { SeatRejection } from './membership/rules.ts'
import type { Card, UnpaidInvoice } from './stripe/observed.ts'

/** How often a job has tried in vain, and when it may try again. */
const retried = {
  tries: integer().notNull().default(0),
  nextTryAt: instant('next_try_at')
    .notNull()
    .default(sql`now()`),
}

/** What each thing costs, and when: rows of one sku never overlap. Amounts are cents. */
export const priceBook = pgTable(
  'price_book',
  {
    sku: text().notNull(),
    amount: integer().notNull(),
    currency: text().$type<'usd'>().notNull(),
    validFrom: instant('valid_from').notNull(),
    /** The first instant at which it is no longer true. */
    validTo: instant('valid_to'),
  },
  (table) => [primaryKey({ columns: [table.sku, table.validFrom] })],
)

export const promotions = pgTable('promotions', {
  id: text().primaryKey(),
  kind: text().$type<'sibling_free'>().notNull(),
  classTypes: jsonb('class_types').$type<LevelClassType[]>().notNull(),
  startsAt: instant('starts_at').notNull(),
  /** The first instant at which it is over. */
  endsAt: instant('ends_at').notNull(),
})

/** What the shop shows. What a product costs stands in the price book, under the same sku. */
export const products = pgTable('products', {
  sku: text().primaryKey(),
  name: text().notNull(),
  state: text({ enum: productStates }).notNull(),
})

/**
 * What identity has told of accounts, a row an event: whose something is follows from all of them, in whatever order they
 * came. `find` adds what a signed-in member has shown of an account that nothing is known of yet.
 */
export const accountStates = pgTable(
  'account_states',
  {
    /** Of the event. */
    id: uuid().primaryKey(),
    userId: uuid('user_id').notNull(),
    at: instant().notNull(),
    /** The address that is proven to be the account's. */
    email: text(),
    emailKey: text('email_key'),
    status: text({ enum: ['active', 'disabled', 'deleted'] }).notNull(),
  },
  (table) => [index('account_states_user').on(table.userId), index('account_states_email').on(table.emailKey)],
)

/**
 * A cart that somebody went to pay. What was asked for and who gets it is kept here; what was agreed, paid and given back
 * is in its attempts, payments and refunds, from which its status follows.
 */
export const orders = pgTable(
  'orders',
  {
    /** Made by the client. */
    id: uuid().primaryKey(),
    items: jsonb().$type<OrderItem[]>().notNull(),
    /**
     * The first order of the cart that this one replaced an earlier version of: of all orders of one cart, one is to be paid.
     * Null where it is itself the first, and in rows of the time before.
     */
    cartId: uuid('cart_id'),
    /** As the payment page was told, null until then; goes with the owner to another address. */
    email: text(),
    /** The account that it belongs to; null while none has it. */
    ownerId: uuid('owner_id'),
    /** The browser that placed it, by the BFF's cookie; null in rows of the time before. */
    browserId: uuid('browser_id'),
    /** Where it was asked for, as the BFF tells it; null in rows of the time before. */
    network: text(),
    /** With which address and account it was placed, from when either is another one by now. */
    placedWith: jsonb('placed_with').$type<{ email: string; ownerId: string | null }>(),
    shipTo: jsonb('ship_to').$type<ShipTo>(),
    shippedAt: instant('shipped_at'),
    trackingNumber: text('tracking_number'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('orders_created').on(table.createdAt),
    index('orders_cart').on(table.cartId),
    index('orders_owner').on(table.ownerId),
    index('orders_email').on(sql`lower(${table.email})`),
  ],
)

export const checkoutAttempts = pgTable(
  'checkout_attempts',
  {
    /** UUIDv7; also the idempotency key under which the provider makes the session. */
    id: uuid().primaryKey(),
    /** The id of the registration or the order that is paid here; the column is from when there were registrations alone. */
    purchaseId: uuid('registration_id').notNull(),
    /** The account for which it was opened: with that gone, it is closed. */
    ownerId: uuid('owner_id'),
    status: text({ enum: checkoutStatuses }).notNull(),
    purchase: jsonb().$type<RegistrationFacts | OrderFacts>().notNull(),
    /** What its buyer agreed to; null where the request named nothing, and in rows of the time before. */
    agreement: jsonb().$type<Agreement>(),
    amount: integer().notNull(),
    currency: text().$type<'usd'>().notNull(),
    /** What the provider is asked for. `json`, not `jsonb`: it is sent again word for word. */
    parameters: json().$type<SessionParameters | OrderParameters>().notNull(),
    /** On the provider's clock. */
    expiresAt: instant('expires_at').notNull(),
    stripeSessionId: text('stripe_session_id').unique(),
    checkoutUrl: text('checkout_url'),
    lastDecline: text('last_decline'),
    /** The charge, or else the payment intent, that was declined last: each decline is told of once. */
    lastDeclinedId: text('last_declined_id'),
    /** When that was, on the provider's clock: an older decline that is heard of later changes nothing. */
    lastDeclinedAt: instant('last_declined_at'),
    /** Its registration is gone: the session is to be closed. */
    closeRequestedAt: instant('close_requested_at'),
    /** It is closed for another checkout of the same family, whoever hears of that first. */
    replaced: boolean().notNull().default(false),
    /** Of closing it. */
    ...retried,
    /** When the provider was last asked about it, in real time. */
    checkedAt: instant('checked_at').notNull(),
    /** In real time, as events' times are. */
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    // However many requests come in at once, a registration has one checkout that can be paid.
    uniqueIndex('checkout_attempts_live')
      .on(table.purchaseId)
      .where(sql`status in ('creating', 'open', 'processing')`),
    index('checkout_attempts_registration').on(table.purchaseId),
    index('checkout_attempts_owner').on(table.ownerId),
    index('checkout_attempts_unsettled')
      .on(table.checkedAt)
      .where(sql`status in ('creating', 'open', 'processing')`),
  ],
)

/** Tries to become a member: what is told of `checkout_attempts` holds here too, with an address in a registration's place. */
export const membershipAttempts = pgTable(
  'membership_attempts',
  {
    id: uuid().primaryKey(),
    /** As it was typed. */
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    /** The account that was signed in. */
    ownerId: uuid('owner_id'),
    /** The browser that asked, by the BFF's cookie; null in rows of the time before. */
    browserId: uuid('browser_id'),
    plan: text({ enum: membershipPlans }).notNull(),
    classDate: date('class_date').notNull(),
    /** The member's own, as its browser told it; null where none did. */
    familyTimeZone: text('family_time_zone'),
    status: text({ enum: checkoutStatuses }).notNull(),
    amount: integer().notNull(),
    currency: text().$type<'usd'>().notNull(),
    /** What is agreed to by paying; null in rows of the version before. */
    agreement: jsonb().$type<Agreement>(),
    parameters: json().$type<MembershipParameters>().notNull(),
    expiresAt: instant('expires_at').notNull(),
    stripeSessionId: text('stripe_session_id').unique(),
    checkoutUrl: text('checkout_url'),
    /** Its account is gone: the session is to be closed. */
    closeRequestedAt: instant('close_requested_at'),
    /** Of closing it. */
    ...retried,
    checkedAt: instant('checked_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    // However many tabs there are, whoever asks with an address has one checkout that can be paid.
    uniqueIndex('membership_attempts_live_asker')
      .on(table.emailKey, sql`coalesce(${table.ownerId}, ${table.browserId})`)
      .where(sql`status in ('creating', 'open', 'processing')`),
    index('membership_attempts_unsettled')
      .on(table.checkedAt)
      .where(sql`status in ('creating', 'open', 'processing')`),
    index('membership_attempts_email').on(table.emailKey),
    index('membership_attempts_owner').on(table.ownerId),
  ],
)

/** What proves that somebody agreed to the terms of renewal, each time it was done. Rows are never changed. */
export const membershipConsents = pgTable(
  'membership_consents',
  {
    id: uuid().primaryKey(),
    attemptId: uuid('attempt_id')
      .notNull()
      .references(() => membershipAttempts.id),
    version: text().notNull(),
    text: text().notNull(),
    /** Who sent it; null where it was given on the provider's page, whose session shows it. */
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    stripeSessionId: text('stripe_session_id'),
    agreedAt: instant('agreed_at').notNull(),
  },
  (table) => [
    index('membership_consents_attempt').on(table.attemptId),
    check(
      'membership_consents_proof',
      sql`(${table.ipAddress} is not null and ${table.userAgent} is not null) or ${table.stripeSessionId} is not null`,
    ),
  ],
)

/** Numbers the fetches of subscriptions in the order in which they begin. */
export const subscriptionFetches = pgSequence('membership_looks')

/** Subscriptions that began with a paid attempt, each once: what the provider last said of them, and what we want of it. */
export const memberships = pgTable(
  'memberships',
  {
    attemptId: uuid('attempt_id')
      .primaryKey()
      .references(() => membershipAttempts.id),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    /** Of use to the version before alone. */
    emailAt: instant('email_at'),
    plan: text({ enum: membershipPlans }).notNull(),
    stripeSubscriptionId: text('stripe_subscription_id').notNull().unique(),
    stripeCustomerId: text('stripe_customer_id').notNull(),
    amount: integer().notNull(),
    currency: text().$type<'usd'>().notNull(),
    /** `duplicate`: it was paid for an address that had a membership already. `mismatch`: for another price. */
    status: text({ enum: ['active', 'ended', 'duplicate', 'mismatch'] }).notNull(),
    activatedAt: instant('activated_at').notNull(),
    /** The account it belongs to; null while none has it. */
    userId: uuid('user_id'),
    /** Since when. */
    ownedAt: instant('owned_at'),
    /** When an account that it belonged to was deleted or disabled: it is not renewed because of that. */
    accountEndedAt: instant('account_ended_at'),
    /** Counts what was learnt: an answer to a question that was asked before the last one was learnt is asked for anew. */
    version: integer().notNull().default(0),
    /** The number of the latest fetch that was applied: a fetch that began earlier is stale. */
    fetchNumber: bigint('look', { mode: 'number' }).notNull().default(0),
    /** In the provider's words. */
    subscriptionStatus: text('subscription_status').notNull().default('active'),
    paidUntil: instant('paid_until'),
    /** Set where it will not go on. */
    cancelAt: instant('cancel_at'),
    endedAt: instant('ended_at'),
    nextPlan: text('next_plan', { enum: membershipPlans }),
    nextAmount: integer('next_amount'),
    card: jsonb().$type<Card>(),
    unpaid: jsonb().$type<UnpaidInvoice>(),
    seat: text({ enum: ['pending', 'seated', 'gone'] })
      .notNull()
      .default('pending'),
    /** Why its seat is gone. */
    rejection: text().$type<SeatRejection>(),
    /** That the provider is to end it, until it has: no consumer asks it by itself. */
    endRequest: text('end_request', { enum: ['now', 'at_period_end'] }),
    /** Of ending it, and of asking after it; both begin anew whenever something is learnt. */
    ...retried,
    remindedAt: instant('reminded_at'),
  },
  (table) => [
    // Not unique: an account may come to have a second one with an address that it proves.
    index('memberships_email').on(table.emailKey),
    index('memberships_user').on(table.userId),
    index('memberships_end_requests')
      .on(table.attemptId)
      .where(sql`end_request is not null`),
  ],
)

/** What a change of plan was offered for, by the id of the offer, and when it was agreed to. */
export const planOffers = pgTable(
  'plan_offers',
  {
    membershipId: uuid('membership_id')
      .notNull()
      .references(() => memberships.attemptId),
    id: text().notNull(),
    agreement: jsonb().$type<Agreement>().notNull(),
    agreedAt: instant('agreed_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.membershipId, table.id] })],
)

/** Money that came in: each of the provider's payments once, whether it was owed or not. */
export const payments = pgTable(
  'payments',
  {
    id: uuid().primaryKey(),
    /** Null for a payment of a membership, which `membershipId` names: its later ones come without a checkout. */
    attemptId: uuid('attempt_id').references(() => checkoutAttempts.id),
    membershipId: uuid('membership_id').references(() => memberships.attemptId),
    purchaseId: uuid('registration_id').notNull(),
    stripePaymentIntentId: text('stripe_payment_intent_id').notNull().unique(),
    /** Only an accepted payment pays for the registration; the others go back. */
    outcome: text({ enum: ['accepted', 'duplicate', 'amount_mismatch'] }).notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    /** Of accepted payments only. */
    receiptNumber: text('receipt_number').unique(),
    paidAt: instant('paid_at').notNull(),
    /** When its payer was told that all of it went back: what it paid for is over, also where the bank returns the money. */
    returnedAt: instant('returned_at'),
  },
  (table) => [
    uniqueIndex('payments_accepted')
      .on(table.purchaseId)
      .where(sql`outcome = 'accepted' and membership_id is null`),
    check('payments_of_one', sql`(${table.attemptId} is null) <> (${table.membershipId} is null)`),
    index('payments_registration').on(table.purchaseId),
  ],
)

/** What a payment of a membership is for: each of the provider's paid invoices once. */
export const membershipInvoices = pgTable(
  'membership_invoices',
  {
    invoiceId: text('invoice_id').primaryKey(),
    membershipId: uuid('membership_id')
      .notNull()
      .references(() => memberships.attemptId),
    paymentId: uuid('payment_id')
      .notNull()
      .unique()
      .references(() => payments.id),
    plan: text({ enum: membershipPlans }).notNull(),
    reason: text({ enum: ['first', 'renewal', 'switch'] }).notNull(),
    periodEnd: instant('period_end').notNull(),
  },
  (table) => [index('membership_invoices_membership').on(table.membershipId)],
)

/** Payments that their cardholders dispute with the bank, in the provider's words. */
export const disputes = pgTable(
  'disputes',
  {
    id: text().primaryKey(),
    /** Null where the payment is not one of ours. */
    paymentId: uuid('payment_id').references(() => payments.id),
    stripePaymentIntentId: text('stripe_payment_intent_id'),
    /** In whatever currency: what is not ours may be more than fits into an integer. */
    amount: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull(),
    reason: text().notNull(),
    status: text().notNull(),
    answerBy: instant('answer_by'),
    openedAt: instant('opened_at').notNull(),
  },
  (table) => [index('disputes_payment').on(table.paymentId), index('disputes_intent').on(table.stripePaymentIntentId)],
)

/**
 * The ledger: each of the provider's balance transactions once. Together with its entries it is only ever added to, and
 * every transaction's entries add up to nothing: triggers see to both.
 */
export const ledgerTransactions = pgTable(
  'ledger_transactions',
  {
    /** The provider's id. */
    id: text().primaryKey(),
    type: text().notNull(),
    /** The charge, refund or dispute that it is about. */
    source: text(),
    stripePaymentIntentId: text('stripe_payment_intent_id'),
    currency: text().notNull(),
    occurredAt: instant('occurred_at').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (table) => [
    index('ledger_transactions_intent').on(table.stripePaymentIntentId),
    index('ledger_transactions_occurred').on(table.occurredAt),
  ],
)

export const ledgerEntries = pgTable(
  'ledger_entries',
  {
    transactionId: text('transaction_id')
      .notNull()
      .references(() => ledgerTransactions.id),
    account: text().$type<Account>().notNull(),
    /** Cents: a debit is positive, a credit negative. */
    amount: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.transactionId, table.account] })],
)

export const refunds = pgTable(
  'refunds',
  {
    /** UUIDv7 or made by the caller; also the idempotency key under which the provider makes the refund. */
    id: uuid().primaryKey(),
    paymentId: uuid('payment_id')
      .notNull()
      .references(() => payments.id),
    purchaseId: uuid('registration_id').notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    reason: text().$type<Refund['reason']>().notNull(),
    status: text().$type<Refund['status']>().notNull(),
    /** Null until the provider has it. */
    stripeRefundId: text('stripe_refund_id').unique(),
    ...retried,
    /** Counts up when the provider has saved a server error under the idempotency key, and would repeat it for a day. */
    keyGeneration: integer('key_generation').notNull().default(0),
    /** When `payment.refunded` was published: once, whatever becomes of it. */
    announcedAt: instant('announced_at'),
    /** Cents of it that make good for refunds that were announced before and failed. */
    makesGood: integer('makes_good').notNull().default(0),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    // What we owe by ourselves is on its way once, or back.
    uniqueIndex('refunds_owed')
      .on(table.paymentId, table.reason)
      .where(sql`reason <> 'requested' and status <> 'failed'`),
    index('refunds_payment').on(table.paymentId),
    index('refunds_registration').on(table.purchaseId),
    index('refunds_pending')
      .on(table.nextTryAt)
      .where(sql`status = 'pending'`),
  ],
)

/** The provider's events that have taken effect. */
export const stripeEvents = pgTable(
  'stripe_events',
  {
    id: text().primaryKey(),
    type: text().notNull(),
    objectId: text('object_id').notNull(),
    handledAt: instant('handled_at').notNull(),
  },
  (table) => [index('stripe_events_handled').on(table.handledAt)],
)

/** The provider's events that could not be handled when they were found: each is tried again until it can. */
export const failedEvents = pgTable(
  'failed_events',
  {
    id: text().primaryKey(),
    type: text().notNull(),
    objectId: text('object_id').notNull(),
    ...retried,
    failedAt: instant('failed_at').notNull(),
  },
  (table) => [index('failed_events_next_try').on(table.nextTryAt)],
)

/** One row a sequence, counted up in the transaction that uses the number: no gap is left by one that fails. */
export const counters = pgTable('counters', {
  name: text().primaryKey(),
  value: bigint({ mode: 'number' }).notNull(),
})

/** How far the provider's list of events has been read, in its seconds. */
export const cursors = pgTable('cursors', {
  name: text().primaryKey(),
  position: bigint({ mode: 'number' }).notNull(),
})

export type Attempt = typeof checkoutAttempts.$inferSelect
export type Payment = typeof payments.$inferSelect
export type RefundRow = typeof refunds.$inferSelect
export type DisputeRow = typeof disputes.$inferSelect
export type MembershipAttempt = typeof membershipAttempts.$inferSelect
export type Membership = typeof memberships.$inferSelect
export type OrderRow = typeof orders.$inferSelect
