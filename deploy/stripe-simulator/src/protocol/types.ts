/**
 * The objects on the wire. They are the SDK's own types (types only: no code of the SDK runs here),
 * so that the compiler rejects an object without a required key. Where the SDK converts a wire value to its own
 * class, the wire's type is restored.
 */
import type Stripe from 'stripe'
import type { ListPage } from './lists.ts'

export type Session = Omit<Stripe.Checkout.Session, 'line_items'>
export type PaymentIntent = Stripe.PaymentIntent
export type PaymentMethod = Stripe.PaymentMethod
export type Charge = Stripe.Charge
export type Refund = Stripe.Refund
export type Customer = Stripe.Customer
export type Product = Stripe.Product
export type BalanceTransaction = Stripe.BalanceTransaction
export type Dispute = Stripe.Dispute
export type CustomerBalanceTransaction = Stripe.CustomerBalanceTransaction
export type BillingPortalSession = Stripe.BillingPortal.Session
export type BillingPortalConfiguration = Stripe.BillingPortal.Configuration
export type TestClock = Stripe.TestHelpers.TestClock
export type WebhookEndpoint = Stripe.WebhookEndpoint

/** `unit_amount_decimal` is a string on the wire; the SDK converts it to a Decimal. */
export type Price = Omit<Stripe.Price, 'unit_amount_decimal'> & {
  unit_amount_decimal: string | null
}
export type LineItem = Omit<Stripe.LineItem, 'price'> & { price: Price }

export type SubscriptionItem = Omit<Stripe.SubscriptionItem, 'plan' | 'price'> & {
  plan: Omit<Stripe.Plan, 'amount_decimal'> & { amount_decimal: string | null }
  price: Price
}
export type Subscription = Omit<Stripe.Subscription, 'items' | 'pending_update'> & {
  items: ListPage<SubscriptionItem>
  pending_update:
    | (Omit<Stripe.Subscription.PendingUpdate, 'subscription_items'> & {
        subscription_items: SubscriptionItem[] | null
      })
    | null
}

type Pricing = NonNullable<Stripe.InvoiceLineItem['pricing']>
export type InvoiceLineItem = Omit<Stripe.InvoiceLineItem, 'pricing' | 'quantity_decimal'> & {
  pricing: Omit<Pricing, 'unit_amount_decimal'> & { unit_amount_decimal: string | null }
  quantity_decimal: string | null
}
export type Invoice = Omit<Stripe.Invoice, 'lines' | 'payments'> & { lines: ListPage<InvoiceLineItem> }
export type SubscriptionSchedule = Stripe.SubscriptionSchedule
export type InvoicePayment = Stripe.InvoicePayment

/** A snapshot event contains the object as of the event. */
export type SnapshotEvent = Omit<Stripe.EventBase, 'data' | 'type'> & {
  type: string
  data: { object: { id?: string; object: string }; previous_attributes?: Record<string, unknown> }
}

/** A thin event contains the object's id, and leaves fetching it to the receiver. */
export type ThinEvent = Omit<Stripe.V2.Core.EventBase, 'context'> & {
  related_object: { id: string; type: string; url: string } | null
}

export type Metadata = Record<string, string>

/** The cause of an event: an API request; without one, time or an action on a page. */
export interface Cause {
  requestId: string | null
  idempotencyKey: string | null
}

export const noRequest: Cause = { requestId: null, idempotencyKey: null }
