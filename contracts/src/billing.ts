import { z } from 'zod'
import { agreementSchema, agreementTermsSchema } from './agreement.ts'
import { membershipPlans, type MembershipPlan } from './auth.ts'
import { requesterShape, levelClassTypeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { email, moneySchema, plainDate, timeZone, unixSecond, uuid } from './fields.ts'
import { membershipFactsSchema } from './membership.ts'
import { paymentStates } from './payment-state.ts'

export { paymentStates }
export type { PaymentState } from './payment-state.ts'

/** `GET /prices`: the current prices and promotions. */
export const pricesSchema = z.object({
  prices: z.array(z.object({ sku: z.string(), ...moneySchema.shape })),
  promotions: z.array(
    z.object({
      promotionId: z.string(),
      kind: z.literal('sibling_free'),
      classTypes: z.array(levelClassTypeSchema),
      startsAt: z.iso.datetime(),
      /** Exclusive. */
      endsAt: z.iso.datetime(),
    }),
  ),
})
export type Prices = z.infer<typeof pricesSchema>

/** Returns the SKU of a class in the price book: `class:basic`. */
export function classSku(classType: string): string {
  return `class:${classType}`
}

/** Returns the SKU of a membership in the price book: `membership:monthly`. */
export function membershipSku(plan: MembershipPlan): string {
  return `membership:${plan}`
}

export const checkoutStatuses = ['creating', 'open', 'processing', 'paid', 'expired', 'failed'] as const

/**
 * `POST /checkouts`: creates the checkout of a registration, or answers the one that is open. What the registration says, and so
 * its price, is enrollment's to say: billing asks there. 404 `registration_not_found` where there is none.
 */
export const createCheckoutSchema = z.object({
  /** A billing of the version before reads all of the registration's facts here. */
  purchase: registrationFactsSchema.pick({ registrationId: true }),
  /** What the page showed: 409 `price_changed` where a new checkout would be for something else. */
  agreed: agreementTermsSchema.optional(),
})
export type CreateCheckout = z.infer<typeof createCheckoutSchema>

export const refundSchema = z.object({
  refundId: z.uuid(),
  stripeRefundId: z.string().nullable(),
  ...moneySchema.shape,
  reason: z.enum(['seat_gone', 'duplicate', 'amount_mismatch', 'requested']),
  status: z.enum(['pending', 'succeeded', 'failed']),
  /** When the money went back; null before. Absent from a process of the previous version. */
  refundedAt: z.iso.datetime().nullish(),
})
export type Refund = z.infer<typeof refundSchema>

/**
 * `POST /checkouts/:registrationId/close`: closes a checkout in favor of the registration that replaces it. The replacement is
 * validated first, as `POST /checkouts` would (409 `id_reused`, 409 `price_changed`), so that nothing is closed in favor of a
 * request that would fail. A BFF of the previous version sends no body.
 */
export const closeCheckoutSchema = z
  .object({
    replacedBy: registrationFactsSchema
      .pick({ registrationId: true, classType: true, startDate: true })
      .extend({ children: z.int(), agreed: agreementTermsSchema.optional() }),
  })
  .nullish()
export type CloseCheckout = z.infer<typeof closeCheckoutSchema>

/** The response to `POST /checkouts/:registrationId/close`, based on the payment provider's response. */
export const closedCheckoutSchema = z.object({
  /** `none`: there was no checkout. `closed`: it can no longer be paid. Otherwise the reason why it could not be closed. */
  outcome: z.enum(['none', 'closed', 'processing', 'paid']),
})

/** A payment dispute (chargeback). `status` is the payment provider's (`needs_response`, `won`, `lost`, …). */
export const disputeSchema = z.object({
  disputeId: z.string(),
  ...moneySchema.shape,
  reason: z.string(),
  status: z.string(),
  /** The deadline for the response to the bank; null if no response is required (any more). */
  answerBy: z.iso.datetime().nullable(),
  openedAt: z.iso.datetime(),
})
export type Dispute = z.infer<typeof disputeSchema>

/** `GET /checkouts/:registrationId`: the newest checkout attempt and its outcome. */
export const checkoutSchema = z.object({
  attemptId: z.uuid(),
  registrationId: z.uuid(),
  status: z.enum(checkoutStatuses),
  /** The payment page; null when it cannot be paid (any more). */
  checkoutUrl: z.url().nullable(),
  ...moneySchema.shape,
  /** The price per seat in cents and the number of paid seats (a sibling may join free). Null for an order, which has lines. */
  unitAmount: z.int().nullable().default(null),
  paidSeats: z.int().nullable().default(null),
  /** When the attempt was created. Absent from a process of the previous version. */
  createdAt: z.iso.datetime().optional(),
  expiresAt: z.iso.datetime(),
  payment: z
    .object({
      paymentId: z.uuid(),
      stripePaymentIntentId: z.string(),
      receiptNumber: z.string(),
      paidAt: z.iso.datetime(),
      ...moneySchema.shape,
      /** This field and the next two are absent from a process of the previous version. */
      state: z.enum(paymentStates).optional(),
      /** Cents that the payer was told were refunded, but that are neither refunded nor pending. */
      owed: z.int().optional(),
      /** When the payer was notified of the full refund: the purchase is over, even if the refund fails at the bank later. */
      returnedAt: z.iso.datetime().nullish(),
    })
    .nullable(),
  refunds: z.array(refundSchema),
  disputes: z.array(disputeSchema).default([]),
  /** Why the card was last declined, as text for the parent. */
  lastDecline: z.string().nullable(),
})
export type Checkout = z.infer<typeof checkoutSchema>

/**
 * `POST /checkouts/:registrationId/refresh`, `/orders/:orderId/refresh` and `/membership-checkouts/:attemptId/refresh` respond
 * like the `GET` without `/refresh`, but refetch from the payment provider first if the last fetch is too old. The BFF's `GET`
 * routes use them. `returned`: the buyer has just returned from the payment page, so a shorter maximum age applies.
 */
export const refreshQuerySchema = z.object({
  returned: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
})

/** `GET /checkouts?registrationIds=a,b,c`: the checkouts that exist, in no particular order. */
export const checkoutsQuerySchema = z.object({
  registrationIds: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(uuid()).max(500, { error: 'Ask for at most 500 registrations at once.' })),
})
export const checkoutsSchema = z.object({ checkouts: z.array(checkoutSchema) })

