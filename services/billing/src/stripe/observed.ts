import type { ShipTo } from '@robokids/contracts/shop'
import type { MembershipPlan } from '@robokids/contracts/auth'

/** A checkout session as fetched from Stripe, with its payment. */
export interface ObservedCheckoutSession {
  checkoutSessionId: string
  attemptId: string | null
  /** `open`, `complete` or `expired`. */
  status: string
  /** `paid`, `unpaid`, `no_payment_required`, or a later addition. */
  paymentStatus: string
  mode: string
  amount: number | null
  currency: string | null
  url: string | null
  payment: {
    intentId: string
    /** Null if the payment was not expanded. */
    status: string | null
    amount: number | null
    currency: string | null
    paidAt: Temporal.Instant | null
    /** Why it was last declined, as a text for the parent. */
    decline: string | null
  } | null
  /** Email and shipping address that were entered on the payment page. */
  buyer: { email: string | null; shipTo: ShipTo | null }
  /** Whether the terms were agreed to on the payment page. */
  termsAccepted: boolean
  /** The subscription started by a paid session in `subscription` mode. */
  subscription: {
    subscriptionId: string
    customerId: string
    /** Null, as `startedAt`, if the subscription was not expanded. */
    status: string | null
    startedAt: Temporal.Instant | null
    /** All of it; undefined if it was not fetched. */
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
  periodStart: Temporal.Instant
  periodEnd: Temporal.Instant
}

/** A subscription with its paid invoices, as fetched from Stripe. */
export interface ObservedMembership {
  /** The version of the membership's row before the fetch; null if there was none. */
  version: number | null
  /** Fencing token: a fetch that began later has a larger number. */
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
  /** Whether it ended because of failed payments. */
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

/** The invoice of a renewal whose payment failed. */
export interface UnpaidInvoice {
  invoiceId: string
  amount: number
  attempts: number
  /** Null if there is no further attempt. */
  nextTryAt: string | null
  /** Stripe's page where the cardholder confirms the payment, if the bank requires it. */
  confirmUrl?: string | null
}
