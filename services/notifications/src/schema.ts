import type {
  membershipAskedAgain,
  membershipRefunded,
  membershipRefundFailed,
  paymentDisputed,
  paymentRefunded,
  refundDeclined,
  refundFailed,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionReminder,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import type {
  kitShipped,
  memberSeated,
  registrationAskedAgain,
  registrationConfirmed,
  registrationRejected,
  smallClassesFound,
  waiverSigned,
} from '@robokids/contracts/enrollment'
import type { SendMessage } from '@robokids/contracts/contact'
import type { EventOf } from '@robokids/contracts/event'
import { codeMedia, type codeIssued, type signInLocked, type userUpdated } from '@robokids/contracts/identity'
import { mailKinds, mailStatuses } from '@robokids/contracts/notifications'
import {
  stockAlertStatuses,
  productStates,
  type orderPaid,
  type orderRefunded,
  type orderRefundFailed,
  type orderShipped,
  type productStateChanged,
  type ProductState,
} from '@robokids/contracts/shop'
import { instant } from '@robokids/runtime/db'
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { ChangeWarning } from './rules.ts'

/** What a mail about an account says of its owner. */
interface Owner {
  /** As one line; empty where it is not known. */
  givenName: string
}

/** The data of the event that a mail tells about, frozen: a mail that is sent a day later, or again, says the same. */
export interface MailData {
  registration_confirmed: EventOf<typeof registrationConfirmed>['data']
  waiver_signed: EventOf<typeof waiverSigned>['data']
  payment_refunded: EventOf<typeof paymentRefunded>['data']
  refund_failed: EventOf<typeof refundFailed>['data']
  code_issued: Owner & Pick<EventOf<typeof codeIssued>['data'], 'codeId' | 'purpose' | 'username'>
  user_updated: Owner &
    Omit<ChangeWarning, 'recipient'> &
    Pick<EventOf<typeof userUpdated>['data'], 'secondFactors' | 'passkeys'> & { at: string }
  sign_in_locked: Owner & Pick<EventOf<typeof signInLocked>['data'], 'reason' | 'until'> & { at: string }
  user_deleted: Owner
  order_paid: EventOf<typeof orderPaid>['data']
  order_refunded: EventOf<typeof orderRefunded>['data']
  order_refund_failed: EventOf<typeof orderRefundFailed>['data']
  order_shipped: EventOf<typeof orderShipped>['data']
  /** `sku` is absent from rows of the version before. */
  notice_asked: { noticeId: string; productName: string; sku?: string }
  product_available: { noticeId: string; productName: string; sku?: string; state: ProductState }
  membership_confirmed: EventOf<typeof memberSeated>['data']
  membership_renewed: EventOf<typeof subscriptionRenewed>['data']
  membership_past_due: EventOf<typeof subscriptionPastDue>['data']
  membership_switched: EventOf<typeof subscriptionSwitched>['data']
  membership_cancelled: EventOf<typeof subscriptionCancelled>['data']
  membership_resumed: EventOf<typeof subscriptionResumed>['data']
  membership_ended: EventOf<typeof subscriptionEnded>['data']
  membership_reminder: EventOf<typeof subscriptionReminder>['data']
  membership_refunded: EventOf<typeof membershipRefunded>['data']
  membership_refund_failed: EventOf<typeof membershipRefundFailed>['data']
  payment_disputed: EventOf<typeof paymentDisputed>['data']
  kit_shipped: EventOf<typeof kitShipped>['data']
  registration_asked_again: EventOf<typeof registrationAskedAgain>['data']
  membership_asked_again: EventOf<typeof membershipAskedAgain>['data']
  refund_owed: Pick<
    EventOf<typeof refundDeclined>['data'],
    'refundId' | 'paymentId' | 'registrationId' | 'orderId' | 'membershipId' | 'amount' | 'currency' | 'reason'
  >
  small_classes: EventOf<typeof smallClassesFound>['data']
  contact_message: SendMessage
}

/** Mails that are written in `mails/membership.ts`. */
export type MembershipKind = Extract<keyof MailData, `membership_${string}` | 'payment_disputed'>

/** What a mail is about: `registration:{registrationId}`. Mails about one subject keep the order of what happened. */
export type Subject = `${'registration' | 'order' | 'membership' | 'account' | 'dispute'}:${string}`

export type OrderKind = 'order_paid' | 'order_refunded' | 'order_refund_failed' | 'order_shipped'

/** One row a fact, whatever is published how often. */
export const mails = pgTable(
  'mails',
  {
    id: uuid().primaryKey(),
    /** `registration_confirmed:{registrationId}` */
    fact: text().notNull().unique(),
    kind: text({ enum: mailKinds }).notNull(),
    /** Null for a code, for news of a product, and in rows of the version that kept no order: these wait for nothing. */
    subject: text().$type<Subject>(),
    /** The time of the event that it tells about; null where `subject` is. */
    happenedAt: instant('happened_at'),
    registrationId: uuid('registration_id'),
    /**
     * What the calendar entry of a confirmation is known by. Calendars are shared, so it is good for nothing else. Null in rows
     * of the version that used the registration's own id: an entry that is out there keeps its name.
     */
    calendarId: uuid('calendar_id'),
    userId: uuid('user_id'),
    medium: text({ enum: codeMedia }).notNull().default('EMAIL'),
    recipient: text().notNull(),
    /** Null once it is forgotten: `forget-mails.ts`. */
    data: jsonb().$type<MailData[keyof MailData]>(),
    /** A code as identity sealed it, until the message is sent or given up. */
    sealedCode: text('sealed_code'),
    /** Not to be sent from then on. */
    expiresAt: instant('expires_at'),
    status: text({ enum: mailStatuses }).notNull().default('pending'),
    /** 1, and one more whenever an administrator has it sent again. */
    sending: integer().notNull().default(1),
    /** Of this sending: the same at each of its attempts, so that a receiver knows a copy when one comes. */
    messageId: text('message_id').notNull(),
    /** Of this sending, the one under way included. */
    attempts: integer().notNull().default(0),
    nextTryAt: instant('next_try_at').notNull(),
    /** While it is being sent: nobody else sends it before then. */
    leasedUntil: instant('leased_until'),
    lastError: text('last_error'),
    createdAt: instant('created_at').notNull(),
    sentAt: instant('sent_at'),
  },
  (table) => [
    // In the order in which they are taken.
    index('mails_pending')
      .on(table.medium, table.expiresAt, table.nextTryAt, table.id)
      .where(sql`status = 'pending'`),
    index('mails_subject').on(table.subject, table.happenedAt),
    index('mails_registration').on(table.registrationId),
    index('mails_user').on(table.userId),
    index('mails_recipient').on(sql`lower(${table.recipient})`, table.id),
    index('mails_remembered')
      .on(table.createdAt)
      .where(sql`data is not null`),
  ],
)
export type MailRow = typeof mails.$inferSelect

/** Why a paid registration was turned away, to be told with its refund. */
export const rejections = pgTable('rejections', {
  paymentId: uuid('payment_id').primaryKey(),
  reason: text().$type<EventOf<typeof registrationRejected>['data']['reason']>().notNull(),
  /** The registration that stands, where the same children were registered and paid for twice. */
  duplicateOf: uuid('duplicate_of'),
})

/** That a product can be had now. */
export type ProductChange = Pick<EventOf<typeof productStateChanged>['data'], 'name' | 'to' | 'changedAt'>

/** Who wants to hear when a product can be had. */
export const stockAlerts = pgTable(
  'notices',
  {
    /** Random: the reference in the mail's link. */
    id: uuid().primaryKey(),
    sku: text().notNull(),
    productName: text('product_name').notNull(),
    /** What could be done about the product when it was asked for. */
    askedState: text('asked_state', { enum: productStates }).notNull(),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    status: text({ enum: stockAlertStatuses }).notNull(),
    /** How often the address was asked whether it wants this. */
    mailings: integer().notNull(),
    mailedAt: instant('mailed_at'),
    changedAt: instant('changed_at').notNull(),
    /** What is to be told, until its mail is ordered. */
    news: jsonb().$type<ProductChange>(),
  },
  (table) => [
    uniqueIndex('notices_of_address').on(table.sku, table.emailKey),
    index('notices_changed').on(table.changedAt),
    index('notices_news')
      .on(table.id)
      .where(sql`news is not null`),
  ],
)
export type StockAlertRow = typeof stockAlerts.$inferSelect
