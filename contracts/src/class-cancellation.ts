import { z } from 'zod'
import { changeSchema } from './changes.ts'
import { classTypeSchema, placeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { scheduleSchema } from './meetings.ts'

/** How many days families have to choose, unless the operator says otherwise. */
export const chooseWithinDays = 7

/**
 * `POST /admin/class-sessions/:id/cancellation` (administrators): the school cancels a class. Every family that has paid chooses
 * another class or its money; what nobody has chosen by the deadline is refunded. A repetition changes nothing. 409
 * `quote_outdated` if there are other families by now than the operator has seen.
 */
export const cancelSessionSchema = z.object({
  /** Created by the client: repeating a request with the same id returns the same. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  /** The number of families that the operator has seen. */
  families: z.int().min(0),
  /** Until 5:00 PM in California, that many days from today. */
  days: z.int().min(1).max(60).default(chooseWithinDays),
})
export type CancelSession = z.infer<typeof cancelSessionSchema>

export const cancelledFamilyStates = [
  'to_cancel',
  'choosing',
  'moved',
  'refund_under_way',
  'refunded',
  'refund_failed',
  'ended',
] as const

/** `GET /admin/class-sessions/:id/cancellation`: what cancelling a class would do or, once it is cancelled, how far that is. */
export const classCancellationSchema = z.object({
  classSessionId: z.uuid(),
  classType: classTypeSchema,
  levelTitle: z.string(),
  date: z.string(),
  status: z.enum(['open', 'cancelled']),
  cancelledAt: z.iso.datetime().nullable(),
  chooseUntil: z.iso.datetime().nullable(),
  families: z.array(
    z.object({
      registrationId: z.uuid(),
      guardianName: z.string(),
      email: z.string(),
      children: z.array(z.string()),
      /** Cents that go back if the family does not choose another class or, afterwards, that went back. */
      back: z.int(),
      state: z.enum(cancelledFamilyStates),
    }),
  ),
  /** The sum of it, in cents. */
  back: z.int(),
  /** Registrations that are not paid, whose holds end; and families in line. */
  unpaid: z.int(),
  waiting: z.int(),
})
export type ClassCancellation = z.infer<typeof classCancellationSchema>

/**
 * `GET /choices/:id` and `GET /api/choices/:reference`: a family's choice after the school has cancelled its class. Its id is
 * random, and the link to it.
 */
export const choiceSchema = z.object({
  choiceId: z.uuid(),
  registrationId: z.uuid(),
  guardianName: z.string(),
  /** The class that was cancelled. */
  from: placeSchema.pick({
    classSessionId: true,
    classType: true,
    levelTitle: true,
    startDate: true,
    startTime: true,
    durationMinutes: true,
    timeZone: true,
  }),
  chooseUntil: z.iso.datetime(),
  /** Whether the family can still choose. */
  isOpen: z.boolean(),
  /** The children that it is about, with the class in which each is now. */
  places: z.array(placeSchema),
  /** Cents that go back for those who still sit in the cancelled class. */
  back: z.int(),
  /** Cents that this choice has sent back. */
  sent: z.int(),
  /** The move that is being paid; null if there is none. */
  pending: changeSchema.nullable(),
})
export type Choice = z.infer<typeof choiceSchema>

/**
 * The school has cancelled a class. One event a registration: a paid one has a choice, and one that was not paid has ended.
 */
export const classCancelled = defineEvent(
  'enrollment',
  'class.cancelled',
  registrationFactsSchema.extend({
    cancellationId: z.uuid(),
    /** Null if nothing was paid. */
    choice: z
      .object({
        choiceId: z.uuid(),
        chooseUntil: z.iso.datetime(),
        /** Cents that go back if the family does not choose another class. */
        back: z.int(),
      })
      .nullable(),
    ...scheduleSchema.shape,
  }),
)
