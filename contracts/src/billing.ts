import { z } from 'zod'
import { membershipPlans, type MembershipPlan } from './auth.ts'
import { levelClassTypeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { moneySchema, uuid } from './fields.ts'

/** `GET /prices`: what is true now. */
export const pricesSchema = z.object({
  prices: z.array(z.object({ sku: z.string(), ...moneySchema.shape })),
  promotions: z.array(
    z.object({
      promotionId: z.string(),
      kind: z.literal('sibling_free'),
      classTypes: z.array(levelClassTypeSchema),
      startsAt: z.iso.datetime(),
      /** The first instant at which it is over. */
      endsAt: z.iso.datetime(),
    }),
  ),
})
export type Prices = z.infer<typeof pricesSchema>

/** The price book's name of a class: `class:basic`. */
export function classSku(classType: string): string {
  return `class:${classType}`
}

/** The price book's name of a membership: `membership:monthly`. */
export function membershipSku(plan: MembershipPlan): string {
  return `membership:${plan}`
}

export const checkoutStatuses = ['creating', 'open', 'processing', 'paid', 'expired', 'failed'] as const

/** `POST /checkouts`: creates the checkout of a registration, or answers the one that is open. */
export const createCheckoutSchema = z.object({ purchase: registrationFactsSchema })
export type CreateCheckout = z.infer<typeof createCheckoutSchema>

export const refundSchema = z.object({
  refundId: z.uuid(),
  stripeRefundId: z.string().nullable(),
  ...moneySchema.shape,
  reason: z.enum(['seat_gone', 'duplicate', 'amount_mismatch', 'requested']),
  status: z.enum(['pending', 'succeeded', 'failed']),
})
export type Refund = z.infer<typeof refundSchema>

/** `GET /checkouts/:registrationId`: its newest attempt, and what came of it. */
export const checkoutSchema = z.object({
  attemptId: z.uuid(),
  registrationId: z.uuid(),
  status: z.enum(checkoutStatuses),
  /** Where the parent pays; null when there is nothing to pay there (any more). */
  checkoutUrl: z.url().nullable(),
  ...moneySchema.shape,
  expiresAt: z.iso.datetime(),
  payment: z
    .object({
      paymentId: z.uuid(),
      stripePaymentIntentId: z.string(),
      receiptNumber: z.string(),
      paidAt: z.iso.datetime(),
      ...moneySchema.shape,
    })
    .nullable(),
  refunds: z.array(refundSchema),
  /** Why the card was last declined, in words for the parent. */
  lastDecline: z.string().nullable(),
})
export type Checkout = z.infer<typeof checkoutSchema>

/** `GET /checkouts?registrationIds=a,b,c`: those that exist, in no order. */
export const checkoutsQuerySchema = z.object({
  registrationIds: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(uuid()).max(500, { error: 'Ask for at most 500 registrations at once.' })),
})
export const checkoutsSchema = z.object({ checkouts: z.array(checkoutSchema) })

/**
 * The answer to `POST /membership-checkouts`, which takes what `POST /api/createStripeSession` takes: the open checkout
 * of that address, plan and date, or a new one. 409 `already_member` for an address that has a membership.
 */
export const membershipCheckoutSchema = z.object({
  /** Also the opaque reference in the address that the payment page sends back to. */
  attemptId: z.uuid(),
  checkoutUrl: z.url(),
  ...moneySchema.shape,
  expiresAt: z.iso.datetime(),
})
export type MembershipCheckout = z.infer<typeof membershipCheckoutSchema>

/** `POST /refunds` (administrators): the whole payment, or `amount` cents of it. */
export const createRefundSchema = z.object({
  registrationId: uuid('registrationId must be a UUID.'),
  /** Made by the caller: sending it again makes no second refund. */
  refundId: uuid('refundId must be a UUID.'),
  amount: z.int().min(1, { error: 'A refund is at least 1 cent.' }).optional(),
})
export type CreateRefund = z.infer<typeof createRefundSchema>

/** `POST /admin/prices` (administrators): what a thing costs from `validFrom` on, or from now. Answers as `GET /prices`. */
export const setPriceSchema = z.object({
  sku: z.string().min(1).max(100),
  /** Cents: what the payment provider takes at the least, and at the most. */
  amount: z
    .int()
    .min(50, { error: 'A price is at least 50 cents.' })
    .max(99_999_999, { error: 'A price is at most $999,999.99.' }),
  validFrom: z.iso.datetime().optional(),
})
export type SetPrice = z.infer<typeof setPriceSchema>

const attempt = z.object({ attemptId: z.uuid(), registrationId: z.uuid() })

export const checkoutCreated = defineEvent(
  'billing',
  'checkout.created',
  attempt.extend({ ...moneySchema.shape, expiresAt: z.iso.datetime() }),
)
/** The provider has closed the checkout unpaid; nothing can be paid there any more. */
export const checkoutExpired = defineEvent('billing', 'checkout.expired', attempt)
export const paymentCompleted = defineEvent(
  'billing',
  'payment.completed',
  attempt.extend({
    paymentId: z.uuid(),
    ...moneySchema.shape,
    receiptNumber: z.string(),
    paidAt: z.iso.datetime(),
  }),
)
/** A try that failed. While `final` is false the checkout is still open and the parent may try another card. */
export const paymentFailed = defineEvent(
  'billing',
  'payment.failed',
  attempt.extend({ final: z.boolean(), reason: z.string() }),
)
export const paymentRefunded = defineEvent(
  'billing',
  'payment.refunded',
  z.object({
    refundId: z.uuid(),
    paymentId: z.uuid(),
    registrationId: z.uuid(),
    ...moneySchema.shape,
    reason: refundSchema.shape.reason,
    /** All refunds of the payment so far, in cents; equal to `paidAmount` when all of it went back. */
    refundedTotal: z.int(),
    paidAmount: z.int(),
    /** It makes good for what was told of before and failed at the bank after all. */
    again: z.boolean().optional(),
    purchase: registrationFactsSchema,
  }),
)
/** A refund that was told of by `payment.refunded` has failed at the bank after all: the money is with us again. */
export const refundFailed = defineEvent(
  'billing',
  'refund.failed',
  z.object({
    refundId: z.uuid(),
    paymentId: z.uuid(),
    registrationId: z.uuid(),
    ...moneySchema.shape,
    reason: refundSchema.shape.reason,
    purchase: registrationFactsSchema,
  }),
)
/** A membership is paid for the first time and runs from now on. Told once for each subscription. */
export const subscriptionActivated = defineEvent(
  'billing',
  'subscription.activated',
  z.object({
    attemptId: z.uuid(),
    email: z.string(),
    plan: z.enum(membershipPlans),
    /** The members' session that was chosen with it, `YYYY-MM-DD`. */
    classDate: z.iso.date(),
    subscriptionId: z.string(),
    customerId: z.string(),
    /** What is paid each month, or each year. */
    ...moneySchema.shape,
    activatedAt: z.iso.datetime(),
  }),
)
