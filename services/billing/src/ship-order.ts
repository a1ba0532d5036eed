import { orderShipped, type Order, type ShipOrder } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { readOrder } from './read-orders.ts'
import { orders } from './schema.ts'

/**
 * Notes that an order is on its way, and has its buyer told: once, whatever is asked how often.
 * @throws DomainError order_not_found; order_not_shippable where it is not paid, or not any more
 */
export async function shipOrder(
  { db, clock }: BillingContext,
  orderId: string,
  { trackingNumber }: ShipOrder,
): Promise<Order> {
  await db.transaction(async (tx) => {
    const [row] = await tx.select().from(orders).where(eq(orders.id, orderId)).for('update')
    const order = await readOrder(tx, orderId)
    if (!row || order.status === 'shipped') return
    if (order.status !== 'paid') {
      const why = order.status === 'unpaid' ? 'it is not paid' : 'all that was paid went back'
      throw new DomainError('order_not_shippable', `This order cannot be shipped: ${why}.`)
    }
    const shippedAt = clock.now().round('millisecond')
    await tx
      .update(orders)
      .set({ shippedAt, trackingNumber: trackingNumber ?? null })
      .where(eq(orders.id, orderId))
    const { lines, email, shipTo } = order
    await publish(tx, orderShipped, orderId, {
      orderId,
      lines,
      email,
      shipTo,
      trackingNumber: trackingNumber ?? null,
      shippedAt: shippedAt.toString(),
    })
  })
  return readOrder(db, orderId)
}
