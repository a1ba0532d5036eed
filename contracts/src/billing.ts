import { z } from 'zod'
import { agreementSchema, agreementTermsSchema } from './agreement.ts'
import { membershipPlans, type MembershipPlan } from './auth.ts'
import { askerShape, levelClassTypeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { email, moneySchema, plainDate, timeZone, unixSecond, uuid } from './fields.ts'
import { membershipFactsSchema } from './membership.ts'
import { paymentStates } from './payment-state.ts'

export { paymentStates }
export type { PaymentState } from './payment-state.ts'

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
})
export type Refund = z.infer<typeof refundSchema>

/**
 * `POST /checkouts/:registrationId/close`: what is to take its place. It is judged first, as `POST /checkouts` would, so that
 * nothing is closed for what is refused: 409 `id_reused`, 409 `price_changed`. A BFF of the version before sends no body.
 */
export const closeCheckoutSchema = z
  .object({
    replacedBy: registrationFactsSchema
      .pick({ registrationId: true, classType: true, startDate: true })
      .extend({ children: z.int(), agreed: agreementTermsSchema.optional() }),
  })
  .nullish()
export type CloseCheckout = z.infer<typeof closeCheckoutSchema>

/** The answer to it: closes what can still be paid, by the provider's own answer. */
export const closedCheckoutSchema = z.object({
  /** `none` where there was no checkout, `closed` where nothing can be paid any more, else what keeps it from being closed. */
  outcome: z.enum(['none', 'closed', 'processing', 'paid']),
})

/** A payment that its cardholder disputes with the bank; `status` in the provider's words (`needs_response`, `won`, `lost`, …). */
export const disputeSchema = z.object({
  disputeId: z.string(),
  ...moneySchema.shape,
  reason: z.string(),
  status: z.string(),
  /** Until when an answer must be with the bank; null where none is asked for (any more). */
  answerBy: z.iso.datetime().nullable(),
  openedAt: z.iso.datetime(),
})
export type Dispute = z.infer<typeof disputeSchema>

/** `GET /checkouts/:registrationId`: its newest attempt, and what came of it. */
export const checkoutSchema = z.object({
  attemptId: z.uuid(),
  registrationId: z.uuid(),
  status: z.enum(checkoutStatuses),
  /** Where the parent pays; null when there is nothing to pay there (any more). */
  checkoutUrl: z.url().nullable(),
  ...moneySchema.shape,
  /** Cents for one seat, and how many are paid for: a sibling may join free. Null for an order, which has lines. */
  unitAmount: z.int().nullable().default(null),
  paidSeats: z.int().nullable().default(null),
  /** When the attempt was begun. Absent from a process of the version before. */
  createdAt: z.iso.datetime().optional(),
  expiresAt: z.iso.datetime(),
  payment: z
    .object({
      paymentId: z.uuid(),
      stripePaymentIntentId: z.string(),
      receiptNumber: z.string(),
      paidAt: z.iso.datetime(),
      ...moneySchema.shape,
      /** Absent, as the next two, from a process of the version before. */
      state: z.enum(paymentStates).optional(),
      /** Cents that its payer was told to have back, and that are neither back nor on their way. */
      owed: z.int().optional(),
      /** When its payer was told that all of it went back: what it paid for is over, whatever the bank does later. */
      returnedAt: z.iso.datetime().nullish(),
    })
    .nullable(),
  refunds: z.array(refundSchema),
  disputes: z.array(disputeSchema).default([]),
  /** Why the card was last declined, in words for the parent. */
  lastDecline: z.string().nullable(),
})
export type Checkout = z.infer<typeof checkoutSchema>

/**
 * `POST /checkouts/:registrationId/refresh`, `/orders/:orderId/refresh` and `/membership-checkouts/:attemptId/refresh` answer
 * as the `GET` without `/refresh` does, but ask the provider before where that is due; so do the BFF's `GET`s of them.
 * `returned`: the buyer has just come back from the payment page, so that it is due sooner.
 */
export const refreshQuerySchema = z.object({
  returned: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
})

