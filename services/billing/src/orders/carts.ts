import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { isMadeBy, type Asker } from '../ownership/rules.ts'
import { checkoutAttempts, orders, payments, type Attempt } from '../schema.ts'
import { tryEach } from '../try-each.ts'

/*
 * A cart that is changed is sent as another order each time. Of all of them one is to be paid: one checkout is open at a
 * time, and what is paid twice all the same goes back once.
 */

/** The cart of an order: the first order that was sent of it. What is not known, or no order, is a cart of its own. */
export async function cartOf(db: Database | Transaction, purchaseId: string): Promise<string> {
  const [order] = await db.select({ cartId: orders.cartId }).from(orders).where(eq(orders.id, purchaseId))
  return order?.cartId ?? purchaseId
}

/**
 * The cart that somebody changes who names one of its orders; undefined where one of them is another's. Else whoever knows an
 * order's reference could close its payment page, or have its payment taken for a double one.
 */
export async function ownCart(db: Database | Transaction, asker: Asker, named: string): Promise<string | undefined> {
  const cartId = await cartOf(db, named)
  const all = await db
    .select()
    .from(orders)
    .where(or(eq(orders.cartId, cartId), inArray(orders.id, [cartId, named])))
  return all.every((order) => mayChange(asker, order)) ? cartId : undefined
}

/** Whether an order is that of whoever asks: of their account, or where none was signed in, placed in their browser. */
export function mayChange({ ownerId, browserId }: Asker, order: typeof orders.$inferSelect): boolean {
  if (isMadeBy({ ownerId, browserId: null }, order)) return true
  const placedBy = order.placedWith ? order.placedWith.ownerId : order.ownerId
  return placedBy === null && isMadeBy({ ownerId: null, browserId }, order)
}

/** The other orders of a cart; also those that name this one as their first, which they could before it was written down. */
function othersOf(cartId: string, orderId: string) {
  const names = [cartId, orderId]
  return and(or(inArray(orders.cartId, names), inArray(orders.id, names)), ne(orders.id, orderId))
}

/** Another order of the cart that is paid, and whose payment did not go back. */
export async function paidOther(tx: Transaction, orderId: string, cartId: string): Promise<string | undefined> {
  const [other] = await tx
    .select({ id: orders.id })
    .from(orders)
    .innerJoin(payments, and(eq(payments.purchaseId, orders.id), eq(payments.outcome, 'accepted')))
    .where(and(othersOf(cartId, orderId), isNull(payments.returnedAt)))
    .orderBy(asc(payments.paidAt))
    .limit(1)
  return other?.id
}

/** The checkouts of the other orders of the cart that are open, or being paid. */
export async function liveOthers(tx: Transaction, orderId: string, cartId: string): Promise<Attempt[]> {
  const rows = await tx
    .select({ attempt: checkoutAttempts })
    .from(orders)
    .innerJoin(checkoutAttempts, eq(checkoutAttempts.purchaseId, orders.id))
    .where(and(othersOf(cartId, orderId), inArray(checkoutAttempts.status, ['creating', 'open', 'processing'])))
    .orderBy(asc(checkoutAttempts.id))
  return rows.map(({ attempt }) => attempt)
}

/** Gives back what was paid twice for a cart while a process of the version before, which knows no carts, ran beside this one. */
export async function refundDoubleCarts(context: BillingContext, signal: AbortSignal): Promise<void> {
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
          // What has left the house is not to be cancelled.
          .orderBy(asc(sql`${orders.shippedAt} is null`), asc(payments.paidAt), asc(payments.id))
          .for('update', { of: payments })
        for (const { payment } of rows.slice(1)) await enqueueRefund(tx, context, payment, 'duplicate')
      }),
    async ({ cartId }, error) => {
      context.log.warn({ err: error, cartId }, 'a cart that was paid twice could not be settled yet')
    },
  )
}
