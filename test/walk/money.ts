import { chargesOf, type ProviderCharge } from './provider.ts'
import { quietEvents } from './settle.ts'
import type { Purchase, Walk } from './walk.ts'

interface PaymentRow {
  id: string
  intentId: string
  outcome: string
  receiptNumber: string | null
  amount: number
  back: number
  failed: number
  /** The last of its refunds is not for a change, which leaves other children their places. */
  ends: boolean
}

/** Billing's payments of a purchase, oldest first. */
export async function paymentsOf(walk: Walk, { id }: Purchase): Promise<PaymentRow[]> {
  return walk.world.system.sql('billing')<PaymentRow[]>`
    select id, stripe_payment_intent_id as "intentId", outcome, receipt_number as "receiptNumber", amount,
      (select coalesce(sum(amount), 0)::int from refunds
        where payment_id = payments.id and status in ('pending', 'succeeded')) as back,
      (select coalesce(sum(amount), 0)::int from refunds where payment_id = payments.id and status = 'failed') as failed,
      coalesce((select change_id is null from refunds where payment_id = payments.id and status <> 'failed'
        order by created_at desc, id desc limit 1), false) as ends
    from payments where registration_id = ${id} order by paid_at, id`
}

/**
 * Returns why a purchase must not be fulfilled: its payment is refunded, or its dispute is lost; undefined otherwise.
 */
export async function refundReasonOf(walk: Walk, purchase: Purchase): Promise<string | undefined> {
  const payment = (await paymentsOf(walk, purchase)).find(({ outcome }) => outcome === 'accepted')
  if (!payment) return undefined
  if (payment.back >= payment.amount && payment.ends)
    return `${payment.back} of ${payment.amount} is back or on its way`
  const lost = await walk.world.system.sql('billing')`
    select 1 from disputes where payment_id = ${payment.id} and status = 'lost'`
  return lost.length > 0 ? 'its dispute is lost' : undefined
}

/** Waits until all published events are handled. */
export async function waitForPublished(walk: Walk): Promise<void> {
  if (!walk.hasFaults) await quietEvents(walk.world)
}

export function refundable(walk: Walk): ProviderCharge[] {
  return chargesOf(walk).filter(({ kept }) => kept > 0)
}