/** `GET /checkouts?registrationIds=a,b,c`: those that exist, in no order. */
export const checkoutsQuerySchema = z.object({
  registrationIds: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(uuid()).max(500, { error: 'Ask for at most 500 registrations at once.' })),
})
export const checkoutsSchema = z.object({ checkouts: z.array(checkoutSchema) })

/** `GET /membership-plans`: what a membership costs now, with the terms to agree to. */
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
 * `POST /membership-checkouts`: what `POST /api/createStripeSession` takes, and what proves the consent to the terms.
 * 409 `terms_changed` where other terms were agreed to; 409 `already_member` where there is a membership of whoever asks: their
 * account's, or bought in their browser. A stranger who gives the address of a member is led to pay as anybody; the
 * member is mailed, and what is paid a second time goes back.
 */
export const createMembershipCheckoutSchema = z.object({
  email,
  plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }),
  classDate: plainDate,
  /** Without it the payment page asks for it, and nobody can pay who does not give it there. */
  consent: z
    .object({
      version: z.string().max(50),
      /** The words that the box stood beside. */
      text: z.string().max(2000),
      ipAddress: z.string().max(100),
      userAgent: z.string().max(1000),
    })
    .optional(),
  /** What the page showed: 409 `terms_changed` with what is offered now where that is something else. */
  agreed: agreementTermsSchema.optional(),
  /** The member's own time zone, an IANA name. Of a checkout that is open already, the first that was told is kept. */
  familyTimeZone: timeZone.optional(),
  ...askerShape,
})
export type CreateMembershipCheckout = z.infer<typeof createMembershipCheckoutSchema>

/** The answer: the open checkout of whoever asks for that address, plan and date, or a new one. */
export const membershipCheckoutSchema = z.object({
  /** Also the opaque reference in the address that the payment page sends back to. */
  attemptId: z.uuid(),
  checkoutUrl: z.url(),
  ...moneySchema.shape,
  expiresAt: z.iso.datetime(),
})
export type MembershipCheckout = z.infer<typeof membershipCheckoutSchema>

/** Why a paid membership did not get its seat. */
export const rejectionReasons = z.enum(['class_full', 'class_started', 'class_not_offered'])

/**
 * `GET /membership-checkouts/:attemptId`: whether it is really paid. `confirmed` is paid and seated; `refused` is paid and
 * goes back. Names nobody: whoever has the address of the page may see it.
 */
export const membershipOutcomeSchema = z.object({
  attemptId: z.uuid(),
  status: z.enum(['open', 'processing', 'confirmed', 'refused', 'expired', 'failed']),
  /** Why it was refused. */
  refusal: z.enum(['class_full', 'class_started', 'class_not_offered', 'duplicate', 'amount_mismatch']).nullable(),
  /** Where to pay, while that is possible. */
  checkoutUrl: z.url().nullable(),
  /** When that ends. Absent from a process of the version before. */
  expiresAt: z.iso.datetime().optional(),
  plan: z.enum(membershipPlans),
  classDate: z.string(),
  ...moneySchema.shape,
  receiptNumber: z.string().nullable(),
  /** Cents that went back, or are on their way. */
  refunded: z.int(),
})
export type MembershipOutcome = z.infer<typeof membershipOutcomeSchema>

/** A member's membership, as the provider says it is. */
export const membershipSchema = z.object({
  membershipId: z.uuid(),
  status: z.enum(['active', 'past_due', 'ended']),
  plan: z.enum(membershipPlans),
  ...moneySchema.shape,
  classDate: z.string(),
  activatedAt: z.iso.datetime(),
  /** The end of what is paid. */
  paidUntil: z.iso.datetime(),
  /** Set where it will not go on, or has ended. */
  endsAt: z.iso.datetime().nullable(),
  /** Null where nothing will be charged. */
  nextCharge: z.object({ at: z.iso.datetime(), ...moneySchema.shape }).nullable(),
  /** Another plan that begins when what is paid is over. */
  nextPlan: z.enum(membershipPlans).nullable(),
  card: z.object({ brand: z.string(), last4: z.string(), expMonth: z.int(), expYear: z.int() }).nullable(),
  /** While a payment fails. */
  unpaid: z
    .object({
      amount: z.int(),
      attempts: z.int(),
      nextTryAt: z.iso.datetime().nullable(),
      /** The provider's page where the cardholder confirms the payment, where the bank asks for that. */
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
      /** Cents of it that went back, or are on their way. */
      refunded: z.int(),
      disputed: z.boolean(),
    }),
  ),
})
export type Membership = z.infer<typeof membershipSchema>