/** `GET /membership-plans`: the current price of each membership plan, with the terms to accept. */
export const membershipPlansSchema = z.object({
  plans: z.array(
    z.object({
      plan: z.enum(membershipPlans),
      ...moneySchema.shape,
      termsVersion: z.string(),
      terms: z.string(),
    }),
  ),
})
export type MembershipPlans = z.infer<typeof membershipPlansSchema>

/**
 * `POST /membership-checkouts`: the body of `POST /api/createStripeSession`, with the evidence of the consent. 409
 * `terms_changed` if the accepted terms are not the current ones; 409 `already_member` if the requester's account or browser
 * has a membership already. Anyone else who enters a member's address gets an ordinary checkout, so that nothing is disclosed;
 * the member is notified by mail, and a second payment is refunded.
 */
export const createMembershipCheckoutSchema = z.object({
  email,
  plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }),
  classDate: plainDate,
  /** If omitted, the payment page requires the consent. */
  consent: z
    .object({
      version: z.string().max(50),
      /** The text beside the checkbox. */
      text: z.string().max(2000),
      ipAddress: z.string().max(100),
      userAgent: z.string().max(1000),
    })
    .optional(),
  /** What the page showed: 409 `terms_changed` with what is offered now where that is something else. */
  agreed: agreementTermsSchema.optional(),
  /** The member's time zone, an IANA name. An open checkout keeps the first one it received. */
  familyTimeZone: timeZone.optional(),
  ...requesterShape,
})
export type CreateMembershipCheckout = z.infer<typeof createMembershipCheckoutSchema>

/** The response: the requester's open checkout for that address, plan and date, or a new one. */
export const membershipCheckoutSchema = z.object({
  /** Also the opaque reference in the URL that the payment page returns to. */
  attemptId: z.uuid(),
  checkoutUrl: z.url(),
  ...moneySchema.shape,
  expiresAt: z.iso.datetime(),
})
export type MembershipCheckout = z.infer<typeof membershipCheckoutSchema>

/** Why a paid membership did not get a seat. */
export const rejectionReasons = z.enum(['class_full', 'class_started', 'class_not_offered'])

/**
 * `GET /membership-checkouts/:attemptId`: the outcome of a membership checkout. `confirmed`: paid, with a seat. `refused`: paid
 * and being refunded. Contains no personal data, because anyone with the page's URL can read it.
 */
