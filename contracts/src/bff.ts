import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { checkoutStatuses, disputeSchema, refundSchema } from './billing.ts'
import {
  childSchema,
  classTypeSchema,
  levelSchema,
  needEmail,
  registrationCursorSchema,
  registrationRequestSchema,
  registrationSchema,
  signWaiverSchema,
} from './enrollment.ts'
import * as field from './fields.ts'
import { moneySchema } from './fields.ts'

/** `GET /api/classes`: what the landing and the sign-up pages show. */
export const classesViewSchema = z.object({
  levels: z.array(levelSchema.extend({ price: moneySchema })),
  /** "Enroll one child and a sibling joins free", where it is on. */
  promotion: z
    .object({
      promotionId: z.string(),
      classTypes: z.array(z.string()),
      /** The last day of it in California, `YYYY-MM-DD`. */
      lastDay: z.string(),
    })
    .nullable(),
})
export type ClassesView = z.infer<typeof classesViewSchema>

/** `POST /api/registrations`: the specified fields; `id`, `siblings`, `replaces` and `unlessRegistered` are ours and optional. */
export const registerBodySchema = registrationRequestSchema.extend({
  id: registrationRequestSchema.shape.id.optional(),
  /** What the page showed: 409 `price_changed` with what is offered now where that is something else. */
  agreed: agreementTermsSchema.optional(),
})
export type RegisterBody = z.input<typeof registerBodySchema>

/** `POST /api/registrations/:reference/checkout`: goes on to pay. */
export const resumeCheckoutBodySchema = registerBodySchema.pick({ agreed: true }).nullish()

/** The answer to `POST /api/registrations` and `POST /api/registrations/:reference/checkout`. */
export const registerAnswerSchema = z.object({ checkoutUrl: z.url(), registrationId: z.uuid() })
export type RegisterAnswer = z.infer<typeof registerAnswerSchema>

/**
 * `GET /api/registrations/:reference`, and each `state` event of `/api/registrations/:reference/events`.
 * `reference` is the registration's id. Whether it is paid is told by `status`, which enrollment decides.
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
  })
  .extend({
    waiverSignedAt: z.iso.datetime().nullable(),
    /** Null while no checkout was made, and while billing cannot be asked. */
    checkout: z
      .object({
        status: z.enum(checkoutStatuses),
        /** Where to pay, while that is possible. */
        url: z.url().nullable(),
        ...moneySchema.shape,
        receiptNumber: z.string().nullable(),
        paidAt: z.iso.datetime().nullable(),
        lastDecline: z.string().nullable(),
        /** Cents for one seat, and how many are paid for. */
        unitAmount: z.int().nullable(),
        paidSeats: z.int().nullable(),
        refunds: z.array(refundSchema.pick({ amount: true, currency: true, status: true, reason: true })),
        disputes: z.array(disputeSchema.pick({ amount: true, currency: true, status: true })),
      })
      .nullable(),
  })
export type RegistrationView = z.infer<typeof registrationViewSchema>

const emptyToUndefined = (value: unknown) => (value === '' ? undefined : value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The place in any of the shapes that it is kept in, flat or as a nested address; what is not told is empty. */
function placeOf(record: Record<string, unknown>) {
  const nested = isObject(record['address']) ? record['address'] : {}
  const line = (...keys: string[]) => {
    const told = keys.flatMap((key) => [record[key], nested[key]])
    return told.find((value) => typeof value === 'string' && value !== '') ?? ''
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
 * `POST /api/waivers`: the specified payload, read tolerantly: `selectedDate` for `startDate`, a nested `address`, and
 * timestamps in any shape are accepted. `registrationId` is ours: with it the waiver goes to exactly that registration.
 * With `classType` `membership` it is the membership's id, and is needed; `replaces` is for its owner alone.
 */
export const waiverBodySchema = z.preprocess(
  (body) => {
    if (!isObject(body)) return body
    const startDate = body['startDate'] || body['selectedDate'] || ''
    const { childAge } = body
    const age = typeof childAge === 'string' && /^\d{1,3}$/.test(childAge.trim()) ? Number(childAge) : childAge
    return { ...body, startDate, childAge: typeof age === 'number' ? age : undefined, address: placeOf(body) }
  },
  z
    .object({
      registrationId: z.preprocess(emptyToUndefined, field.uuid('registrationId must be a UUID.').optional()),
      replaces: signWaiverSchema.shape.replaces,
      guardianName: field.guardianName,
      childName: childSchema.shape.childName,
      childAge: z.number().optional(),
      /** Of a membership's it is not read: its signature has the membership's address. */
      email: field.email.optional(),
      startDate: z.union([field.plainDate, z.literal('')]),
      classType: classTypeSchema,
      address: signWaiverSchema.shape.address,
      documentSha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, { error: 'documentSha256 must be 64 hex digits.' })
        .nullish(),
    })
    .superRefine(needEmail),
)
export type WaiverBody = z.infer<typeof waiverBodySchema>

/** The answer to `POST /api/waivers`; with the registration's id only where the request had it. */
export const waiverAnswerSchema = z.object({
  waiverId: z.uuid(),
  registrationId: z.uuid().optional(),
  signedAt: z.iso.datetime(),
})
export type WaiverAnswer = z.infer<typeof waiverAnswerSchema>

/** `GET /api/getAllRegistrations`: enrollment's page, each with what billing knows. */
export const adminRegistrationSchema = registrationSchema.extend({
  attemptId: z.uuid().nullable(),
  stripePaymentIntentId: z.string().nullable(),
  refunds: z.array(refundSchema),
})
export const adminRegistrationsSchema = z.object({
  registrations: z.array(adminRegistrationSchema),
  nextCursor: registrationCursorSchema.nullable(),
})