/** `POST /memberships/find`: the membership of an account, the newest where the last one has ended. */
export const findMembershipSchema = z.object({
  userId: z.uuid(),
  /** An address that is proven to be the account's; null where none is at the moment. */
  email: email.nullable(),
})
export type FindMembership = z.infer<typeof findMembershipSchema>
export const foundMembershipSchema = z.object({
  membership: membershipSchema.nullable(),
  /** Further running memberships that came to the account with an address: the member is told, and can end them. */
  others: z.array(membershipSchema).optional(),
})

export type FoundMembership = z.infer<typeof foundMembershipSchema>

/** `POST /api/membership/cancel` and `…/resume`: which membership, where the account has several; the first one is meant without. */
export const ownMembershipBodySchema = z.object({ membershipId: uuid().optional() }).nullish()

/** `POST /memberships/:id/quote`: what a change of plan costs, to the cent, before it is agreed to. */
export const switchBodySchema = z.object({ plan: z.enum(membershipPlans, { error: 'Choose a membership plan.' }) })
export const switchQuoteSchema = z.object({
  plan: z.enum(membershipPlans),
  /** When the new plan begins. */
  from: z.iso.datetime(),
  /** Cents that are charged at once; 0 where the new plan begins later. */
  dueNow: z.int(),
  /** Cents that unused time of the present plan counts for. */
  credit: z.int(),
  /** What is charged at `nextChargeAt`, and each month or year from then on. */
  ...moneySchema.shape,
  nextChargeAt: z.iso.datetime(),
  /** The second, in Unix time, that the money was reckoned for: it goes into the change unchanged. */
  reckonedAt: z.int(),
  /** All of it in one: what is sent back with the consent. */
  agreement: agreementSchema.optional(),
})
export type SwitchQuote = z.infer<typeof switchQuoteSchema>

/**
 * `POST /memberships/:id/switch`: as quoted. 409 `quote_outdated` with what is offered now where that is something else by
 * now; 402 `payment_confirmation_required` with the page where the cardholder confirms, and nothing changed until then.
 */
export const switchMembershipSchema = switchQuoteSchema
  .pick({ plan: true, dueNow: true })
  .extend({ reckonedAt: unixSecond, agreed: agreementTermsSchema.optional() })
export type SwitchMembership = z.infer<typeof switchMembershipSchema>

/** `POST /memberships/:id/portal`: the provider's page where the card is changed. */
export const portalSchema = z.object({ url: z.url() })

/** `POST /refunds` (administrators): the whole payment, or `amount` cents of it. By its id any payment is meant, one that was not owed as well. */
export const createRefundSchema = z
  .object({
    registrationId: uuid('registrationId must be a UUID.').optional(),
    /** Of any payment, of a membership's as well: `RK-000012`. */
    receiptNumber: z
      .string()
      .regex(/^RK-\d{6,}$/, { error: 'receiptNumber must be like RK-000012.' })
      .optional(),
    paymentId: uuid('paymentId must be a UUID.').optional(),
    /** Made by the caller: sending it again makes no second refund. */
    refundId: uuid('refundId must be a UUID.'),
    amount: z.int().min(1, { error: 'A refund is at least 1 cent.' }).optional(),
  })
  .refine(
    ({ registrationId, receiptNumber, paymentId }) =>
      [registrationId, receiptNumber, paymentId].filter((one) => one !== undefined).length === 1,
    { path: ['registrationId'], error: 'Either registrationId, receiptNumber or paymentId is required.' },
  )
export type CreateRefund = z.infer<typeof createRefundSchema>

/** `GET /refunds` (administrators): newest first; of one status, or all. */
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
      /** Cents of the payment that are neither back nor on their way: what a refund by `paymentId` gives back. */
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

/** Of `POST /admin/reconcile`: leaves out what moved before that moment. Without it, all of the books are gone through. */
export const reconciliationQuerySchema = z.object({ since: z.iso.datetime().optional() })