export const membershipOutcomeSchema = z.object({
  attemptId: z.uuid(),
  status: z.enum(['open', 'processing', 'confirmed', 'refused', 'expired', 'failed']),
  /** The reason for `refused`. */
  refusal: z.enum(['class_full', 'class_started', 'class_not_offered', 'duplicate', 'amount_mismatch']).nullable(),
  /** Where to pay, while that is possible. */
  checkoutUrl: z.url().nullable(),
  /** When the payment page expires. Absent from a process of the previous version. */
  expiresAt: z.iso.datetime().optional(),
  plan: z.enum(membershipPlans),
  classDate: z.string(),
  ...moneySchema.shape,
  receiptNumber: z.string().nullable(),
  /** Cents refunded, including pending refunds. */
  refunded: z.int(),
})
export type MembershipOutcome = z.infer<typeof membershipOutcomeSchema>

/** A membership, as the payment provider reports it. */
export const membershipSchema = z.object({
  membershipId: z.uuid(),
  status: z.enum(['active', 'past_due', 'ended']),
  plan: z.enum(membershipPlans),
  ...moneySchema.shape,
  classDate: z.string(),
  activatedAt: z.iso.datetime(),
  /** The end of the paid period. */
  paidUntil: z.iso.datetime(),
  /** Set if the membership will not renew or has ended. */
  endsAt: z.iso.datetime().nullable(),
  /** Null if nothing will be charged. */
  nextCharge: z.object({ at: z.iso.datetime(), ...moneySchema.shape }).nullable(),
  /** The plan that starts after the paid period, if it differs from `plan`. */
  nextPlan: z.enum(membershipPlans).nullable(),
  /** When the next month begins that gives a class; null if none will. Absent from responses of the previous version. */
  nextClassAt: z.iso.datetime().nullish(),
  card: z.object({ brand: z.string(), last4: z.string(), expMonth: z.int(), expYear: z.int() }).nullable(),
  /** Set while a payment is failing. */
  unpaid: z
    .object({
      amount: z.int(),
      attempts: z.int(),
      nextTryAt: z.iso.datetime().nullable(),
      /** The payment provider's page for confirming the payment, if the bank requires that. */
      confirmUrl: z.url().nullish(),
    })
    .nullable(),
  /** Newest first. */
  payments: z.array(
    z.object({
      receiptNumber: z.string(),
      paidAt: z.iso.datetime(),
      amount: z.int(),
      plan: z.enum(membershipPlans),
      reason: z.enum(['first', 'renewal', 'switch']),
      periodEnd: z.iso.datetime(),
      /** Cents of it refunded, including pending refunds. */
      refunded: z.int(),
      disputed: z.boolean(),
    }),
  ),
})
export type Membership = z.infer<typeof membershipSchema>

/** `POST /memberships/find`: an account's running membership, or the newest one if all have ended. */
export const findMembershipSchema = z.object({
  userId: z.uuid(),
  /** The account's verified address; null if it has none. */
  email: email.nullable(),
})
export type FindMembership = z.infer<typeof findMembershipSchema>
export const foundMembershipSchema = z.object({
  membership: membershipSchema.nullable(),
  /** Other running memberships that were linked to the account by its address: the member is told and can cancel them. */
  others: z.array(membershipSchema).optional(),
})

export type FoundMembership = z.infer<typeof foundMembershipSchema>

/** `POST /api/membership/cancel` and `…/resume`: which membership, if the account has several; the first one if omitted. */
export const ownMembershipBodySchema = z.object({ membershipId: uuid().optional() }).nullish()

/** `POST /memberships/:id/quote`: the exact cost of a change of plan, before the member accepts it. */
export const switchBodySchema = z.object({ plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }) })
export const switchQuoteSchema = z.object({
  plan: z.enum(membershipPlans),
  /** When the new plan starts. */
  from: z.iso.datetime(),
  /** Cents charged immediately; 0 if the new plan starts later. */
  dueNow: z.int(),
  /** Cents credited for the unused time of the current plan. */
  credit: z.int(),
  /** The amount charged at `nextChargeAt`, and each month or year after that. */
  ...moneySchema.shape,
  nextChargeAt: z.iso.datetime(),
  /** The Unix time (seconds) for which the amounts were calculated; the switch request sends it back unchanged. */
  reckonedAt: z.int(),
  /** The whole offer; its terms are sent back with the consent. */
  agreement: agreementSchema.optional(),
})
export type SwitchQuote = z.infer<typeof switchQuoteSchema>

