import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { stripeTime } from '../stripe/client.ts'

/** Who places an order. */
interface Buyer {
  ownerId: string | null
  browserId: string | null
  /** Undefined from a BFF of the previous version, which does not send it: nothing is limited then. */
  network: string | undefined
}

/**
 * Rejects an order beyond the number of unpaid ones allowed per account, browser and network: each is a payment page at
 * Stripe. Call it with the purchase locked, before its page is created. Locks the buyer until the transaction ends, since two
 * concurrent orders would otherwise both pass.
 * @param cartId whose own orders do not count, since this one replaces them.
 * @throws DomainError `too_many_unpaid`
 */
export async function limitUnpaidOrders(
  tx: Transaction,
  context: BillingContext,
  { ownerId, browserId, network }: Buyer,
  cartId: string,
): Promise<void> {
  if (network === undefined) return
  const names = [`browser ${browserId}`, `network ${network}`, `owner ${ownerId}`].filter(
    (one) => !one.endsWith(' null'),
  )
  // Always in the same order, to avoid deadlocks.
  for (const name of names.toSorted())
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('unpaid orders'), hashtext(${name}))`)
  const now = stripeTime(context)
  const { rows } = await tx.execute<{ until: string; byOwner: boolean; byBrowser: boolean; byNetwork: boolean }>(sql`
    select to_json(attempt.expires_at) #>> '{}' as until, coalesce(placed.owner_id = ${ownerId}::uuid, false) as "byOwner",
      coalesce(placed.browser_id = ${browserId}::uuid, false) as "byBrowser", coalesce(placed.network = ${network}, false) as "byNetwork"
    from checkout_attempts as attempt join orders as placed on placed.id = attempt.registration_id
    where attempt.status in ('creating', 'open') and attempt.expires_at > ${now.toString()}::timestamptz and coalesce(placed.cart_id, placed.id) <> ${cartId}::uuid
      and (placed.owner_id = ${ownerId}::uuid or placed.browser_id = ${browserId}::uuid or placed.network = ${network})
    order by attempt.expires_at`)
  const { UNPAID_ORDERS_PER_BUYER: ofBuyer, UNPAID_ORDERS_PER_NETWORK: ofNetwork } = context.config
  const minutesLeft = (begun: typeof rows, most: number) => {
    const first = begun[begun.length - most]
    return first && Math.max(1, Math.ceil(now.until(Temporal.Instant.from(first.until)).total('minutes')))
  }
  const after = (minutes: number) => (minutes === 1 ? 'in 1 minute' : `in ${minutes} minutes`)
  for (const begun of [rows.filter((one) => one.byOwner), rows.filter((one) => one.byBrowser)]) {
    const minutes = minutesLeft(begun, ofBuyer)
    if (minutes === undefined) continue
    throw new DomainError(
      'too_many_unpaid',
      `You have ${begun.length} unpaid orders. Please pay for the ones you want to keep, or try again ${after(minutes)}, once unpaid orders have expired.`,
    )
  }
  const minutes = minutesLeft(
    rows.filter((one) => one.byNetwork),
    ofNetwork,
  )
  if (minutes === undefined) return
  throw new DomainError(
    'too_many_unpaid',
    `There are too many unpaid orders from your network, perhaps from other people. Please try again ${after(minutes)}, or use another network, such as your phone's.`,
  )
}