/**
 * `POST /admin/reconcile` (administrators): catches up with the provider's list of what moved money, and compares it with
 * the ledger and with what this service recorded. Of lines it has 1000 of a kind at the most.
 */
export const reconciliationSchema = z.object({
  stripe: z.object({ transactions: z.int(), net: z.int() }),
  ledger: z.object({ transactions: z.int(), net: z.int() }),
  /** Cents by which the two disagree, transaction by transaction: 0 where every cent is recorded once. */
  difference: z.int(),
  /** What the ledger lacks, has too much of, or has otherwise. */
  disagreements: z.array(z.string()),
  /** Money that moved without a payment, refund or dispute of ours to explain it, and the other way round. */
  unexplained: z.array(z.string()),
  /** Cents by account of the whole ledger, debits positive. */
  accounts: z.record(z.string(), z.int()),
})
export type Reconciliation = z.infer<typeof reconciliationSchema>

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
export const checkoutExpired = defineEvent(
  'billing',
  'checkout.expired',
  // `replaced`: it was closed for another checkout of the same family, so the hold does not end with it.
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
    /** All of the payment is back with this refund, so what it paid for is over. Absent from events of the time before. */
    whole: z.boolean().optional(),
    purchase: registrationFactsSchema,
  }),
)
/** A refund that failed. */
export const untoldSchema = z.object({
  /** Its payer was not told before that it had gone back, nor what became of the payment. */
  untold: z.boolean().optional(),
  /** With `untold`: its payer has the bank decide about the payment, and until then the provider makes no refund of it. */
  disputed: z.boolean().optional(),
})
const refundUnderWay = z.object({
  refundId: z.uuid(),
  paymentId: z.uuid(),
  /** Exactly one of these three is not null: what was paid for. */
  registrationId: z.uuid().nullable(),
  orderId: z.uuid().nullable(),
  membershipId: z.uuid().nullable(),
  ...moneySchema.shape,
  reason: refundSchema.shape.reason,
  /** Cents of the payment that are back or on their way, this refund included where it is. */
  underWayTotal: z.int(),
  paidAmount: z.int(),
})
/** Money is to go back: known before the provider is asked, so that nothing that it paid for is shipped or signed meanwhile. */
export const refundRequested = defineEvent('billing', 'refund.requested', refundUnderWay)
/**
 * What was requested did not go back, and nobody was told that it had: `underWayTotal` no longer counts it. Where it is the
 * first that its payer would hear of what became of the payment, one of the events of failed refunds is published instead.
 */
export const refundDeclined = defineEvent(
  'billing',
  'refund.declined',
  refundUnderWay.extend({
    /** A part had gone back already. The rest is requested once more, as a refund of its own, so nobody has to see to it. */
    retried: z.boolean().optional(),
  }),
)
/** What things cost, or which promotion runs, is another by now. */
export const pricesChanged = defineEvent(
  'billing',
  'prices.changed',
  z.object({
    /** Of what; empty where a promotion changed. */
    skus: z.array(z.string()),
    changedAt: z.iso.datetime(),
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
    /** Cents of the payment that are still back or on their way, and what was paid. Absent from events of the time before. */
    underWayTotal: z.int().optional(),
    paidAmount: z.int().optional(),
    ...untoldSchema.shape,
    purchase: registrationFactsSchema,
  }),
)
/** A membership is paid for the first time and runs from now on. Told once for each subscription. */
export const subscriptionActivated = defineEvent(
  'billing',
  'subscription.activated',
  membershipFactsSchema.extend({
    /** The members' session that was chosen with it, `YYYY-MM-DD`. */
    classDate: z.iso.date(),
    subscriptionId: z.string(),
    customerId: z.string(),
    activatedAt: z.iso.datetime(),
    /** Of the first payment. Absent, as the next line, from events of the time before memberships had receipts. */
    receiptNumber: z.string().nullish(),
    renewsAt: z.iso.datetime().nullish(),
    /** As the request told it; null or absent where it told none. */
    familyTimeZone: z.string().nullish(),
  }),
)

const paidPeriod = z.object({ paymentId: z.uuid(), receiptNumber: z.string(), paidAt: z.iso.datetime() })