/**
 * `POST /memberships/:id/switch`: switches the plan as quoted. 409 `quote_outdated` with the current offer if it has changed;
 * 402 `payment_confirmation_required` with the bank's confirmation page, and nothing changes until the cardholder confirms.
 */
export const switchMembershipSchema = switchQuoteSchema
  .pick({ plan: true, dueNow: true })
  .extend({ reckonedAt: unixSecond, agreed: agreementTermsSchema.optional() })
export type SwitchMembership = z.infer<typeof switchMembershipSchema>

/** `POST /memberships/:id/portal`: the payment provider's page for changing the card. */
export const portalSchema = z.object({ url: z.url() })

/** `POST /refunds` (administrators): refunds the whole payment, or `amount` cents of it. `paymentId` can name any payment, including one that paid for nothing (a duplicate). */
export const createRefundSchema = z
  .object({
    registrationId: uuid('registrationId must be a UUID.').optional(),
    /** Of any payment, including a membership's: `RK-000012`. */
    receiptNumber: z
      .string()
      .regex(/^RK-\d{6,}$/, { error: 'receiptNumber must be like RK-000012.' })
      .optional(),
    paymentId: uuid('paymentId must be a UUID.').optional(),
    /** Chosen by the caller as an idempotency key: sending it again makes no second refund. */
    refundId: uuid('refundId must be a UUID.'),
    amount: z.int().min(1, { error: 'A refund is at least 1 cent.' }).optional(),
  })
  .refine(
    ({ registrationId, receiptNumber, paymentId }) =>
      [registrationId, receiptNumber, paymentId].filter((one) => one !== undefined).length === 1,
    { path: ['registrationId'], error: 'Either registrationId, receiptNumber or paymentId is required.' },
  )
export type CreateRefund = z.infer<typeof createRefundSchema>

/** `GET /refunds` (administrators): newest first, optionally of one status. */
export const refundsQuerySchema = z.object({ status: refundSchema.shape.status.optional() })
export const refundsSchema = z.object({
  refunds: z.array(
    refundSchema.extend({
      paymentId: z.uuid(),
      /** Exactly one of these three is not null: what was paid for. */
      registrationId: z.uuid().nullable(),
      orderId: z.uuid().nullable(),
      membershipId: z.uuid().nullable(),
      receiptNumber: z.string().nullable(),
      email: z.string().nullable(),
      createdAt: z.iso.datetime(),
      /** Cents of the payment that are neither refunded nor pending: the amount of a full refund by `paymentId`. */
      left: z.int(),
    }),
  ),
})

/** `GET /disputes` (administrators): newest first. */
export const disputesSchema = z.object({
  disputes: z.array(
    disputeSchema.extend({
      registrationId: z.uuid().nullable(),
      membershipId: z.uuid().nullable(),
      orderId: z.uuid().nullish(),
      receiptNumber: z.string().nullable(),
    }),
  ),
})

/** The query of `POST /admin/reconcile`: ignores transactions before `since`. If omitted, the whole ledger is checked. */
export const reconciliationQuerySchema = z.object({ since: z.iso.datetime().optional() })

/**
 * `POST /admin/reconcile` (administrators): imports the payment provider's balance transactions and compares them with the
 * ledger and with the recorded payments, refunds and disputes. Each list in the response has at most 1000 lines.
 */
export const reconciliationSchema = z.object({
  stripe: z.object({ transactions: z.int(), net: z.int() }),
  ledger: z.object({ transactions: z.int(), net: z.int() }),
  /** The sum of the differences per transaction, in cents: 0 if every cent is recorded exactly once. */
  difference: z.int(),
  /** Transactions that are missing from the ledger, extra or different. */
  disagreements: z.array(z.string()),
  /** Transactions without a recorded payment, refund or dispute, and the other way round. */
  unexplained: z.array(z.string()),
  /** The balance of each ledger account in cents, debits positive. */
  accounts: z.record(z.string(), z.int()),
})
export type Reconciliation = z.infer<typeof reconciliationSchema>

