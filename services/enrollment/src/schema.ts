import type { ReminderKind } from '@robokids/contracts/meetings'
import { changeKinds, changeStatuses, type ChangeTerms } from '@robokids/contracts/changes'
import { creditReasons } from '@robokids/contracts/member-classes'
import type { Child, ClassType, RegistrationFacts, RegistrationStatus } from '@robokids/contracts/enrollment'
import { levelClassTypes, levelIds } from '@robokids/contracts/enrollment'
import { closedReasons, waitlistStatuses } from '@robokids/contracts/waitlist'
import { instant } from '@robokids/runtime/db'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { RefundShare } from './changes/rules.ts'
import { bookingStatuses, creditStatuses } from './members/credit-rules.ts'
import { placeStatuses } from './places/rules.ts'
import { memberSeatOutcomes, type RejectionReason, type ClassSessionStatus } from './rules.ts'

const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
})

export const levels = pgTable('levels', {
  classType: text('class_type', { enum: levelClassTypes }).primaryKey(),
  levelId: text('level_id', { enum: levelIds }).notNull().unique(),
  title: text().notNull(),
  description: text().notNull(),
  ageFrom: integer('age_from').notNull(),
  ageTo: integer('age_to').notNull(),
  programLength: text('program_length').notNull(),
  position: integer().notNull(),
})

export const classSessions = pgTable(
  'class_sessions',
  {
    id: uuid().primaryKey(),
    season: text().notNull(),
    classType: text('class_type').$type<ClassType>().notNull(),
    date: date().notNull(),
    /** `HH:MM` on the wall clock of `timeZone`. */
    startTime: text('start_time').notNull(),
    durationMinutes: integer('duration_minutes').notNull(),
    timeZone: text('time_zone').notNull(),
    startsAt: instant('starts_at').notNull(),
    capacity: integer().notNull(),
    /** Seats of registrations that are `held`, of members who are paying, and of open offers to the line. */
    held: integer().notNull().default(0),
    /** Seats of registrations that are `confirmed` or `waiver_signed`. */
    sold: integer().notNull().default(0),
    /** Free seats that are not on sale, because a family of the line has been passed over long enough: see waitlist/rules.ts. */
    setAside: integer('set_aside').notNull().default(0),
    /** Entries of its line that are `waiting`. */
    familiesWaiting: integer('families_waiting').notNull().default(0),
    status: text().$type<ClassSessionStatus>().notNull().default('open'),
    /** When it was reported to the operator as too small; null if it was not. */
    smallReportedAt: instant('told_small_at'),
    /** Null until the school names one. */
    coachName: text('coach_name'),
    /** The link of its video call, for paid and signed families only; null until the school sets it. */
    joinUrl: text('join_url'),
    passcode: text(),
    /** Incremented with each change of its meetings. */
    scheduleVersion: integer('schedule_version').notNull().default(0),
  },
  (table) => [
    // Requests identify a session by these two.
    unique('class_sessions_type_date').on(table.classType, table.date),
    check('class_sessions_seats', sql`${table.capacity} >= 0 and ${table.held} >= 0 and ${table.sold} >= 0`),
  ],
)