/** A membership's checkout ended unpaid; nothing can be paid there any more. */
export const membershipCheckoutExpired = defineEvent(
  'billing',
  'membership_checkout.expired',
  z.object({ attemptId: z.uuid(), email: z.string(), classDate: z.iso.date() }),
)

/** A further payment of a membership came in: for its next month or year, or for the rest of one after a change of plan. */
export const subscriptionRenewed = defineEvent(
  'billing',
  'subscription.renewed',
  membershipFactsSchema.extend({
    ...paidPeriod.shape,
    /** Cents that were paid this time: less than the price where unused time of the other plan counted. */
    paidAmount: z.int(),
    reason: z.enum(['renewal', 'switch']),
    periodEnd: z.iso.datetime(),
  }),
)
/** The card was declined when the membership was to be renewed. It runs on while the payment is tried again. */
export const subscriptionPastDue = defineEvent(
  'billing',
  'subscription.past_due',
  membershipFactsSchema.extend({
    invoiceId: z.string(),
    amountDue: z.int(),
    /** The first try is number 1. */
    attempt: z.int(),
    /** Null where it is not tried again. */
    nextTryAt: z.iso.datetime().nullable(),
    /** Where the bank asks the cardholder to confirm: the provider's page for it. */
    confirmUrl: z.url().nullish(),
  }),
)
/** A membership will not be renewed: it ends at `endsAt`, with the time that is paid. */
export const subscriptionCancelled = defineEvent(
  'billing',
  'subscription.cancelled',
  membershipFactsSchema.extend({ endsAt: z.iso.datetime() }),
)
/** It was to end and now goes on. */
export const subscriptionResumed = defineEvent(
  'billing',
  'subscription.resumed',
  membershipFactsSchema.extend({ renewsAt: z.iso.datetime() }),
)
/** Another plan was chosen: `from` when it takes effect, at once or when the time that is paid is over. */
export const subscriptionSwitched = defineEvent(
  'billing',
  'subscription.switched',
  membershipFactsSchema.extend({ previousPlan: z.enum(membershipPlans), from: z.iso.datetime() }),
)
/** It is over. */
export const subscriptionEnded = defineEvent(
  'billing',
  'subscription.ended',
  membershipFactsSchema.extend({
    endedAt: z.iso.datetime(),
    reason: z.enum(['cancelled', 'unpaid', 'seat_gone', 'duplicate', 'amount_mismatch']),
  }),
)
/** Once a year, and before each yearly renewal, a member is reminded of what goes on by itself and how to end it. */
export const subscriptionReminder = defineEvent(
  'billing',
  'subscription.reminder',
  membershipFactsSchema.extend({
    renewsAt: z.iso.datetime(),
    /** What will be charged then, where another plan begins: absent where it is the plan and amount above. */
    next: z.object({ plan: z.enum(membershipPlans), amount: z.int() }).optional(),
  }),
)

/** A stranger gave the address of a running membership to become a member: they were told nothing, its member is. */
export const membershipAskedAgain = defineEvent('billing', 'membership.asked_again', membershipFactsSchema)

const membershipRefundFact = membershipFactsSchema.extend({
  refundId: z.uuid(),
  paymentId: z.uuid(),
  refunded: z.int(),
  reason: refundSchema.shape.reason,
  classDate: z.string(),
})
/** Money of a membership went back. */
export const membershipRefunded = defineEvent(
  'billing',
  'membership.refunded',
  membershipRefundFact.extend({
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
  membershipRefundFact.extend({
    ...untoldSchema.shape,
    /** With `seat_gone`. */
    rejection: rejectionReasons.optional(),
  }),
)

/** A cardholder disputes a payment with the bank, or what became of that. Told at each change of its state. */
export const paymentDisputed = defineEvent(
  'billing',
  'payment.disputed',
  disputeSchema.extend({
    paymentId: z.uuid().nullable(),
    registrationId: z.uuid().nullable(),
    membershipId: z.uuid().nullable(),
    /** Absent from events of the time before orders were told apart from registrations. */
    orderId: z.uuid().nullish(),
    email: z.string().nullable(),
  }),
)
