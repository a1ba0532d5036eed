import type {
  Charge,
  Dispute,
  Invoice,
  Refund,
  Subscription,
} from '../../deploy/stripe-simulator/src/protocol/types.ts'
import type { Purchase, Walk } from './walk.ts'

const idOf = (shown: string | { id: string } | null | undefined): string =>
  typeof shown === 'string' ? shown : (shown?.id ?? '')

/** A payment at the provider, with its refunds and dispute. */
export interface ProviderCharge {
  charge: Charge
  intentId: string
  of: Purchase
  refunds: Refund[]
  dispute: Dispute | undefined
  /** Captured minus refunded cents, apart from disputes. */
  kept: number
  /** The subscription whose invoice it paid. */
  subscription: Subscription | undefined
}

/** All charges of this walk, in order. */
export function chargesOf(walk: Walk): ProviderCharge[] {
  const { provider } = walk.world.system
  const purchases = new Map(walk.purchases.map((purchase) => [purchase.id, purchase]))
  const refunds = Map.groupBy(
    [...provider.refunds.values()].map(({ object }) => object),
    ({ charge }) => idOf(charge),
  )
  const disputes = new Map([...provider.disputes.values()].map(({ object }) => [idOf(object.charge), object]))
  const invoiced = invoicedIntents(walk)
  const found: ProviderCharge[] = []
  for (const charge of provider.charges.values()) {
    if (charge.status !== 'succeeded') continue
    const intentId = idOf(charge.payment_intent)
    const subscription = invoiced.get(intentId)
    const metadata = subscription?.metadata ?? provider.paymentIntents.get(intentId)?.metadata ?? {}
    const of = purchases.get(
      metadata['changeId'] ?? metadata['registrationId'] ?? metadata['orderId'] ?? metadata['attemptId'] ?? '',
    )
    if (!of) continue
    const back = refunds.get(charge.id) ?? []
    const returned = back.filter(({ status }) => status === 'succeeded' || status === 'pending')
    found.push({
      charge,
      intentId,
      of,
      refunds: back,
      dispute: disputes.get(charge.id),
      kept: charge.amount_captured - returned.reduce((sum, { amount }) => sum + amount, 0),
      subscription,
    })
  }
  return found
}

/** Subscriptions by the payment intents of their invoices. */
function invoicedIntents(walk: Walk): Map<string, Subscription> {
  const { provider } = walk.world.system
  const found = new Map<string, Subscription>()
  for (const payment of provider.invoicePayments.values()) {
    const invoice = provider.invoices.get(idOf(payment.invoice))
    const subscription = provider.subscriptions.get(idOf(invoice?.parent?.subscription_details?.subscription))
    if (subscription) found.set(idOf(payment.payment.payment_intent), subscription)
  }
  return found
}

/** Returns the provider's subscription of a membership. */
export function subscriptionOf(walk: Walk, membershipId: string): Subscription | undefined {
  for (const subscription of walk.world.system.provider.subscriptions.values())
    if (subscription.metadata['attemptId'] === membershipId) return subscription
  return undefined
}

/** Whether the provider will renew it. */
export function renews({ status, cancel_at, cancel_at_period_end }: Subscription): boolean {
  return status !== 'canceled' && status !== 'incomplete_expired' && cancel_at === null && !cancel_at_period_end
}

/** The provider's next automatic charge, with its time in seconds; undefined if none. */
export function nextChargeOf(walk: Walk, membershipId: string): { amount: number | null; at: number } | undefined {
  const subscription = subscriptionOf(walk, membershipId)
  const item = subscription?.items.data[0]
  if (!subscription || !item || !renews(subscription)) return undefined
  const { subscriptionSchedules, prices } = walk.world.system.provider
  const schedule = subscriptionSchedules.get(idOf(subscription.schedule))
  const later = schedule?.phases.find(({ start_date }) => start_date >= item.current_period_end)?.items[0]?.price
  const price = later === undefined ? item.price : prices.get(idOf(later))
  return { amount: price?.unit_amount ?? null, at: item.current_period_end }
}

/** Unpaid invoices of a subscription. */
export function openInvoicesOf(walk: Walk, { id }: Subscription): Invoice[] {
  return [...walk.world.system.provider.invoices.values()].filter(
    ({ parent, status }) => status === 'open' && idOf(parent?.subscription_details?.subscription) === id,
  )
}