/** The meetings of each session. Sessions of the previous version get theirs at the next start. */
export const meetings = pgTable(
  'meetings',
  {
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    /** 1 for the first one, on the session's date. */
    number: integer().notNull(),
    date: date().notNull(),
    /** `HH:MM` on the wall clock of the session's `timeZone`. */
    startTime: text('start_time').notNull(),
    durationMinutes: integer('duration_minutes').notNull(),
    startsAt: instant('starts_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.classSessionId, table.number] })],
)

/** The changes of meetings by the school. */
export const meetingChanges = pgTable(
  'meeting_changes',
  {
    /** Created by the client: the idempotency key. */
    changeId: uuid('change_id').primaryKey(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    kind: text({ enum: ['moved', 'skipped'] }).notNull(),
    number: integer().notNull(),
    fromDate: date('from_date').notNull(),
    fromTime: text('from_time').notNull(),
    toDate: date('to_date').notNull(),
    toTime: text('to_time').notNull(),
    changedAt: instant('changed_at').notNull(),
  },
  (table) => [index('meeting_changes_session').on(table.classSessionId)],
)

/** The class sessions that the school has cancelled. */
export const classCancellations = pgTable('class_cancellations', {
  classSessionId: uuid('class_session_id')
    .primaryKey()
    .references(() => classSessions.id),
  /** Created by the client: the idempotency key. */
  id: uuid().notNull().unique(),
  chooseUntil: instant('choose_until').notNull(),
  cancelledAt: instant('cancelled_at').notNull(),
})

/** When each mail around a meeting is due. */
export const reminders = pgTable(
  'reminders',
  {
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    number: integer().notNull(),
    kind: text().$type<ReminderKind>().notNull(),
    dueAt: instant('due_at').notNull(),
    /** Not sent after this time. */
    expiresAt: instant('expires_at').notNull(),
    /** When its events were published, or it was found to be too late; null before. */
    handledAt: instant('handled_at'),
  },
  (table) => [
    primaryKey({ columns: [table.classSessionId, table.number, table.kind] }),
    index('reminders_due')
      .on(table.dueAt)
      .where(sql`handled_at is null`),
  ],
)

/** The secret address of the calendar that an account subscribes to, with all of its classes. */
export const calendarFeeds = pgTable('calendar_feeds', {
  ownerId: uuid('owner_id').primaryKey(),
  token: text().notNull().unique(),
  createdAt: instant('created_at').notNull(),
})

/** What a subscribed calendar has shown, so that a change raises the SEQUENCE and what is gone is shown as cancelled. */
export const calendarEntries = pgTable(
  'calendar_entries',
  {
    ownerId: uuid('owner_id').notNull(),
    /** The class session with the number of the meeting, or the membership: the UID. */
    entryId: text('entry_id').notNull(),
    title: text().notNull(),
    startsAt: instant('starts_at').notNull(),
    timeZone: text('time_zone').notNull(),
    durationMinutes: integer('duration_minutes').notNull(),
    isCancelled: boolean('is_cancelled').notNull(),
    sequence: integer().notNull(),
    changedAt: instant('changed_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.ownerId, table.entryId] })],
)

/** The seasons that were published. */
export const seasons = pgTable('seasons', {
  season: text().primaryKey(),
  /** In California. */
  openedOn: date('opened_on').notNull(),
})

export const registrations = pgTable(
  'registrations',
  {
    /** Created by the client: the idempotency key. */
    id: uuid().primaryKey(),
    /** Hex SHA-256 of the request's content, to distinguish a repetition from a reused id. */
    contentHash: text('content_hash').notNull(),
    /** The owning account; null if there is none. Determined only by `owners.ts`, from the next three columns. */
    ownerId: uuid('owner_id'),
    /** The account that was signed in at the request. */
    askedOwnerId: uuid('asked_owner_id'),
    /** The email of the request; null if that is still `email`. */
    askedEmail: text('asked_email'),
    /** When it was requested, on the clock of events, which a test clock does not change. */
    askedAt: instant('asked_at')
      .notNull()
      .default(sql`now()`),
    /** The browser that created it, from the BFF's cookie; null in older rows. */
    browserId: uuid('browser_id'),
    /** Whether it may coexist with others of its family: its client did not set `unlessRegistered`. */
    separate: boolean().notNull().default(false),
    /** The registration that it replaces, until it has a payment page. */
    replaces: uuid(),
    guardianName: text('guardian_name').notNull(),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    children: jsonb().$type<Child[]>().notNull(),
    seats: integer().notNull(),
    addressLine1: text('address_line1').notNull(),
    addressLine2: text('address_line2').notNull(),
    city: text().notNull(),
    state: text().notNull(),
    zipCode: text('zip_code').notNull(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    classType: text('class_type').$type<ClassType>().notNull(),
    levelTitle: text('level_title').notNull(),
    startDate: date('start_date').notNull(),
    startTime: text('start_time').notNull(),
    durationMinutes: integer('duration_minutes').notNull(),
    timeZone: text('time_zone').notNull(),
    /** The time zone of the family's browser; null if not sent. */
    familyTimeZone: text('family_time_zone'),
    status: text().$type<RegistrationStatus>().notNull(),
    heldUntil: instant('held_until'),
    /** The number of holds: 1, and one more for each renewal. */
    holds: integer().notNull().default(1),
    /** When the current (or last) hold was taken. */
    heldSince: instant('held_since').notNull(),
    /** The newest known checkout attempt of the current hold. */
    attemptId: uuid('attempt_id'),
    /** When a payment page was first opened for the current (or last) hold; null before. */
    openedAt: instant('opened_at'),
    /** The network that requested the current (or last) hold; null from a BFF of the previous version. */
    network: text(),
    attemptCreatedAt: instant('attempt_created_at'),
    /** The payment that confirmed this registration, or for which it was rejected. */
    paymentId: uuid('payment_id'),
    receiptNumber: text('receipt_number'),
    paidAmount: integer('paid_amount'),
    paidCurrency: text('paid_currency').$type<'usd'>(),
    paidAt: instant('paid_at'),
    rejectionReason: text('rejection_reason').$type<RejectionReason>(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('registrations_email').on(table.emailKey, table.createdAt),
    index('registrations_created').on(table.createdAt, table.id),
    index('registrations_holds')
      .on(table.heldUntil)
      .where(sql`status = 'held'`),
    index('registrations_network')
      .on(table.network)
      .where(sql`status = 'held'`),
    index('registrations_browser')
      .on(table.browserId)
      .where(sql`status = 'held'`),
    index('registrations_expired')
      .on(table.updatedAt)
      .where(sql`status = 'expired'`),
    index('registrations_session').on(table.classSessionId),
    index('registrations_owner').on(table.ownerId, table.createdAt),
    index('registrations_asked_owner').on(table.askedOwnerId),
    index('registrations_asked_email').on(sql`lower(${table.askedEmail})`),
  ],
)

/** The families that wait for seats in a full class. All changes are made while its class session is locked. */
export const waitlistEntries = pgTable(
  'waitlist_entries',
  {
    /** Created by the client: the idempotency key. */
    id: uuid().primaryKey(),
    /** The order of the line: assigned while the class session is locked. */
    place: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    /** Hex SHA-256 of the request's content. */
    contentHash: text('content_hash').notNull(),
    /** The owner and its origin, as in `registrations`. */
    ownerId: uuid('owner_id'),
    askedOwnerId: uuid('asked_owner_id'),
    askedEmail: text('asked_email'),
    askedAt: instant('asked_at')
      .notNull()
      .default(sql`now()`),
    /** The browser that created it, from the BFF's cookie. */
    browserId: uuid('browser_id'),
    network: text(),
    guardianName: text('guardian_name').notNull(),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    children: jsonb().$type<Child[]>().notNull(),
    seats: integer().notNull(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    levelTitle: text('level_title').notNull(),
    /** The time zone of the family's browser; null if not sent. */
    familyTimeZone: text('family_time_zone'),
    status: text({ enum: waitlistStatuses }).notNull().default('waiting'),
    /** How often seats became free that were too few for it and went to others. */
    passedOver: integer('passed_over').notNull().default(0),
    /** The first time. */
    passedOverSince: instant('passed_over_since'),
    /** Null without an offer; kept after its end. */
    offerEndsAt: instant('offer_ends_at'),
    closedReason: text('closed_reason', { enum: closedReasons }),
    endedAt: instant('ended_at'),
    /** The registration that an accepted offer became. Not a foreign key: an unpaid registration is deleted at some time. */
    registrationId: uuid('registration_id'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('waitlist_line')
      .on(table.classSessionId, table.place)
      .where(sql`status = 'waiting'`),
    index('waitlist_offers')
      .on(table.offerEndsAt)
      .where(sql`status = 'offered'`),
    index('waitlist_ended')
      .on(table.updatedAt)
      .where(sql`status not in ('waiting', 'offered')`),
    index('waitlist_session').on(table.classSessionId),
    index('waitlist_email').on(table.emailKey),
    index('waitlist_owner').on(table.ownerId, table.createdAt),
    index('waitlist_asked_owner').on(table.askedOwnerId),
    index('waitlist_asked_email').on(sql`lower(${table.askedEmail})`),
    index('waitlist_browser')
      .on(table.browserId)
      .where(sql`status in ('waiting', 'offered')`),
    index('waitlist_network')
      .on(table.network)
      .where(sql`status in ('waiting', 'offered')`),
  ],
)

/** The children of a paid registration, a row each: who has a seat in which class session, and what was paid for it. */
export const places = pgTable(
  'places',
  {
    /** Derived from the registration and the position: `placeIdOf`. */
    id: uuid().primaryKey(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    /** Of the child in the registration as it was paid, from 0. */
    position: integer().notNull(),
    childName: text('child_name').notNull(),
    childAge: integer('child_age').notNull(),
    /** Where the child has its seat now, or had it last. */
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    status: text({ enum: placeStatuses }).notNull().default('seated'),
    /** Cents that were paid for this child and that no change has given back. */
    paidAmount: integer('paid_amount').notNull(),
    /** The price of the seat before any promotion, in cents; null if it is not known, for several children of an older payment. */
    listAmount: integer('list_amount'),
    /** The number of moves that the family has made. */
    moves: integer().notNull().default(0),
    cancelledAt: instant('cancelled_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    unique('places_position').on(table.registrationId, table.position),
    index('places_seated')
      .on(table.classSessionId)
      .where(sql`status = 'seated'`),
    check('places_amounts', sql`${table.paidAmount} >= 0 and ${table.moves} >= 0`),
  ],
)

/** What a family may change by itself, and what it gets back. The policy in force is the latest one that has begun. */
export const changePolicies = pgTable('change_policies', {
  validFrom: instant('valid_from').primaryKey(),
  /** The share of the price that a cancellation gives back: of these, the one with the most days that still fit before the start. */
  refunds: jsonb().$type<RefundShare[]>().notNull(),
  /** The number of moves of each child; 0 if families cannot move. */
  freeMoves: integer('free_moves').notNull(),
  /** Until how many days before the start a child can be moved. */
  moveDays: integer('move_days').notNull(),
})

/** The cancellations and moves that families have confirmed. */
export const changes = pgTable(
  'changes',
  {
    /** Created by the client: the idempotency key. A move with a difference is paid under this id. */
    id: uuid().primaryKey(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    /** The account that confirmed it; null by the link to a choice, and for what the school did itself. */
    ownerId: uuid('owner_id'),
    kind: text({ enum: changeKinds }).notNull(),
    status: text({ enum: changeStatuses }).notNull(),
    /** What was confirmed, and the hex SHA-256 by which it was confirmed. */
    quote: jsonb().$type<ChangeTerms>().notNull(),
    quoteId: text('quote_id').notNull(),
    /** Where a move leads; null for a cancellation. */
    toClassSessionId: uuid('to_class_session_id').references(() => classSessions.id),
    seats: integer().notNull(),
    /** Until when the new seats are held for a move that is being paid; null once it is over. */
    heldUntil: instant('held_until'),
    paymentId: uuid('payment_id'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('changes_registration').on(table.registrationId),
    index('changes_held')
      .on(table.heldUntil)
      .where(sql`status = 'held'`),
  ],
)

/** What a family chooses after the school has cancelled a class: one row a registration and cancelled class. */
export const choices = pgTable(
  'choices',
  {
    /** Random, because the link that the family gets contains it. */
    id: uuid().primaryKey(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classCancellations.classSessionId),
    /** The children who sat there. */
    placeIds: jsonb('place_ids').$type<string[]>().notNull(),
    /** When what is not chosen is refunded: at the deadline, or later where that has to wait. */
    dueAt: instant('due_at').notNull(),
    /** When that was done, or nothing was left to do; null before. */
    endedAt: instant('ended_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    unique('choices_registration').on(table.registrationId, table.classSessionId),
    index('choices_session').on(table.classSessionId),
    index('choices_due')
      .on(table.dueAt)
      .where(sql`ended_at is null`),
  ],
)

/** One row per payment, whichever of its two events came first: each is applied once. */
export const payments = pgTable(
  'payments',
  {
    paymentId: uuid('payment_id').primaryKey(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    completed: boolean().notNull().default(false),
    /** Whether it was fully refunded. */
    refunded: boolean().notNull().default(false),
  },
  (table) => [index('payments_registration').on(table.registrationId)],
)

/** One row per refund of a payment, with its progress. Flags are only ever set, so events can arrive in any order. */
export const refunds = pgTable(
  'refunds',
  {
    refundId: uuid('refund_id').primaryKey(),
    paymentId: uuid('payment_id').notNull(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    /** Cents. */
    amount: integer().notNull(),
    /** Whether the money was returned. */
    refunded: boolean().notNull().default(false),
    /** Whether it was declined, or returned by the bank: we have the money again. */
    failed: boolean().notNull().default(false),
    /** The cancellation or move for which it is made; null for any other refund. */
    changeId: uuid('change_id'),
    /** Cents of the payment that were refunded or being refunded when it was requested, with this one; null if that is not known. */
    underWayTotal: integer('under_way_total'),
  },
  (table) => [index('refunds_payment').on(table.paymentId), index('refunds_registration').on(table.registrationId)],
)

/** One row per dispute of a payment. */
export const disputes = pgTable(
  'disputes',
  {
    disputeId: text('dispute_id').primaryKey(),
    paymentId: uuid('payment_id').notNull(),
    registrationId: uuid('registration_id')
      .notNull()
      .references(() => registrations.id),
    status: text({ enum: ['open', 'won', 'lost'] }).notNull(),
  },
  (table) => [index('disputes_payment').on(table.paymentId), index('disputes_registration').on(table.registrationId)],
)

/** The changes of accounts published by identity, in any order: one row per event. */
export const accountChanges = pgTable(
  'account_changes',
  {
    eventId: uuid('event_id').primaryKey(),
    userId: uuid('user_id').notNull(),
    at: instant('at').notNull(),
    /** The verified email from then on; null if there is none. */
    email: text(),
    emailKey: text('email_key'),
    enabled: boolean().notNull(),
    deleted: boolean().notNull(),
  },
  (table) => [index('account_changes_user').on(table.userId), index('account_changes_email').on(table.emailKey)],
)

/** The current state of each account, after all its changes so far. */
export const accounts = pgTable(
  'accounts',
  {
    userId: uuid('user_id').primaryKey(),
    /** That of its verified email; null if it has none, or is deleted. */
    emailKey: text('email_key'),
    deleted: boolean().notNull(),
  },
  (table) => [index('accounts_email').on(table.emailKey)],
)

/** Every version of the waiver document that was ever shown for signing. */
export const waiverDocuments = pgTable('waiver_documents', {
  sha256: text().primaryKey(),
  pdf: bytes().notNull(),
})

/**
 * The evidence of a signature, for a registration or a membership. Never changed; the signed PDF is made from it. A membership
 * has one valid signature at a time.
 */
export const waivers = pgTable(
  'waivers',
  {
    id: uuid().primaryKey(),
    registrationId: uuid('registration_id')
      .unique()
      .references(() => registrations.id),
    membershipId: uuid('membership_id').references(() => memberSeats.attemptId),
    /** The newer signature with which its member replaced it: it is kept as evidence, but no longer valid. */
    replacedBy: uuid('replaced_by'),
    /** The data that a member gave with the signature; null for a registration. */
    member: jsonb().$type<Pick<RegistrationFacts, 'email' | 'children' | 'address'>>(),
    /** What a registration was when it was signed, since it can change afterwards; null for a membership, and in older rows. */
    signed: jsonb().$type<RegistrationFacts>(),
    /** Hex SHA-256 of the PDF that was shown. */
    documentSha256: text('document_sha256').notNull(),
    guardianName: text('guardian_name').notNull(),
    signedAt: instant('signed_at').notNull(),
    ipAddress: text('ip_address').notNull(),
    userAgent: text('user_agent').notNull(),
    /** Null until it is made, some time after the signature. */
    signedPdf: bytes('signed_pdf'),
    pdfTries: integer('pdf_tries').notNull().default(0),
    /** When the next attempt to make it is due. */
    pdfDueAt: instant('pdf_due_at'),
  },
  (table) => [
    uniqueIndex('waivers_membership')
      .on(table.membershipId)
      .where(sql`replaced_by is null`),
    index('waivers_without_pdf')
      .on(table.pdfDueAt)
      .where(sql`signed_pdf is null`),
    check('waivers_of_one', sql`(${table.registrationId} is null) <> (${table.membershipId} is null)`),
    check('waivers_of_member', sql`(${table.membershipId} is null) = (${table.member} is null)`),
  ],
)

export const kitShipments = pgTable('kit_shipments', {
  registrationId: uuid('registration_id')
    .primaryKey()
    .references(() => registrations.id),
  status: text().$type<'ready' | 'shipped'>().notNull().default('ready'),
  carrier: text(),
  trackingNumber: text('tracking_number'),
  readyAt: instant('ready_at').notNull(),
  shippedAt: instant('shipped_at'),
})

/** The seats in members' sessions that are held while memberships are being paid: one per holder. */
export const memberHolds = pgTable(
  'member_holds',
  {
    /** The email, a space, and the requester's id. The column is named after the email, which alone was once the key. */
    holder: text('email_key').primaryKey(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    /** The checkout that it is held for; null until it exists. */
    attemptId: uuid('attempt_id'),
    heldUntil: instant('held_until').notNull(),
    /** The network that requested it; null from a BFF of the previous version. */
    network: text(),
    /** The number of the holder's checkout requests in flight; ignored after `awaitedUntil`. */
    awaited: integer().notNull().default(0),
    awaitedUntil: instant('awaited_until'),
  },
  (table) => [
    index('member_holds_until').on(table.heldUntil),
    index('member_holds_network').on(table.network),
    index('member_holds_attempt').on(table.attemptId),
  ],
)

/** Seats on another date than the held one, while its checkout can still be paid: each replaces it with its own checkout. */
export const pendingMemberHolds = pgTable(
  'pending_member_holds',
  {
    holder: text('email_key').primaryKey(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    heldUntil: instant('held_until').notNull(),
    network: text(),
  },
  (table) => [index('pending_member_holds_network').on(table.network)],
)

/** New members, and whether each got a seat in the members' session of the chosen date. */
export const memberSeats = pgTable('member_seats', {
  /** The checkout of the membership. */
  attemptId: uuid('attempt_id').primaryKey(),
  /** Its email and owner at the time of its event: `owners.ts` determines the current ones from these. */
  email: text().notNull(),
  ownerId: uuid('owner_id'),
  /** When its event was published. */
  eventTime: instant('told_at')
    .notNull()
    .default(sql`now()`),
  /** Null while only its end is known. */
  classDate: date('class_date'),
  /** Null if there is no such session. */
  classSessionId: uuid('class_session_id').references(() => classSessions.id),
  /** The member's time zone; null if not sent. */
  familyTimeZone: text('family_time_zone'),
  outcome: text({ enum: memberSeatOutcomes }).notNull(),
  /** When the membership ended; null before, and for one that ended at a process of the previous version. */
  endedAt: instant('ended_at'),
  /** The changes of its first class so far, as `changes` of `memberBookings`, and when the last one was made. */
  changes: integer().notNull().default(0),
  changedAt: instant('changed_at'),
  createdAt: instant('created_at').notNull(),
})

/** The classes that members have booked after the first one, which is that of `memberSeats`. */
export const memberBookings = pgTable(
  'member_bookings',
  {
    /** Created by the client: the idempotency key. */
    id: uuid().primaryKey(),
    membershipId: uuid('membership_id')
      .notNull()
      .references(() => memberSeats.attemptId),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    status: text({ enum: bookingStatuses }).notNull(),
    /** How often it was moved, given up or restored. */
    changes: integer().notNull().default(0),
    changedAt: instant('changed_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('member_bookings_membership').on(table.membershipId),
    index('member_bookings_session')
      .on(table.classSessionId)
      .where(sql`status = 'booked'`),
  ],
)

/** The moves and cancellations of members' classes. */
export const memberBookingChanges = pgTable(
  'member_booking_changes',
  {
    /** Created by the client: the idempotency key. */
    id: uuid().primaryKey(),
    /** Of `memberBookings`, or the membership's for its first class. */
    bookingId: uuid('booking_id').notNull(),
    /** Where it was moved; null for a cancellation. */
    toClassSessionId: uuid('to_class_session_id').references(() => classSessions.id),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('member_booking_changes_booking').on(table.bookingId)],
)

/** The credits of memberships, a row per paid month. A row may be there before its membership's. */
export const memberCredits = pgTable(
  'member_credits',
  {
    /** Billing's. */
    id: uuid().primaryKey(),
    membershipId: uuid('membership_id').notNull(),
    paymentId: uuid('payment_id').notNull(),
    /** Its first day. */
    month: date().notNull(),
    isFirst: boolean('is_first').notNull(),
    /** Of the last event that was applied. */
    version: integer().notNull(),
    /** Why it was taken back; null while it is given. */
    withdrawn: text({ enum: creditReasons }),
    status: text({ enum: creditStatuses }).notNull(),
    /** The class that it pays for. */
    bookingId: uuid('booking_id'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('member_credits_membership').on(table.membershipId),
    uniqueIndex('member_credits_booking').on(table.bookingId),
    check('member_credits_booked', sql`(${table.bookingId} is not null) = (${table.status} in ('booked', 'given_up'))`),
  ],
)
