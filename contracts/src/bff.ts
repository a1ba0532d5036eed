import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { checkoutStatuses, disputeSchema, refundSchema } from './billing.ts'
import {
  childSchema,
  classTypeSchema,
  levelSchema,
  requireEmail,
  registrationCursorSchema,
  registrationRequestSchema,
  registrationSchema,
  signWaiverSchema,
  placeSchema,
} from './enrollment.ts'
import * as field from './fields.ts'
import { moneySchema } from './fields.ts'

/** `GET /api/classes`: the classes for the landing page and the sign-up pages. */
export const classesViewSchema = z.object({
  levels: z.array(levelSchema.extend({ price: moneySchema })),
  /** "Enroll one child and a sibling joins free"; null if the promotion is not running. */
  promotion: z
    .object({
      promotionId: z.string(),
      classTypes: z.array(z.string()),
      /** Its last day in California, `YYYY-MM-DD`. */
      lastDay: z.string(),
    })
    .nullable(),
})
export type ClassesView = z.infer<typeof classesViewSchema>

/** `POST /api/registrations`: the specified fields, and our own optional `id`, `siblings`, `replaces` and `unlessRegistered`. */
export const registerBodySchema = registrationRequestSchema.extend({
  id: registrationRequestSchema.shape.id.optional(),
  /** The terms that the page showed: 409 `price_changed` with the current offer if it differs. */
  agreed: agreementTermsSchema.optional(),
})
export type RegisterBody = z.input<typeof registerBodySchema>

/** `POST /api/registrations/:reference/checkout`: continues to payment. */
export const resumeCheckoutBodySchema = registerBodySchema.pick({ agreed: true }).nullish()

/** The response to `POST /api/registrations` and `POST /api/registrations/:reference/checkout`. */
export const registerResponseSchema = z.object({ checkoutUrl: z.url(), registrationId: z.uuid() })
export type RegisterResponse = z.infer<typeof registerResponseSchema>

/**
 * `GET /api/registrations/:reference`, and each `state` event of `/api/registrations/:reference/events`.
 * `reference` is the registration's id. `status`, which enrollment decides, says whether it is paid.
 */
export const registrationViewSchema = registrationSchema
  .pick({
    registrationId: true,
    status: true,
    guardianName: true,
    email: true,
    children: true,
    address: true,
    classType: true,
    levelTitle: true,
    startDate: true,
    startTime: true,
    timeZone: true,
    heldUntil: true,
    rejectionReason: true,
    meetings: true,
    coachName: true,
  })
  .extend({
    /** That the school has cancelled the class of all of its children, and the family has not chosen yet. */
    choice: placeSchema.shape.classCancelled,
    waiverSignedAt: z.iso.datetime().nullable(),
    /** Null if no checkout exists, or while billing is unavailable. */
    checkout: z
      .object({
        status: z.enum(checkoutStatuses),
        /** The payment page, while it can be paid. */
        url: z.url().nullable(),
        ...moneySchema.shape,
        receiptNumber: z.string().nullable(),
        paidAt: z.iso.datetime().nullable(),
        lastDecline: z.string().nullable(),
        /** The price per seat in cents, and the number of paid seats. */
        unitAmount: z.int().nullable(),
        paidSeats: z.int().nullable(),
        refunds: z.array(
          refundSchema.pick({ amount: true, currency: true, status: true, reason: true, refundedAt: true }),
        ),
        disputes: z.array(disputeSchema.pick({ amount: true, currency: true, status: true })),
      })
      .nullable(),
  })
export type RegistrationView = z.infer<typeof registrationViewSchema>

const emptyToUndefined = (value: unknown) => (value === '' ? undefined : value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the address from flat fields or a nested `address`; missing lines are empty strings. */
function addressOf(record: Record<string, unknown>) {
  const nested = isObject(record['address']) ? record['address'] : {}
  const line = (...keys: string[]) => {
    const values = keys.flatMap((key) => [record[key], nested[key]])
    return values.find((value) => typeof value === 'string' && value !== '') ?? ''
  }
  return {
    addressLine1: line('addressLine1', 'line1'),
    addressLine2: line('addressLine2', 'line2'),
    city: line('city'),
    state: line('state'),
    zipCode: line('zipCode', 'zip'),
  }
}

/**
 * `POST /api/waivers`: the specified payload, parsed leniently: `selectedDate` instead of `startDate`, a nested `address` and
 * timestamps in any format are accepted. `registrationId` is our own field and names the registration to sign for. With
 * `classType` `membership` it is required and is the membership's id; only the membership's owner can use `replaces`.
 */
export const waiverBodySchema = z.preprocess(
  (body) => {
    if (!isObject(body)) return body
    const startDate = body['startDate'] || body['selectedDate'] || ''
    const { childAge } = body
    const age = typeof childAge === 'string' && /^\d{1,3}$/.test(childAge.trim()) ? Number(childAge) : childAge
    return { ...body, startDate, childAge: typeof age === 'number' ? age : undefined, address: addressOf(body) }
  },
  z
    .object({
      registrationId: z.preprocess(emptyToUndefined, field.uuid('registrationId must be a UUID.').optional()),
      replaces: signWaiverSchema.shape.replaces,
      guardianName: field.guardianName,
      childName: childSchema.shape.childName,
      childAge: z.number().optional(),
      /** Ignored for a membership: its waiver has the membership's email. */
      email: field.email.optional(),
      startDate: z.union([field.plainDate, z.literal('')]),
      classType: classTypeSchema,
      address: signWaiverSchema.shape.address,
      documentSha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, { error: 'documentSha256 must be 64 hex digits.' })
        .nullish(),
    })
    .superRefine(requireEmail),
)
export type WaiverBody = z.infer<typeof waiverBodySchema>

/** The response to `POST /api/waivers`; it has the registration's id only if the request had it. */
export const waiverResponseSchema = z.object({
  waiverId: z.uuid(),
  registrationId: z.uuid().optional(),
  signedAt: z.iso.datetime(),
})
export type WaiverResponse = z.infer<typeof waiverResponseSchema>

/** `GET /api/getAllRegistrations`: a page of enrollment's registrations, each with its payment data from billing. */
export const adminRegistrationSchema = registrationSchema.extend({
  attemptId: z.uuid().nullable(),
  stripePaymentIntentId: z.string().nullable(),
  refunds: z.array(refundSchema),
})
export const adminRegistrationsSchema = z.object({
  registrations: z.array(adminRegistrationSchema),
  nextCursor: registrationCursorSchema.nullable(),
})
