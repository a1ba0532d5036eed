import { orderTerms } from '@robokids/contracts/offers'
import type { Order, PlaceOrder } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { eq } from 'drizzle-orm'
import { mayChange, findOwnCartId } from '../checkout/carts.ts'
import type { BillingContext } from '../config.ts'
import { openCheckout } from '../checkout/open-checkout.ts'
import { orderParameters } from '../stripe/session-parameters.ts'
import { quoteOrder, sameItems } from './rules.ts'
import { readOrder } from './read-orders.ts'
import { readProducts } from '../prices/read-products.ts'
import { orders } from '../schema.ts'
import { limitUnpaidOrders } from './limit-unpaid-orders.ts'

/**
 * Places the order of a cart and returns it with its checkout: the open one, the paid one, or a new one at today's prices.
 * Idempotent by `orderId`. Only one of a cart's orders can be paid.
 * @throws DomainError product_not_for_sale, price_changed, id_reused, already_paid, too_many_unpaid, upstream_unavailable
 */
export async function placeOrder(context: BillingContext, request: PlaceOrder): Promise<Order> {
  const { orderId, items, agreed, replaces, ownerId = null, browserId = null, network } = request
  const [known] = await context.db.select().from(orders).where(eq(orders.id, orderId))
  if (known && !sameItems(known.items, items)) throw idReused()
  const requester = { ownerId, browserId }
  const isOwn = !known || mayChange(requester, known)
  const named = replaces === undefined || !isOwn ? undefined : await findOwnCartId(context.db, requester, replaces)
  const cartId = known?.cartId ?? named ?? orderId
  await openCheckout(context, {
    id: orderId,
    kind: 'order',
    ownerId,
    agreed,
    // Only the owner of a cart may close its other orders or be told about them.
    ...(isOwn ? { cartId } : {}),
    async offer(tx, now) {
      const { lines } = quoteOrder(items, await readProducts(tx, now))
      const purchase = { orderId, lines }
      return {
        purchase,
        terms: orderTerms(lines),
        parameters: (attemptId, expiresAt) => orderParameters(attemptId, purchase, expiresAt, context.config.SITE_URL),
      }
    },
    admit: (tx) => limitUnpaidOrders(tx, context, { ownerId, browserId, network }, cartId),
    save: (tx) => insertOrder(tx, context, request, cartId),
  })
  return readOrder(context.db, orderId)
}

async function insertOrder(
  tx: Transaction,
  { clock }: BillingContext,
  { orderId, items, ownerId = null, browserId = null, network }: PlaceOrder,
  cartId: string,
): Promise<void> {
  await tx
    .insert(orders)
    .values({
      id: orderId,
      items,
      ownerId,
      browserId,
      network,
      cartId: cartId === orderId ? null : cartId,
      createdAt: clock.now(),
    })
    .onConflictDoNothing()
  const [written] = await tx.select().from(orders).where(eq(orders.id, orderId))
  if (!written || !sameItems(written.items, items)) throw idReused()
  // Inserted by a process of the previous version, without its cart.
  if (written.cartId === null && cartId !== orderId)
    await tx.update(orders).set({ cartId }).where(eq(orders.id, orderId))
}

function idReused(): DomainError {
  return new DomainError('id_reused', 'This orderId belongs to another cart.')
}
