import { randomUUIDv7 } from 'node:crypto'
import type { Refund } from '@robokids/contracts/billing'
import { wake, type Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { refundable } from './rules.ts'
import { refunds, type Payment } from './schema.ts'

/** Writes down that what is left of a payment goes back: once for a reason, however often it is found out. */
export async function oweRefund(
  tx: Transaction,
  { clock }: BillingContext,
  payment: Pick<Payment, 'id' | 'purchaseId' | 'amount' | 'currency'>,
  reason: Exclude<Refund['reason'], 'requested'>,
): Promise<void> {
  const earlier = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const left = refundable(payment.amount, earlier)
  if (left <= 0) return
  await tx
    .insert(refunds)
    .values({
      id: randomUUIDv7(),
      paymentId: payment.id,
      purchaseId: payment.purchaseId,
      amount: left,
      currency: payment.currency,
      reason,
      status: 'pending',
      nextTryAt: clock.now(),
      createdAt: clock.now(),
    })
    .onConflictDoNothing()
  await wake(tx, 'run-refunds')
}
