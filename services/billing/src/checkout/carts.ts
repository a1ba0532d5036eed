import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { isMadeBy, type Requester } from '../ownership/rules.ts'
import { checkoutAttempts, orders, payments, type Attempt } from '../schema.ts'
import { tryEach } from '../try-each.ts'

/*
 * A changed cart is sent as another order each time. Only one of a cart's orders may be paid: one checkout is open at a time,
 * and a second payment is refunded once.
 */

/** Returns the cart of an order: the id of its first order. An unknown id, or that of a registration, is its own cart. */
export async function findCartId(db: Database | Transaction, purchaseId: string): Promise<string> {
  const [order] = await db.select({ cartId: orders.cartId }).from(orders).where(eq(orders.id, purchaseId))
  return order?.cartId ?? purchaseId
}

/**
 * Returns the cart of an order that the requester wants to replace, or undefined if any of its orders belongs to somebody
 * else. Otherwise anyone who knows an order's reference could close its payment page, or turn its payment into a duplicate.
 */
export async function findOwnCartId(
  db: Database | Transaction,
  requester: Requester,
  named: string,
): Promise<string | undefined> {
  const cartId = await findCartId(db, named)
  const all = await db
    .select()
    .from(orders)
    .where(or(eq(orders.cartId, cartId), inArray(orders.id, [cartId, named])))
  return all.every((order) => mayChange(requester, order)) ? cartId : undefined
}

/** Whether the requester placed an order: with the same account, or without an account in the same browser. */
export function mayChange({ ownerId, browserId }: Requester, order: typeof orders.$inferSelect): boolean {
  if (isMadeBy({ ownerId, browserId: null }, order)) return true
  const placedBy = order.placedWith ? order.placedWith.ownerId : order.ownerId
  return placedBy === null && isMadeBy({ ownerId: null, browserId }, order)
}

/** Matches the other orders of a cart, including any that named this order as their first before it was inserted. */
function otherOrders(cartId: string, orderId: string) {
  const names = [cartId, orderId]
  return and(or(inArray(orders.cartId, names), inArray(orders.id, names)), ne(orders.id, orderId))
}

/** Returns the id of another order of the cart that is paid and not refunded. */
export async function findPaidCartOrder(tx: Transaction, orderId: string, cartId: string): Promise<string | undefined> {
  const [other] = await tx
    .select({ id: orders.id })
    .from(orders)
    .innerJoin(payments, and(eq(payments.purchaseId, orders.id), eq(payments.outcome, 'accepted')))
    .where(and(otherOrders(cartId, orderId), isNull(payments.returnedAt)))
    .orderBy(asc(payments.paidAt))
    .limit(1)
  return other?.id
}

/** Returns the attempts of the cart's other orders that can be paid or are being paid. */
export async function findLiveCartAttempts(tx: Transaction, orderId: string, cartId: string): Promise<Attempt[]> {
  const rows = await tx
    .select({ attempt: checkoutAttempts })
    .from(orders)
    .innerJoin(checkoutAttempts, eq(checkoutAttempts.purchaseId, orders.id))
    .where(and(otherOrders(cartId, orderId), inArray(checkoutAttempts.status, ['creating', 'open', 'processing'])))
    .orderBy(asc(checkoutAttempts.id))
  return rows.map(({ attempt }) => attempt)
}

/** Refunds second payments of a cart, made while a process of the previous version, which knows no carts, was running. */
export async function refundDuplicateCartPayments(context: BillingContext, signal: AbortSignal): Promise<void> {
  const cart = sql<string>`coalesce(${orders.cartId}, ${orders.id})`
  const paid = and(eq(payments.purchaseId, orders.id), eq(payments.outcome, 'accepted'), isNull(payments.returnedAt))
  const doubles = await context.db
    .select({ cartId: cart })
    .from(orders)
    .innerJoin(payments, paid)
    .groupBy(cart)
    .having(sql`count(*) > 1`)
  await tryEach(
    signal,
    doubles,
    ({ cartId }) =>
      context.db.transaction(async (tx) => {
        const rows = await tx
          .select({ payment: payments })
          .from(orders)
          .innerJoin(payments, paid)
          .where(eq(cart, cartId))
          // A shipped order must not be cancelled. Of two payments in one second, the first has the lower receipt number.
          .orderBy(
            asc(sql`${orders.shippedAt} is null`),
            asc(payments.paidAt),
            asc(sql`length(${payments.receiptNumber})`),
            asc(payments.receiptNumber),
          )
          .for('update', { of: payments })
        for (const { payment } of rows.slice(1)) await enqueueRefund(tx, context, payment, 'duplicate')
      }),
    async ({ cartId }, error) => {
      context.log.warn({ err: error, cartId }, 'could not refund the second payment of a cart yet')
    },
  )
}
