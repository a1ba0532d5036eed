import { z } from 'zod'
import { membershipSchema } from './billing.ts'
import { defineEvent } from './event.ts'
import * as field from './fields.ts'

/**
 * Members' classes. Each paid month of a membership gives one credit, with which a class on one of the members' dates is booked:
 * the first one at sign-up, all others from the dashboard.
 */

/** The unused credits that a membership can have: a month that comes when it has as many adds none. */
export const maxCredits = 3

/** A booked class is moved or canceled until this many days before its start, at the same time of day. */
export const memberClassDays = 1

const membership = {
  /** The id of its checkout. */
  membershipId: z.uuid(),
  email: z.string(),
  ownerId: z.uuid().nullable(),
}

/** Why a month's credit was taken back: its payment is refunded in full, or disputed. */
export const creditReasons = ['refunded', 'disputed'] as const

/**
 * The credit of a paid month was given, taken back, or given again. Each event has the whole state; the one with the highest
 * `version` counts.
 */
export const memberCreditChanged = defineEvent(
  'billing',
  'member_credit.changed',
  z.object({
    creditId: z.uuid(),
    ...membership,
    paymentId: z.uuid(),
    /** The first day of the month, in California, `YYYY-MM-DD`. */
    month: z.iso.date(),
    /** The first month of the membership: its credit is for the class that was chosen at sign-up. */
    isFirst: z.boolean(),
    /** Why it was taken back; null while it is given. */
    withdrawn: z.enum(creditReasons).nullable(),
    version: z.int().min(1),
  }),
)

const classTime = {
  classSessionId: z.uuid(),
  /** `YYYY-MM-DD` */
  classDate: z.string(),
  /** `HH:MM` on the wall clock of `timeZone`. */
  startTime: z.string(),
  timeZone: z.string(),
  durationMinutes: z.int(),
  startsAt: z.iso.datetime(),
}
const classTimeSchema = z.object(classTime)

/** A booked class. */
export const memberClassSchema = z.object({
  /** That of the class chosen at sign-up is the membership's. */
  bookingId: z.uuid(),
  membershipId: z.uuid(),
  ...classTime,
  /** Until when it can be moved or canceled. */
  changeUntil: z.iso.datetime(),
})
export type MemberClass = z.infer<typeof memberClassSchema>

/** A membership as far as classes are concerned. */
export const memberCreditsSchema = z.object({
  membershipId: z.uuid(),
  /** The classes to book: its unused credits. */
  credits: z.int().min(0),
  /** Whether it has ended, so that nothing more can be booked. */
  hasEnded: z.boolean(),
  /** Booked classes that are still ahead, the earliest first. */
  booked: z.array(memberClassSchema),
})
export type MemberCredits = z.infer<typeof memberCreditsSchema>

/** `GET /accounts/:userId/member-classes` of enrollment: what a member can book, and has booked. */
export const memberClassesSchema = z.object({
  /** By the server's clock. */
  now: z.iso.datetime(),
  /** Those that run or have a class ahead, the latest first. */
  memberships: z.array(memberCreditsSchema),
  dates: z.array(
    classTimeSchema.extend({ seatsLeft: z.int().min(0), changeUntil: memberClassSchema.shape.changeUntil }),
  ),
})
export type MemberClasses = z.infer<typeof memberClassesSchema>

/**
 * `POST /accounts/:userId/member-classes`: books a class with a credit. `id` is chosen by the client, and repeating the request
 * returns the same class. 404 `membership_not_found`, 409 `no_credit`, `already_booked`, `class_full`, `membership_not_changeable`
 * if the membership has ended, `id_reused`; 400 `class_not_offered`.
 */
export const bookMemberClassSchema = z.object({
  id: field.uuid('id must be a UUID.'),
  membershipId: field.uuid('membershipId must be a UUID.'),
  classDate: field.plainDate,
})
export type BookMemberClass = z.infer<typeof bookMemberClassSchema>

/**
 * `POST /accounts/:userId/member-classes/:id/move`: moves a class to another date; its credit goes with it. `from` is the date that
 * the page showed: 409 `booking_changed` if it is another one by now. 404 `booking_not_found`, 409 `change_not_allowed` less than a
 * day before it starts, and as for booking.
 */
export const moveMemberClassSchema = z.object({
  id: field.uuid('id must be a UUID.'),
  from: field.plainDate,
  classDate: field.plainDate,
})
export type MoveMemberClass = z.infer<typeof moveMemberClassSchema>

/**
 * `POST /accounts/:userId/member-classes/:id/cancel`: gives up a class. Its credit can be used again while the membership runs.
 * `keepsCredit` is what the page said about that: 409 `booking_changed` if it is no longer so. 409 `change_not_allowed` also if the
 * membership has all the unused credits that it can have.
 */
export const cancelMemberClassSchema = moveMemberClassSchema
  .omit({ classDate: true })
  .extend({ keepsCredit: z.boolean() })
export type CancelMemberClass = z.infer<typeof cancelMemberClassSchema>

const memberClassFacts = z.object({
  ...membership,
  bookingId: z.uuid(),
  ...classTime,
  familyTimeZone: z.string().nullish(),
  isSigned: z.boolean(),
  /** The changes of this booking so far: the SEQUENCE of its calendar entry. */
  changes: z.int().min(0),
})
export type MemberClassFacts = z.infer<typeof memberClassFacts>

/** A class was booked with a credit. `again`: it was given up because its payment was disputed, and the dispute is won. */
export const memberClassBooked = defineEvent(
  'enrollment',
  'member_class.booked',
  memberClassFacts.extend({ again: z.boolean().optional() }),
)
/** A booked class was moved to another date. */
export const memberClassMoved = defineEvent(
  'enrollment',
  'member_class.moved',
  memberClassFacts.extend({ from: classTimeSchema }),
)
/** A booked class was given up: by the member, by the school, or because the payment of its month is refunded or disputed. */
export const memberClassCancelled = defineEvent(
  'enrollment',
  'member_class.cancelled',
  memberClassFacts.extend({
    reason: z.enum(['requested', 'school', ...creditReasons]),
    /** Whether its credit can be used for another class. */
    keepsCredit: z.boolean(),
  }),
)
/** A dispute is won, but there was no seat for the class that was given up. `keepsCredit`: another one can be booked. */
export const memberClassNotRestored = defineEvent(
  'enrollment',
  'member_class.not_restored',
  memberClassFacts.extend({ keepsCredit: z.boolean() }),
)

/**
 * `GET /api/dashboard/member-classes`: what the signed-in member can book, with the membership itself; null while billing is
 * unavailable, or without one.
 */
export const bookableClassesSchema = memberClassesSchema.extend({
  membership: membershipSchema
    .pick({ membershipId: true, status: true, endsAt: true, nextClassAt: true, unpaid: true })
    .nullable(),
})
export type BookableClasses = z.infer<typeof bookableClassesSchema>