/** `POST /admin/prices` (administrators): sets a price from `validFrom` on, or from now. Responds like `GET /prices`. */
export const setPriceSchema = z.object({
  sku: z.string().min(1).max(100),
  /** In cents, within the payment provider's limits. */
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
/** The payment provider has closed the checkout unpaid; it can no longer be paid. */
export const checkoutExpired = defineEvent(
  'billing',
  'checkout.expired',
  // `replaced`: it was closed in favor of another checkout of the same family, so the hold does not end with it.
  attempt.extend({ replaced: z.boolean().optional() }),
)
export const paymentCompleted = defineEvent(
  'billing',
  'payment.completed',
  attempt.extend({
    paymentId: z.uuid(),
    ...moneySchema.shape,
    receiptNumber: z.string(),
    paidAt: z.iso.datetime(),
    /** The price of a seat and the number of paid ones: a sibling may have joined free. Absent from older events. */
    unitAmount: z.int().optional(),
    paidSeats: z.int().optional(),
  }),
)
/** A payment attempt failed. While `final` is false, the checkout is still open and the parent can try another card. */
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
    /** All refunds of the payment so far, in cents; equals `paidAmount` when it is refunded in full. */
    refundedTotal: z.int(),
    paidAmount: z.int(),
    /** It replaces a refund that was announced and then failed at the bank. */
    again: z.boolean().optional(),
    /**
     * With this refund the payment is refunded in full, so the purchase is over. Absent from older events; false if all of it went
     * back by changes, which leave the places of the other children.
     */
    whole: z.boolean().optional(),
    /** The family's cancellation or move for which it is made, which has told it to the family. */
    changeId: z.uuid().optional(),
    purchase: registrationFactsSchema,
  }),
)
/** Fields of the events about failed refunds. */
export const refundFailureSchema = z.object({
  /** The payer was notified neither of the refund before nor of what happened to the payment. */
  untold: z.boolean().optional(),
  /** With `untold`: the payment is disputed, and the provider makes no refund until the bank has decided. */
  disputed: z.boolean().optional(),
})
const refundData = z.object({
  refundId: z.uuid(),
  paymentId: z.uuid(),
  /** Exactly one of these three is not null: what was paid for. */
  registrationId: z.uuid().nullable(),
  orderId: z.uuid().nullable(),
  membershipId: z.uuid().nullable(),
  ...moneySchema.shape,
  reason: refundSchema.shape.reason,
  /** Cents of the payment that are refunded or pending, including this refund unless it was declined. */
  underWayTotal: z.int(),
  paidAmount: z.int(),
  /** The family's cancellation or move for which it is made. */
  changeId: z.uuid().optional(),
})
/** A refund was requested. Published before the provider is called, so that nothing it paid for is shipped or signed meanwhile. */
export const refundRequested = defineEvent('billing', 'refund.requested', refundData)
/**
 * A requested refund was declined before the payer was notified of it: `underWayTotal` no longer includes it. If the payer has
 * been told nothing about the payment yet, one of the refund-failed events is published instead, so that they are notified.
 */
export const refundDeclined = defineEvent(
  'billing',
  'refund.declined',
  refundData.extend({
    /** Part of it had been refunded already. The rest is requested again as a new refund, so no one needs to act. */
    retried: z.boolean().optional(),
  }),
)
/** A price or a promotion has changed. */
export const pricesChanged = defineEvent(
  'billing',
  'prices.changed',
  z.object({
    /** The affected SKUs; empty if a promotion changed. */
    skus: z.array(z.string()),
    changedAt: z.iso.datetime(),
  }),
)
/** A refund failed at the bank, so the school has the money again. It was announced by `payment.refunded`, unless `untold`. */
export const refundFailed = defineEvent(
  'billing',
  'refund.failed',
  z.object({
    refundId: z.uuid(),
    paymentId: z.uuid(),
    registrationId: z.uuid(),
    ...moneySchema.shape,
    reason: refundSchema.shape.reason,
    /** Cents of the payment that are still refunded or pending, and the amount paid. Absent from older events. */
    underWayTotal: z.int().optional(),
    paidAmount: z.int().optional(),
    changeId: z.uuid().optional(),
    ...refundFailureSchema.shape,
    purchase: registrationFactsSchema,
  }),
)
/** A membership was paid for the first time and is active now. Published once per subscription. */
export const subscriptionActivated = defineEvent(
  'billing',
  'subscription.activated',
  membershipFactsSchema.extend({
    /** The date of the chosen members' session, `YYYY-MM-DD`. */
    classDate: z.iso.date(),
    subscriptionId: z.string(),
    customerId: z.string(),
    activatedAt: z.iso.datetime(),
    /** Of the first payment. This field and the next are absent from events older than membership receipts. */
    receiptNumber: z.string().nullish(),
    renewsAt: z.iso.datetime().nullish(),
    /** From the checkout request; null or absent if it had none. */
    familyTimeZone: z.string().nullish(),
  }),
)

