import type { PaymentState } from '@robokids/contracts/payment-state'
import type { Database, Transaction } from '@robokids/runtime/db'
import { inArray } from 'drizzle-orm'
import { paymentStateOf } from '../rules.ts'
import { disputes, refunds, type registrations } from '../schema.ts'

type Paid = Pick<typeof registrations.$inferSelect, 'id' | 'status' | 'paymentId' | 'paidAmount'>

/** Keyed by the registration's id. */
export type PaymentStates = Map<string, PaymentState>

/** Reads the payment states of those registrations that have a payment. */
export async function readPaymentStates(db: Database | Transaction, rows: Paid[]): Promise<PaymentStates> {
  const ids = rows.flatMap(({ paymentId }) => paymentId ?? [])
  if (ids.length === 0) return new Map()
  const found = {
    refunds: await db.select().from(refunds).where(inArray(refunds.paymentId, ids)),
    disputes: await db.select().from(disputes).where(inArray(disputes.paymentId, ids)),
  }
  const of = <One extends { paymentId: string }>(some: One[], id: string) => some.filter((one) => one.paymentId === id)
  return new Map(
    rows.flatMap((row) => {
      const { id, paymentId } = row
      if (paymentId === null) return []
      const reversals = { refunds: of(found.refunds, paymentId), disputes: of(found.disputes, paymentId) }
      return [[id, paymentStateOf(row, reversals)] as const]
    }),
  )
}
