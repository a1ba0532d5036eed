import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { stripeTime } from '../stripe/client.ts'

/** Whoever begins an order. */
interface Buyer {
  ownerId: string | null
  browserId: string | null
  /** Undefined where a BFF of the version before asks, which tells none: nothing is limited then. */
  network: string | undefined
}

/**
 * Refuses an order beyond what an account, a browser and a network may have begun and not paid at once: each is a page at the
 * provider. To be called with the purchase locked, before its page is made; others of the same buyer wait until the transaction ends, as
 * two that count at once would both find room.
 * @param cartId whose orders give way to this one.
 * @throws DomainError `too_many_unpaid`
 */
export async function refuseTooManyOrders(
  tx: Transaction,
  context: BillingContext,
  { ownerId, browserId, network }: Buyer,
  cartId: string,
): Promise<void> {
  if (network === undefined) return
  const names = [`browser ${browserId}`, `network ${network}`, `owner ${ownerId}`].filter(
    (one) => !one.endsWith(' null'),
  )
  // In one order, so that no two wait for each other.
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
      `You have begun ${begun.length} orders that are not paid yet. Please pay for what you want to keep, or try again ${after(minutes)}: what is not paid is let go.`,
    )
  }
  const minutes = minutesLeft(
    rows.filter((one) => one.byNetwork),
    ofNetwork,
  )
  if (minutes === undefined) return
  throw new DomainError(
    'too_many_unpaid',
    `Many orders that are not paid yet were begun from the network you are on, by others perhaps. Please try again ${after(minutes)}, or from another network, such as your phone's.`,
  )
}
