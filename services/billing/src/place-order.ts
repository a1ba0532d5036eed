import type { Order, PlaceOrder } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { closeCheckout, requestClose } from './close-checkouts.ts'
import type { BillingContext } from './config.ts'
import { openCheckout } from './open-checkout.ts'
import { orderParameters, quoteOrder, sameItems } from './order-rules.ts'
import { readOrder } from './read-orders.ts'
import { readProducts } from './read-products.ts'
import { orders } from './schema.ts'

/**
 * The order of a cart with the checkout where it is paid: the open one, or a new one at the prices of the day. The same
 * request again is the same order; what is already paid is answered as paid.
 * @throws DomainError product_not_for_sale, id_reused, upstream_unavailable
 */
export async function placeOrder(context: BillingContext, request: PlaceOrder): Promise<Order> {
  const { orderId, items, replaces } = request
  const [known] = await context.db.select().from(orders).where(eq(orders.id, orderId))
  if (known && !sameItems(known.items, items)) throw reused()
  if (replaces !== undefined && replaces !== orderId) await closeReplaced(context, replaces)
  await openCheckout(context, orderId, async (tx, now) => {
    const { lines, amount } = quoteOrder(items, await readProducts(tx, now))
    await writeDown(tx, context, request)
    const purchase = { orderId, lines }
    return {
      purchase,
      amount,
      parameters: (attemptId, expiresAt) => orderParameters(attemptId, purchase, expiresAt, context.config.SITE_URL),
    }
  })
  return readOrder(context.db, orderId)
}

async function writeDown(tx: Transaction, { clock }: BillingContext, { orderId, items }: PlaceOrder): Promise<void> {
  const written = await tx
    .insert(orders)
    .values({ id: orderId, items, createdAt: clock.now() })
    .onConflictDoNothing()
    .returning({ id: orders.id })
  if (written.length > 0) return
  const [other] = await tx.select().from(orders).where(eq(orders.id, orderId))
  if (!other || !sameItems(other.items, items)) throw reused()
}

/** The cart has become another one: what it was before is not to be paid as well. */
async function closeReplaced(context: BillingContext, orderId: string): Promise<void> {
  const { db, log } = context
  const open = await db.transaction(async (tx) => {
    const [order] = await tx.select({ id: orders.id }).from(orders).where(eq(orders.id, orderId))
    return order ? requestClose(tx, context, orderId, Temporal.Now.instant()) : []
  })
  for (const attemptId of open) {
    // Written down, it will be closed; but it is better closed before the next one opens.
    await closeCheckout(context, attemptId).catch((error: unknown) =>
      log.warn({ err: error, attemptId }, 'the checkout of a changed cart could not be closed yet'),
    )
  }
}

function reused(): DomainError {
  return new DomainError('id_reused', 'This orderId belongs to another cart.')
}
