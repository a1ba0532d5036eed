import { orderShipped, type Order, type ShipOrder } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { and, eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { whyNotShippable } from './rules.ts'
import { readOrder } from './read-orders.ts'
import { orders, payments } from '../schema.ts'

/**
 * Records that an order was shipped, and notifies the buyer once. Idempotent.
 * @throws DomainError order_not_found; order_already_shipped with another tracking number; order_not_shippable if it is not
 * paid, or its payment is refunded, being refunded or disputed
 */
export async function shipOrder({ db, clock }: BillingContext, orderId: string, shipment: ShipOrder): Promise<Order> {
  const trackingNumber = shipment.trackingNumber ?? null
  await db.transaction(async (tx) => {
    const [row] = await tx.select().from(orders).where(eq(orders.id, orderId)).for('update')
    // Refunds lock this row as well, so that an order is not shipped while it is refunded.
    await tx
      .select({ id: payments.id })
      .from(payments)
      .where(and(eq(payments.purchaseId, orderId), eq(payments.outcome, 'accepted')))
      .for('update')
    const { lines, email, shipTo, paymentState, owed = 0 } = await readOrder(tx, orderId)
    if (row?.shippedAt) {
      if (row.trackingNumber === trackingNumber) return
      const under = row.trackingNumber === null ? 'without a tracking number' : `under ${row.trackingNumber}`
      throw new DomainError('order_already_shipped', `This order was shipped ${under}.`)
    }
    const reason = whyNotShippable(paymentState, owed)
    if (reason !== undefined) throw new DomainError('order_not_shippable', `This order cannot be shipped: ${reason}.`)
    const shippedAt = clock.now().round('millisecond')
    await tx.update(orders).set({ shippedAt, trackingNumber }).where(eq(orders.id, orderId))
    await publish(tx, orderShipped, orderId, {
      orderId,
      lines,
      email,
      shipTo,
      trackingNumber,
      shippedAt: shippedAt.toString(),
    })
  })
  return readOrder(db, orderId)
}
