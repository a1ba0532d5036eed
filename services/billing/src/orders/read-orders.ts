import type { Order } from '@robokids/contracts/shop'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, desc, eq, exists, inArray, type SQL } from 'drizzle-orm'
import { isOrder } from '../purchase.ts'
import { orderStatus } from './rules.ts'
import { readCheckouts } from '../checkout/read-checkouts.ts'
import { checkoutAttempts, orders, payments, type OrderRow } from '../schema.ts'

const maxListed = 500

async function present(db: Database | Transaction, rows: OrderRow[]): Promise<Order[]> {
  const ids = rows.map(({ id }) => id)
  const checkouts = new Map(
    (await readCheckouts(db, ids, 'order')).map((checkout) => [checkout.registrationId, checkout]),
  )
  const attemptIds = [...checkouts.values()].map(({ attemptId }) => attemptId)
  const attempts = await db
    .select({ id: checkoutAttempts.id, purchase: checkoutAttempts.purchase })
    .from(checkoutAttempts)
    .where(inArray(checkoutAttempts.id, attemptIds))
  const purchases = new Map(attempts.map(({ id, purchase }) => [id, purchase]))
  return rows.flatMap((row) => {
    const checkout = checkouts.get(row.id)
    const purchase = purchases.get(checkout?.attemptId ?? '')
    if (!checkout || !purchase || !isOrder(purchase)) return []
    const { payment, disputes } = checkout
    return [
      {
        orderId: row.id,
        status: orderStatus(payment, row.shippedAt),
        ...(payment ? { paymentState: payment.state, owed: payment.owed } : {}),
        lines: purchase.lines,
        amount: checkout.amount,
        currency: checkout.currency,
        email: row.email,
        shipTo: row.shipTo,
        checkout: { status: checkout.status, url: checkout.checkoutUrl, lastDecline: checkout.lastDecline },
        receiptNumber: payment?.receiptNumber ?? null,
        paidAt: payment?.paidAt ?? null,
        refunds: checkout.refunds.map(({ amount, currency, status, reason }) => ({ amount, currency, status, reason })),
        disputes: disputes.map(({ amount, currency, status }) => ({ amount, currency, status })),
        shippedAt: row.shippedAt?.toString() ?? null,
        trackingNumber: row.trackingNumber,
      },
    ]
  })
}

/** @throws DomainError order_not_found */
export async function readOrder(db: Database | Transaction, orderId: string): Promise<Order> {
  const [order] = await present(db, await db.select().from(orders).where(eq(orders.id, orderId)))
  if (!order) throw new DomainError('order_not_found', 'We can’t find an order with this reference.')
  return order
}

async function readPaid(db: Database, where: SQL | undefined, limit: number): Promise<Order[]> {
  const accepted = db
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.purchaseId, orders.id), eq(payments.outcome, 'accepted')))
  const rows = await db
    .select()
    .from(orders)
    .where(and(where, exists(accepted)))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .limit(limit)
  return present(db, rows)
}

/** Returns the paid orders of an account, newest first. */
export async function readOwnedOrders(db: Database, ownerId: string, limit: number): Promise<Order[]> {
  return readPaid(db, eq(orders.ownerId, ownerId), limit)
}

/** Returns paid orders, newest first, optionally of one status. */
export async function readOrders(db: Database, status: Order['status'] | undefined): Promise<Order[]> {
  const all = await readPaid(db, undefined, maxListed)
  return status === undefined ? all : all.filter((order) => order.status === status)
}
