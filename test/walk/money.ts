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
}

/** What billing knows of the payments of a purchase, oldest first. */
export async function paymentsOf(walk: Walk, { id }: Purchase): Promise<PaymentRow[]> {
  return walk.world.system.sql('billing')<PaymentRow[]>`
    select id, stripe_payment_intent_id as "intentId", outcome, receipt_number as "receiptNumber", amount,
      (select coalesce(sum(amount), 0)::int from refunds
        where payment_id = payments.id and status in ('pending', 'succeeded')) as back,
      (select coalesce(sum(amount), 0)::int from refunds where payment_id = payments.id and status = 'failed') as failed
    from payments where registration_id = ${id} order by paid_at, id`
}

/** Why a purchase is not to be had: all that paid for it is on its way back, or has gone; undefined where it is kept. */
export async function backOf(walk: Walk, purchase: Purchase): Promise<string | undefined> {
  const payment = (await paymentsOf(walk, purchase)).find(({ outcome }) => outcome === 'accepted')
  if (!payment) return undefined
  if (payment.back >= payment.amount) return `${payment.back} of ${payment.amount} is back or on its way`
  const lost = await walk.world.system.sql('billing')`
    select 1 from disputes where payment_id = ${payment.id} and status = 'lost'`
  return lost.length > 0 ? 'its dispute is lost' : undefined
}

/** Lets everybody hear what has been published by now. */
export async function stillToCome(walk: Walk): Promise<void> {
  if (!walk.troubled) await quietEvents(walk.world)
}

export function refundable(walk: Walk): ProviderCharge[] {
  return chargesOf(walk).filter(({ kept }) => kept > 0)
}
