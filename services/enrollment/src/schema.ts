import type { Child, ClassType, RegistrationFacts, RegistrationStatus } from '@robokids/contracts/enrollment'
import { levelClassTypes, levelIds } from '@robokids/contracts/enrollment'
import { instant } from '@robokids/runtime/db'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
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
    /** Seats of registrations that are `held`. */
    held: integer().notNull().default(0),
    /** Seats of registrations that are `confirmed` or `waiver_signed`. */
    sold: integer().notNull().default(0),
    status: text().$type<ClassSessionStatus>().notNull().default('open'),
    /** When the operator was told that it has few children; null while it was not. */
    toldSmallAt: instant('told_small_at'),
  },
  (table) => [
    // A registration names its class by these two.
    unique('class_sessions_type_date').on(table.classType, table.date),
    check('class_sessions_seats', sql`${table.capacity} >= 0 and ${table.held} >= 0 and ${table.sold} >= 0`),
  ],
)

/** The seasons that other services were told of. */
export const seasons = pgTable('seasons', {
  season: text().primaryKey(),
  /** In California. */
  openedOn: date('opened_on').notNull(),
})

export const registrations = pgTable(
  'registrations',
  {
    /** Made by the client: the idempotency key. */
    id: uuid().primaryKey(),
    /** Hex SHA-256 of what was asked for, to tell a repetition from a reused id. */
    contentHash: text('content_hash').notNull(),
    /** The account that it belongs to; null while none has it. `owners.ts` alone decides it, from the next three. */
    ownerId: uuid('owner_id'),
    /** Who was signed in when it was asked for. */
    askedOwnerId: uuid('asked_owner_id'),
    /** The address it was asked for with; null where that is still `email`. */
    askedEmail: text('asked_email'),
    /** When it was asked for, on the clock of events, which a set clock does not move. */
    askedAt: instant('asked_at')
      .notNull()
      .default(sql`now()`),
    /** The browser that made it, by the BFF's cookie; null in rows of the time before. */
    browserId: uuid('browser_id'),
    /** One of its own, whatever else its family has: its client did not ask for `unlessRegistered`. */
    separate: boolean().notNull().default(false),
    /** The one that it was sent instead of, until it has a payment page. */
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
    /** The family's own, as its browser told it; null where none did. */
    familyTimeZone: text('family_time_zone'),
    status: text().$type<RegistrationStatus>().notNull(),
    heldUntil: instant('held_until'),
    /** How often the seats were held: 1, and one more for each resumed checkout. */
    holds: integer().notNull().default(1),
    /** When the present (or last) hold was taken. */
    heldSince: instant('held_since').notNull(),
    /** The newest checkout attempt that is known to belong to the present hold. */
    attemptId: uuid('attempt_id'),
    /** When a payment page was opened for the present (or last) hold; null before. */
    openedAt: instant('opened_at'),
    /** Where the present (or last) hold was asked for; null where a BFF of the version before did not tell. */
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
    index('registrations_session').on(table.classSessionId),
    index('registrations_owner').on(table.ownerId, table.createdAt),
    index('registrations_asked_owner').on(table.askedOwnerId),
    index('registrations_asked_email').on(sql`lower(${table.askedEmail})`),
  ],
)

/** Every payment that was ever told of, whichever of its two facts came first: each is dealt with once. */
export const payments = pgTable('payments', {
  paymentId: uuid('payment_id').primaryKey(),
  registrationId: uuid('registration_id')
    .notNull()
    .references(() => registrations.id),
  completed: boolean().notNull().default(false),
  /** All of it went back. */
  refunded: boolean().notNull().default(false),
})

/** Every refund of a payment, and how far it has come. Each fact is only ever added, so they can arrive in any order. */
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
    /** It went back. */
    refunded: boolean().notNull().default(false),
    /** It was declined, or returned by the bank: the money is with us again. */
    failed: boolean().notNull().default(false),
  },
  (table) => [index('refunds_payment').on(table.paymentId)],
)

/** Every dispute of a payment, and how it stands. */
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
  (table) => [index('disputes_payment').on(table.paymentId)],
)

