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
import type { moveRefused, placesCancelled, placesMoved } from '@robokids/contracts/changes'
import type { classCancelled } from '@robokids/contracts/class-cancellation'
import type {
  kitShipped,
  memberSeated,
  registrationAskedAgain,
  registrationConfirmed,
  registrationRejected,
  smallClassesFound,
  waiverSigned,
} from '@robokids/contracts/enrollment'
import type { classLinkMissing, classReminderDue, registrationRescheduled } from '@robokids/contracts/reminders'
import type { SendMessage } from '@robokids/contracts/contact'
import type { EventOf } from '@robokids/contracts/event'
import { codeMedia, type codeIssued, type signInLocked, type userUpdated } from '@robokids/contracts/identity'
import type {
  memberClassBooked,
  memberClassCancelled,
  memberClassMoved,
  memberClassNotRestored,
} from '@robokids/contracts/member-classes'
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
import type { waitlistEnded, waitlistJoined, waitlistOffered } from '@robokids/contracts/waitlist'
import { instant } from '@robokids/runtime/db'
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { ChangeWarning } from './rules.ts'

/** The owner in a mail about an account. */
interface Owner {
  /** One line; empty if unknown. */
  givenName: string
}

/** The data of the event that a mail is about, stored so that a delayed or repeated mail has the same content. */
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
  /** `sku` is absent from rows of the previous version. */
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
  member_class_booked: EventOf<typeof memberClassBooked>['data']
  member_class_moved: EventOf<typeof memberClassMoved>['data']
  member_class_cancelled: EventOf<typeof memberClassCancelled>['data']
  member_class_not_restored: EventOf<typeof memberClassNotRestored>['data']
  kit_shipped: EventOf<typeof kitShipped>['data']
  class_reminder: EventOf<typeof classReminderDue>['data']
  class_cancelled: EventOf<typeof classCancelled>['data']
  places_cancelled: EventOf<typeof placesCancelled>['data']
  places_moved: EventOf<typeof placesMoved>['data']
  move_refused: EventOf<typeof moveRefused>['data']
  registration_rescheduled: EventOf<typeof registrationRescheduled>['data']
  class_link_missing: EventOf<typeof classLinkMissing>['data']
  registration_asked_again: EventOf<typeof registrationAskedAgain>['data']
  membership_asked_again: EventOf<typeof membershipAskedAgain>['data']
  refund_owed: Pick<
    EventOf<typeof refundDeclined>['data'],
    'refundId' | 'paymentId' | 'registrationId' | 'orderId' | 'membershipId' | 'amount' | 'currency' | 'reason'
  >
  small_classes: EventOf<typeof smallClassesFound>['data']
  contact_message: SendMessage
  waitlist_joined: EventOf<typeof waitlistJoined>['data']
  waitlist_offered: EventOf<typeof waitlistOffered>['data']
  waitlist_ended: EventOf<typeof waitlistEnded>['data']
}

/** The kinds composed in `mails/membership.ts`. */
export type MembershipKind = Extract<keyof MailData, `membership_${string}` | 'payment_disputed'>

/** The subject of a mail: `registration:{registrationId}`. Mails about the same subject are sent in the order of their events. */
export type Subject = `${'registration' | 'order' | 'membership' | 'account' | 'dispute' | 'waitlist'}:${string}`

export type OrderKind = 'order_paid' | 'order_refunded' | 'order_refund_failed' | 'order_shipped'

/** One row per fact, however often its event is delivered. */
export const mails = pgTable(
  'mails',
  {
    id: uuid().primaryKey(),
    /** `registration_confirmed:{registrationId}` */
    fact: text().notNull().unique(),
    kind: text({ enum: mailKinds }).notNull(),
    /** Null for codes, stock alerts and rows of older versions: they are sent in any order. */
    subject: text().$type<Subject>(),
    /** The time of the event; null if `subject` is null. */
    happenedAt: instant('happened_at'),
    registrationId: uuid('registration_id'),
    /**
     * Identifies the calendar entry of a confirmation and gives access to nothing, because calendars are shared. Null in rows of
     * the version that used the registration's id: existing entries keep their UID.
     */
    calendarId: uuid('calendar_id'),
    userId: uuid('user_id'),
    medium: text({ enum: codeMedia }).notNull().default('EMAIL'),
    recipient: text().notNull(),
    /** Null after the retention: `forget-mails.ts`. */
    data: jsonb().$type<MailData[keyof MailData]>(),
    /** A code as sealed by identity; deleted once the message is sent or given up. */
    sealedCode: text('sealed_code'),
    /** Not sent after this time. */
    expiresAt: instant('expires_at'),
    status: text({ enum: mailStatuses }).notNull().default('pending'),
    /** 1, incremented whenever an administrator resends it. */
    sending: integer().notNull().default(1),
    /** Of this sending, the same for all of its attempts, so that a receiver can recognize duplicates. */
    messageId: text('message_id').notNull(),
    /** Of this sending, including a running attempt. */
    attempts: integer().notNull().default(0),
    nextTryAt: instant('next_try_at').notNull(),
    /** Set while it is being sent: no other process sends it before this time. */
    leasedUntil: instant('leased_until'),
    lastError: text('last_error'),
    /** The trace in which it was enqueued, which its sending continues; null in rows of earlier versions. */
    traceparent: text(),
    createdAt: instant('created_at').notNull(),
    sentAt: instant('sent_at'),
  },
  (table) => [
    // In the order in which they are claimed.
    index('mails_pending')
      .on(table.medium, table.expiresAt, table.nextTryAt, table.id)
      .where(sql`status = 'pending'`),
    index('mails_subject').on(table.subject, table.happenedAt),
    index('mails_registration').on(table.registrationId),
    index('mails_user').on(table.userId),
    index('mails_recipient').on(sql`lower(${table.recipient})`, table.id),
    index('mails_created').on(table.createdAt),
    index('mails_codes')
      .on(table.createdAt)
      .where(sql`kind = 'code_issued'`),
    index('mails_remembered')
      .on(table.createdAt)
      .where(sql`data is not null`),
  ],
)
export type MailRow = typeof mails.$inferSelect

/** Why a paid registration was rejected, for the mail about its refund. */
export const rejections = pgTable('rejections', {
  paymentId: uuid('payment_id').primaryKey(),
  reason: text().$type<EventOf<typeof registrationRejected>['data']['reason']>().notNull(),
  /** The registration that is kept, if the same children were registered and paid for twice. */
  duplicateOf: uuid('duplicate_of'),
})

/** The change of a product to be announced. */
export type ProductChange = Pick<EventOf<typeof productStateChanged>['data'], 'name' | 'to' | 'changedAt'>

/** Requests for a mail when a product becomes available. */
export const stockAlerts = pgTable(
  'notices',
  {
    /** Random; the reference in the mail's link. */
    id: uuid().primaryKey(),
    sku: text().notNull(),
    productName: text('product_name').notNull(),
    /** The state of the product at the time of the request. */
    askedState: text('asked_state', { enum: productStates }).notNull(),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    status: text({ enum: stockAlertStatuses }).notNull(),
    /** The number of confirmation mails. */
    mailings: integer().notNull(),
    mailedAt: instant('mailed_at'),
    changedAt: instant('changed_at').notNull(),
    /** The change to be announced; null once the mail is enqueued. */
    pendingChange: jsonb('news').$type<ProductChange>(),
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
