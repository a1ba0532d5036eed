import { z } from 'zod'
import { registrationViewSchema } from './bff.ts'
import { checkoutSchema, foundMembershipSchema } from './billing.ts'
import { changeSchema, changeTermsSchema } from './changes.ts'
import { memberSeatSchema, placeSchema, registrationSchema } from './enrollment.ts'
import * as field from './fields.ts'
import { memberClassSchema, memberCreditsSchema } from './member-classes.ts'
import { orderSchema } from './shop.ts'
import { waitlistEntrySchema, waitlistViewSchema } from './waitlist.ts'

/** The parent's home: what an account owns, from each service, and what the BFF makes of it. */

/** When the first meeting of a class begins, and how long it takes. */
const classTime = { startsAt: z.iso.datetime(), durationMinutes: z.int() }

/** The newest registrations, orders and checkouts that one answer can have. */
export const maxOfFamily = 200

/** `GET /accounts/:userId/classes` of enrollment: everything that an account owns there, the newest first. */
export const familyClassesSchema = z.object({
  registrations: z.array(
    registrationSchema.extend({
      ...classTime,
      /** Its moves that are being paid. Absent from responses of the previous version. */
      pendingMoves: z.array(changeSchema).optional(),
    }),
  ),
  /** The booked classes of its memberships, the earliest first. */
  memberClasses: z.array(
    memberSeatSchema.extend({
      ...classTime,
      /** Absent from responses of the previous version, as is the next field. */
      bookingId: memberClassSchema.shape.bookingId.optional(),
      changeUntil: memberClassSchema.shape.changeUntil.optional(),
    }),
  ),
  /** What its memberships can book. Absent from responses of the previous version. */
  memberCredits: z.array(memberCreditsSchema).optional(),
  /** Its places in line, and those that ended lately. Absent from responses of the previous version. */
  waitlist: z.array(waitlistEntrySchema).optional(),
})
export type FamilyClasses = z.infer<typeof familyClassesSchema>

/**
 * `POST /purchases/find` of billing: everything that an account paid for, or may still pay. Its checkouts are those of
 * registrations made by the account, or with an address that it has or had: enrollment decides which of these it owns, so the
 * caller drops the others.
 */
export const findPurchasesSchema = z.object({ userId: field.uuid(), email: field.email })
export const familyPurchasesSchema = foundMembershipSchema.required({ others: true }).extend({
  checkouts: z.array(checkoutSchema),
  /** Paid ones, the newest first. */
  orders: z.array(orderSchema),
})
export type FamilyPurchases = z.infer<typeof familyPurchasesSchema>

/** `POST /accounts/:userId/calendar` of enrollment, and `…/renew`: the secret address of the account's calendar. */
export const calendarFeedSchema = z.object({ token: z.string() })
export type CalendarFeed = z.infer<typeof calendarFeedSchema>

/** `POST /api/dashboard/calendar`, and `…/renew`, which replaces the address. */
export const calendarAddressSchema = z.object({ url: z.url() })
export type CalendarAddress = z.infer<typeof calendarAddressSchema>

/** The children of one registration in one class. */
export const dashboardCardSchema = registrationViewSchema.extend({
  /** The registration's id, or for another class of the same registration the id of the first place in it. */
  cardId: z.uuid(),
  ...classTime,
  /** Of a paid registration. */
  places: z
    .array(
      placeSchema.pick({
        placeId: true,
        childName: true,
        childAge: true,
        status: true,
        paidAmount: true,
        moves: true,
        cancelledAt: true,
        classCancelled: true,
        cancelledBySchool: true,
      }),
    )
    .optional(),
  /** The move of some of these children that is being paid. */
  pendingMove: changeSchema
    .pick({ changeId: true, heldUntil: true })
    .extend({ terms: changeTermsSchema.pick({ lines: true, to: true, due: true, school: true }) })
    .optional(),
  /** When it last changed. */
  updatedAt: z.iso.datetime(),
  waiver: registrationSchema.shape.waiver.unwrap().pick({ waiverId: true, signedAt: true }).nullable(),
  kit: registrationSchema.shape.kit,
  meetings: registrationSchema.shape.meetings,
  coachName: registrationSchema.shape.coachName,
  /** What enrollment knows of the payment: the page tells it while billing is unavailable. */
  payment: registrationSchema.shape.payment.unwrap().omit({ paymentId: true }).nullable(),
})
export type DashboardCard = z.infer<typeof dashboardCardSchema>

export const dashboardParts = ['classes', 'money', 'waitlist', 'membership', 'orders'] as const
export type DashboardPart = (typeof dashboardParts)[number]

/** `GET /api/dashboard`: the signed-in account's own. Every part is null while nothing may or can be shown of it. */
export const dashboardSchema = z.object({
  /** By the server's clock, to which countdowns and opening times are relative. */
  now: z.iso.datetime(),
  account: z.object({
    userId: z.string(),
    email: z.string(),
    /** Whether the address is verified: until then no part is asked for. */
    isConfirmed: z.boolean(),
  }),
  /** What cannot be shown right now, because its service did not answer. */
  unavailable: z.array(z.enum(dashboardParts)),
  classes: z
    .object({
      /** Those that are current or ahead, the earliest first. */
      cards: z.array(dashboardCardSchema),
      memberClasses: familyClassesSchema.shape.memberClasses,
      memberCredits: familyClassesSchema.shape.memberCredits,
      /** The number of classes that are over: `GET /api/dashboard/past`. */
      past: z.int(),
      /** The latest class that a child has finished, for a family with nothing ahead. */
      lastFinished: dashboardCardSchema
        .pick({ children: true, classType: true, levelTitle: true })
        .extend({ endedAt: z.iso.datetime() })
        .nullable(),
    })
    .nullable(),
  /** The places in line that are open, and those that ended without the family's doing. */
  waitlist: z.array(waitlistViewSchema).nullish(),
  membership: familyPurchasesSchema.pick({ membership: true, others: true }).nullable(),
  orders: z
    .object({
      /** Those on their way, or with money on its way back. */
      open: z.array(orderSchema),
      /** The number of all others. */
      past: z.int(),
    })
    .nullable(),
})
export type Dashboard = z.infer<typeof dashboardSchema>

/** `GET /api/dashboard/past`: what is over, the latest first. A part is null while its service is unavailable. */
export const dashboardPastSchema = z.object({
  cards: z.array(dashboardCardSchema).nullable(),
  orders: z.array(orderSchema).nullable(),
})
export type DashboardPast = z.infer<typeof dashboardPastSchema>

/** `GET /api/family`: what a signed-in parent's next form can be filled in with, from earlier registrations. */
export const familySchema = z.object({
  /** With their latest ages; those that were registered last come first. */
  children: z.array(z.object({ childName: z.string(), childAge: z.int() })),
  /** Of the latest registration. */
  address: registrationSchema.shape.address.nullable(),
})
export type Family = z.infer<typeof familySchema>