/** Every change of an account that identity told of, in whatever order: one row an event. */
export const accountChanges = pgTable(
  'account_changes',
  {
    eventId: uuid('event_id').primaryKey(),
    userId: uuid('user_id').notNull(),
    at: instant('at').notNull(),
    /** The address that is verified from then on; null where none is. */
    email: text(),
    emailKey: text('email_key'),
    enabled: boolean().notNull(),
    deleted: boolean().notNull(),
  },
  (table) => [index('account_changes_user').on(table.userId), index('account_changes_email').on(table.emailKey)],
)

/** How each account stands after all its changes so far. */
export const accounts = pgTable(
  'accounts',
  {
    userId: uuid('user_id').primaryKey(),
    /** Of its verified address; null where it has none, or is deleted. */
    emailKey: text('email_key'),
    deleted: boolean().notNull(),
  },
  (table) => [index('accounts_email').on(table.emailKey)],
)

/** Every document that was ever shown to be signed. */
export const waiverDocuments = pgTable('waiver_documents', {
  sha256: text().primaryKey(),
  pdf: bytes().notNull(),
})

/**
 * What proves a signature, of a registration or of a membership. It is never changed; the signed PDF is made of it. Of a
 * membership one counts at a time.
 */
export const waivers = pgTable(
  'waivers',
  {
    id: uuid().primaryKey(),
    registrationId: uuid('registration_id')
      .unique()
      .references(() => registrations.id),
    membershipId: uuid('membership_id').references(() => memberSeats.attemptId),
    /** Its member signed anew, with this signature in its place: it stays as evidence, and counts no more. */
    replacedBy: uuid('replaced_by'),
    /** What a member told with the signature; a registration holds its own. */
    member: jsonb().$type<Pick<RegistrationFacts, 'email' | 'children' | 'address'>>(),
    /** Hex SHA-256 of the PDF that was shown. */
    documentSha256: text('document_sha256').notNull(),
    guardianName: text('guardian_name').notNull(),
    signedAt: instant('signed_at').notNull(),
    ipAddress: text('ip_address').notNull(),
    userAgent: text('user_agent').notNull(),
    /** Null until it is made, after the signature. */
    signedPdf: bytes('signed_pdf'),
    pdfTries: integer('pdf_tries').notNull().default(0),
    /** When it is to be made, or tried again. */
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

/** Seats in members' sessions that are held while a membership is paid: whoever asks with an address holds one. */
export const memberHolds = pgTable(
  'member_holds',
  {
    /** The address, a blank, and who asked with it; the column is from when an address alone was a holder. */
    holder: text('email_key').primaryKey(),
    classSessionId: uuid('class_session_id')
      .notNull()
      .references(() => classSessions.id),
    /** The checkout that it is held for, once there is one. */
    attemptId: uuid('attempt_id'),
    heldUntil: instant('held_until').notNull(),
    /** Where it was asked for; null where a BFF of the version before did not tell. */
    network: text(),
    /** How many of their requests for a checkout are under way; they count until `awaitedUntil` at the latest. */
    awaited: integer().notNull().default(0),
    awaitedUntil: instant('awaited_until'),
  },
  (table) => [
    index('member_holds_until').on(table.heldUntil),
    index('member_holds_network').on(table.network),
    index('member_holds_attempt').on(table.attemptId),
  ],
)

/** Seats of another date than the held one, whose checkout can still be paid: each takes its place with its own checkout. */
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

/** New members, and whether each got a seat in the members' session of the date that was chosen. */
export const memberSeats = pgTable('member_seats', {
  /** The checkout that began the membership. */
  attemptId: uuid('attempt_id').primaryKey(),
  /** Its address, and the account it belonged to, when this was told: `owners.ts` works out from these which they are now. */
  email: text().notNull(),
  ownerId: uuid('owner_id'),
  /** On the clock of events. */
  toldAt: instant('told_at')
    .notNull()
    .default(sql`now()`),
  /** Null while its end is all that is known of it. */
  classDate: date('class_date'),
  /** Null where there is no such session. */
  classSessionId: uuid('class_session_id').references(() => classSessions.id),
  /** The member's own time zone; null where none was told. */
  familyTimeZone: text('family_time_zone'),
  outcome: text({ enum: memberSeatOutcomes }).notNull(),
  createdAt: instant('created_at').notNull(),
})
