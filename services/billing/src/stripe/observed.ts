import type { ShipTo } from '@robokids/contracts/shop'
import type { MembershipPlan } from '@robokids/contracts/auth'

/** A checkout session as the provider showed it, with the payment behind it. */
export interface ObservedCheckoutSession {
  checkoutSessionId: string
  attemptId: string | null
  /** `open`, `complete` or `expired`. */
  status: string
  /** `paid`, `unpaid`, `no_payment_required`, or what the provider may come to say. */
  paymentStatus: string
  mode: string
  amount: number | null
  currency: string | null
  url: string | null
  payment: {
    intentId: string
    /** Null where the answer named the payment only. */
    status: string | null
    amount: number | null
    currency: string | null
    paidAt: Temporal.Instant | null
    /** Why it was last declined, in words for the parent. */
    decline: string | null
  } | null
  /** What the payment page was told of who pays and where it is to be sent. */
  buyer: { email: string | null; shipTo: ShipTo | null }
  /** Whether the terms were agreed to on the payment page. */
  termsAccepted: boolean
  /** What a paid session in `subscription` mode began. */
  subscription: {
    subscriptionId: string
    customerId: string
    /** Null where the answer named the subscription only; so with the time. */
    status: string | null
    startedAt: Temporal.Instant | null
    /** All of it; undefined where nobody looked. */
    observed?: ObservedMembership
  } | null
}

/** A paid invoice of a subscription. */
export interface ObservedInvoice {
  invoiceId: string
  intentId: string
  amount: number
  currency: string
  paidAt: Temporal.Instant
  reason: 'first' | 'renewal' | 'switch'
  plan: MembershipPlan
  periodEnd: Temporal.Instant
}

/** A subscription with all that was paid for it, as the provider showed it. */
export interface ObservedMembership {
  /** What was known of it before it was asked after: the row's version, null where there was none. */
  version: number | null
  /** Counts up with each fetch: of two, the one that began later has the larger one. */
  fetchNumber: number
  subscriptionId: string
  attemptId: string | null
  status: string
  plan: MembershipPlan
  amount: number
  periodStart: Temporal.Instant
  paidUntil: Temporal.Instant
  cancelAt: Temporal.Instant | null
  endedAt: Temporal.Instant | null
  /** It ended because it was not paid. */
  endedUnpaid: boolean
  next: { plan: MembershipPlan; amount: number } | null
  card: Card | null
  unpaid: UnpaidInvoice | null
  /** Invoices that can still be paid. */
  openInvoices: string[]
  /** Oldest first. */
  paid: ObservedInvoice[]
}

export interface Card {
  brand: string
  last4: string
  expMonth: number
  expYear: number
}

/** A renewal whose payment fails. */
export interface UnpaidInvoice {
  invoiceId: string
  amount: number
  attempts: number
  /** Null where it is not tried again. */
  nextTryAt: string | null
  /** The provider's page where the cardholder confirms, where the bank asks for that. */
  confirmUrl?: string | null
}
