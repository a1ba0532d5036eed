import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import {
  addressSchema,
  registrationFactsSchema,
  registrationRequestSchema,
  requesterShape,
  visitorNetwork,
} from './enrollment.ts'
import { defineEvent } from './event.ts'

/**
 * The states of a family's entry in the line of a class. `waiting` and `offered` are open, all others are final: a family that
 * comes back gets a new place.
 */
export const waitlistStatuses = ['waiting', 'offered', 'accepted', 'declined', 'expired', 'left', 'closed'] as const
export type WaitlistStatus = (typeof waitlistStatuses)[number]

/** Why an entry was `closed`: the class was cancelled or began, or one of its children got a seat in another way. */
export const closedReasons = ['class_cancelled', 'class_started', 'registered'] as const

/**
 * The body of `POST /waitlist` and of the BFF's `POST /api/waitlist`: one family that waits for seats for all of its children,
 * or for none. There is no address: it is needed when the seats are taken.
 */
export const waitlistRequestSchema = registrationRequestSchema.pick({
  id: true,
  guardianName: true,
  email: true,
  childName: true,
  childAge: true,
  siblings: true,
  startDate: true,
  classType: true,
  familyTimeZone: true,
})
export type WaitlistRequest = z.input<typeof waitlistRequestSchema>

/**
 * `POST /waitlist`: 409 `class_not_full` if there are seats for all children right now, `already_waiting` or
 * `already_registered` if one of them waits or has a seat already (as far as the requester may know), `waitlist_closed` shortly
 * before the class, 429 `too_many_unpaid` beyond the limits, which are those of unpaid seats. A repetition returns the entry.
 */
export const joinWaitlistSchema = waitlistRequestSchema.extend({ ...requesterShape, network: visitorNetwork })
export type JoinWaitlist = z.infer<typeof joinWaitlistSchema>

/** The data of an entry in events and mails. `email` and `ownerId` follow the account. */
export const waitlistFactsSchema = registrationFactsSchema
  .omit({ registrationId: true, address: true })
  .extend({ entryId: z.uuid() })
export type WaitlistFacts = z.infer<typeof waitlistFactsSchema>

/** `GET /waitlist/:id`. */
export const waitlistEntrySchema = waitlistFactsSchema.extend({
  status: z.enum(waitlistStatuses),
  /** Its place among the families that wait, from 1; null unless it waits. */
  place: z.int().min(1).nullable(),
  /** The number of families that wait for this class. */
  familiesWaiting: z.int().min(0),
  /** When the offer ends or ended; null if there was none. */
  offerEndsAt: z.iso.datetime().nullable(),
  closedReason: z.enum(closedReasons).nullable(),
  /** Null while it is open. */
  endedAt: z.iso.datetime().nullable(),
  /** What the offer was turned into. */
  registrationId: z.uuid().nullable(),
  createdAt: z.iso.datetime(),
})
export type WaitlistEntry = z.infer<typeof waitlistEntrySchema>

/**
 * `POST /waitlist/:id/accept`: turns the offered seats into the hold of a registration, which it returns as
 * `POST /registrations` does. A repetition returns the same registration. 409 `offer_ended` if there is no offer (any more),
 * `already_registered` if one of the children has a seat.
 */
export const acceptOfferSchema = addressSchema.extend({ ...requesterShape, network: visitorNetwork })
export type AcceptOffer = z.infer<typeof acceptOfferSchema>

/** The response to `POST /api/waitlist/:reference/accept` is that of `POST /api/registrations`. */
export const acceptOfferBodySchema = addressSchema.extend({
  /** The terms that the page showed: 409 `price_changed` with the current offer if they differ. */
  agreed: agreementTermsSchema.optional(),
})
export type AcceptOfferBody = z.input<typeof acceptOfferBodySchema>

/** `GET /api/waitlist/:reference`, and the response to joining, declining and leaving. `reference` is the entry's id. */
export const waitlistViewSchema = waitlistEntrySchema.omit({ ownerId: true })
export type WaitlistView = z.infer<typeof waitlistViewSchema>

/** `GET /admin/class-sessions/:id/waitlist` (administrators): the families with an offer, and those that wait, in order. */
export const waitlistLineSchema = z.object({
  entries: z.array(
    waitlistEntrySchema
      .pick({
        entryId: true,
        status: true,
        place: true,
        guardianName: true,
        email: true,
        children: true,
        offerEndsAt: true,
        createdAt: true,
      })
      .extend({
        /** How often seats became free that were too few for it and went to others. */
        passedOver: z.int(),
      }),
  ),
})
export type WaitlistLine = z.infer<typeof waitlistLineSchema>

/** A family waits in line for a full class. */
export const waitlistJoined = defineEvent(
  'enrollment',
  'waitlist.joined',
  waitlistFactsSchema.extend({ place: z.int().min(1), familiesWaiting: z.int().min(1) }),
)
/** Seats are held for a family of the line until the offer ends. Published once per entry. */
export const waitlistOffered = defineEvent(
  'enrollment',
  'waitlist.offered',
  waitlistFactsSchema.extend({ offerEndsAt: z.iso.datetime() }),
)
/** An entry ended: the family is no longer in line and has no offer. */
export const waitlistEnded = defineEvent(
  'enrollment',
  'waitlist.ended',
  waitlistFactsSchema.extend({
    outcome: z.enum(['accepted', 'declined', 'expired', 'left', ...closedReasons]),
    /** When its offer ended or would have ended; null if it had none. */
    offerEndsAt: z.iso.datetime().nullable(),
  }),
)