const paidPeriod = z.object({ paymentId: z.uuid(), receiptNumber: z.string(), paidAt: z.iso.datetime() })

/** A membership checkout expired unpaid; it can no longer be paid. */
export const membershipCheckoutExpired = defineEvent(
  'billing',
  'membership_checkout.expired',
  z.object({ attemptId: z.uuid(), email: z.string(), classDate: z.iso.date() }),
)

/** A membership was paid again: for the next month or year, or for the rest of one after a change of plan. */
export const subscriptionRenewed = defineEvent(
  'billing',
  'subscription.renewed',
  membershipFactsSchema.extend({
    ...paidPeriod.shape,
    /** Cents paid this time: less than the price if unused time of the other plan was credited. */
    paidAmount: z.int(),
    reason: z.enum(['renewal', 'switch']),
    periodEnd: z.iso.datetime(),
  }),
)
/** The card was declined at renewal. The membership continues while the payment is retried. */
export const subscriptionPastDue = defineEvent(
  'billing',
  'subscription.past_due',
  membershipFactsSchema.extend({
    invoiceId: z.string(),
    amountDue: z.int(),
    /** The first attempt is number 1. */
    attempt: z.int(),
    /** Null if it is not retried. */
    nextTryAt: z.iso.datetime().nullable(),
    /** The payment provider's page for confirming the payment, if the bank requires that. */
    confirmUrl: z.url().nullish(),
  }),
)
/** A membership will not renew: it ends at `endsAt`, the end of the paid period. */
export const subscriptionCancelled = defineEvent(
  'billing',
  'subscription.cancelled',
  membershipFactsSchema.extend({ endsAt: z.iso.datetime() }),
)
/** A cancelled membership was resumed before its end. */
export const subscriptionResumed = defineEvent(
  'billing',
  'subscription.resumed',
  membershipFactsSchema.extend({ renewsAt: z.iso.datetime() }),
)
/** The plan was switched. It takes effect at `from`: immediately, or after the paid period. */
export const subscriptionSwitched = defineEvent(
  'billing',
  'subscription.switched',
  membershipFactsSchema.extend({ previousPlan: z.enum(membershipPlans), from: z.iso.datetime() }),
)
/** A membership has ended. */
export const subscriptionEnded = defineEvent(
  'billing',
  'subscription.ended',
  membershipFactsSchema.extend({
    endedAt: z.iso.datetime(),
    reason: z.enum(['cancelled', 'unpaid', 'seat_gone', 'duplicate', 'amount_mismatch']),
  }),
)
/** Once a year, and before each yearly renewal, members are reminded that the membership renews and how to cancel it. */
export const subscriptionReminder = defineEvent(
  'billing',
  'subscription.reminder',
  membershipFactsSchema.extend({
    renewsAt: z.iso.datetime(),
    /** The next charge if another plan starts then; absent if plan and amount stay the same. */
    next: z.object({ plan: z.enum(membershipPlans), amount: z.int() }).optional(),
  }),
)

/** Someone else entered the address of a running membership to become a member. They were told nothing; the member is notified. */
export const membershipAskedAgain = defineEvent('billing', 'membership.asked_again', membershipFactsSchema)

const membershipRefundData = membershipFactsSchema.extend({
  refundId: z.uuid(),
  paymentId: z.uuid(),
  refunded: z.int(),
  reason: refundSchema.shape.reason,
  classDate: z.string(),
})
/** A payment of a membership was refunded. */
export const membershipRefunded = defineEvent(
  'billing',
  'membership.refunded',
  membershipRefundData.extend({
    refundedTotal: z.int(),
    paidAmount: z.int(),
    again: z.boolean().optional(),
    whole: z.boolean().optional(),
    /** With `seat_gone`. */
    rejection: rejectionReasons.optional(),
  }),
)
export const membershipRefundFailed = defineEvent(
  'billing',
  'membership.refund_failed',
  membershipRefundData.extend({
    ...refundFailureSchema.shape,
    /** With `seat_gone`. */
    rejection: rejectionReasons.optional(),
  }),
)

/** A dispute was opened or has changed. Published at each change of its status. */
export const paymentDisputed = defineEvent(
  'billing',
  'payment.disputed',
  disputeSchema.extend({
    paymentId: z.uuid().nullable(),
    registrationId: z.uuid().nullable(),
    membershipId: z.uuid().nullable(),
    /** Absent from events older than the distinction between orders and registrations. */
    orderId: z.uuid().nullish(),
    email: z.string().nullable(),
  }),
)
