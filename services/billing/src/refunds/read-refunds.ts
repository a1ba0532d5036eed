import type { Refund, refundsSchema } from '@robokids/contracts/billing'
import type { Database } from '@robokids/runtime/db'
import { and, desc, eq, inArray } from 'drizzle-orm'
import type { z } from 'zod'
import { readPaymentBuyer } from './read-buyer.ts'
import { refundable } from './rules.ts'
import { payments, refunds, type RefundRow } from '../schema.ts'

const maxListed = 500

export function presentRefund(row: RefundRow): Refund {
  return {
    refundId: row.id,
    stripeRefundId: row.stripeRefundId,
    amount: row.amount,
    currency: 'usd',
    reason: row.reason,
    status: row.status,
    refundedAt: row.status === 'succeeded' ? (row.announcedAt?.toString() ?? null) : null,
  }
}

/** Returns the refunds in our currency, newest first, each with the purchase and the refundable rest of its payment. */
export async function readRefunds(
  db: Database,
  status: Refund['status'] | undefined,
): Promise<z.infer<typeof refundsSchema>> {
  const rows = await db
    .select({ refund: refunds, payment: payments })
    .from(refunds)
    .innerJoin(payments, eq(payments.id, refunds.paymentId))
    .where(and(eq(refunds.currency, 'usd'), status && eq(refunds.status, status)))
    .orderBy(desc(refunds.createdAt), desc(refunds.id))
    .limit(maxListed)
  const paymentIds = [...new Set(rows.map(({ payment }) => payment.id))]
  const all = await db.select().from(refunds).where(inArray(refunds.paymentId, paymentIds))
  const ofPayment = Map.groupBy(all, ({ paymentId }) => paymentId)
  return {
    refunds: await Promise.all(
      rows.map(async ({ refund, payment }) => ({
        ...presentRefund(refund),
        paymentId: payment.id,
        ...(await readPaymentBuyer(db, payment)),
        receiptNumber: payment.receiptNumber,
        createdAt: refund.createdAt.toString(),
        left: refundable(payment.amount, ofPayment.get(payment.id) ?? []),
      })),
    ),
  }
}
