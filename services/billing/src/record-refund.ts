import { randomUUIDv7 } from 'node:crypto'
import { membershipRefunded, membershipRefundFailed, paymentRefunded, refundFailed } from '@robokids/contracts/billing'
import { orderRefunded, orderRefundFailed } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import type { BillingContext } from './config.ts'
import { membershipRefundFact } from './membership-facts.ts'
import { isOrder } from './order-rules.ts'
import { laterRefundStatus, refundedTotal, refundStatus, type RefundStatus } from './rules.ts'
import { checkoutAttempts, payments, refunds, type RefundRow } from './schema.ts'
import { ask, idOf } from './stripe.ts'
import { buyerOf } from './tell-outcome.ts'

/** A refund as the provider showed it. */
export interface ObservedRefund {
  stripeRefundId: string
  /** What we called it when we asked for it; null for one that was made in the provider's dashboard. */
  refundId: string | null
  intentId: string | null
  amount: number
  currency: string
  status: RefundStatus
}

export function observeRefund(refund: Stripe.Refund): ObservedRefund {
  return {
    stripeRefundId: refund.id,
    refundId: refund.metadata?.['refundId'] ?? null,
    intentId: idOf(refund.payment_intent),
    amount: refund.amount,
    currency: refund.currency,
    status: refundStatus(refund.status),
  }
}

export async function fetchRefund(context: BillingContext, stripeRefundId: string): Promise<ObservedRefund> {
  return observeRefund(await ask(context, (stripe) => stripe.refunds.retrieve(stripeRefundId)))
}

export async function fetchRefundsOf(
  context: BillingContext,
  of: { charge: string } | { payment_intent: string },
): Promise<ObservedRefund[]> {
  const listed = await ask(context, (stripe) => stripe.refunds.list({ ...of, limit: 100 }))
  return listed.data.map(observeRefund)
}

export async function recordRefundsOf(
  context: BillingContext,
  of: { charge: string } | { payment_intent: string },
): Promise<void> {
  const observed = await fetchRefundsOf(context, of)
  await context.db.transaction(async (tx) => {
    for (const one of observed) await recordRefund(tx, context, one)
  })
}

/** Records how a refund is doing, whoever made it: each of the provider's refunds is one row, told of once. */
export async function recordRefund(tx: Transaction, context: BillingContext, observed: ObservedRefund): Promise<void> {
  const { clock, log } = context
  const [payment] =
    observed.intentId === null
      ? []
      : await tx.select().from(payments).where(eq(payments.stripePaymentIntentId, observed.intentId)).for('update')
  if (!payment) {
    log.info({ stripeRefundId: observed.stripeRefundId }, 'a refund that is not ours was left alone')
    return
  }
  const rows = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const row =
    rows.find((one) => one.stripeRefundId === observed.stripeRefundId) ??
    rows.find((one) => one.id === observed.refundId && one.stripeRefundId === null) ??
    (await insertForeign(tx, context, payment, observed))
  const status = laterRefundStatus(row.status, observed.status)
  const announce = status === 'succeeded' && row.announcedAt === null
  await tx
    .update(refunds)
    .set({ status, stripeRefundId: observed.stripeRefundId, ...(announce ? { announcedAt: clock.now() } : {}) })
    .where(eq(refunds.id, row.id))
  const failed = status === 'failed' && row.status !== 'failed'
  if (failed) {
    log.error(
      {
        refundId: row.id,
        stripeRefundId: observed.stripeRefundId,
        registrationId: row.purchaseId,
        reason: row.reason,
      },
      'a refund failed at the bank: the money has to be given back another way',
    )
  }
  if (!announce && !failed) return
  const { currency } = payment
  if (currency !== 'usd') {
    log.error({ refundId: row.id, currency }, 'a refund of another currency is not told of')
    return
  }
  const others = rows.filter((one) => one.id !== row.id)
  const toldInVain = others.filter((one) => one.status === 'failed' && one.announcedAt !== null)
  const again = toldInVain.reduce((sum, one) => sum + one.amount, 0) >= row.amount
  const totals = {
    refundedTotal: refundedTotal([...others, { amount: row.amount, status }]),
    paidAmount: payment.amount,
    ...(again ? { again } : {}),
  }
  if (payment.membershipId !== null) {
    const fact = await membershipRefundFact(tx, payment.membershipId, row)
    if (announce) await publish(tx, membershipRefunded, payment.membershipId, { ...fact, ...totals })
    else if (row.announcedAt !== null) await publish(tx, membershipRefundFailed, payment.membershipId, fact)
    return
  }
  const [attempt] = await tx
    .select()
    .from(checkoutAttempts)
    .where(eq(checkoutAttempts.id, payment.attemptId ?? ''))
  if (!attempt) throw new Error(`The attempt of payment ${payment.id} is gone.`)
  // What nobody was told of is nobody's disappointment.
  if (!announce && row.announcedAt === null) return
  const { purchase } = attempt
  const money = {
    refundId: row.id,
    paymentId: payment.id,
    amount: row.amount,
    currency: 'usd' as const,
    reason: row.reason,
  }
  if (isOrder(purchase)) {
    const fact = { ...purchase, ...(await buyerOf(tx, purchase.orderId)), ...money }
    if (announce) await publish(tx, orderRefunded, purchase.orderId, { ...fact, ...totals })
    else await publish(tx, orderRefundFailed, purchase.orderId, fact)
    return
  }
  const fact = { ...money, registrationId: purchase.registrationId, purchase }
  if (announce) await publish(tx, paymentRefunded, purchase.registrationId, { ...fact, ...totals })
  else await publish(tx, refundFailed, purchase.registrationId, fact)
}

async function insertForeign(
  tx: Transaction,
  { clock }: BillingContext,
  payment: typeof payments.$inferSelect,
  observed: ObservedRefund,
): Promise<RefundRow> {
  const [row] = await tx
    .insert(refunds)
    .values({
      id: randomUUIDv7(),
      paymentId: payment.id,
      purchaseId: payment.purchaseId,
      amount: observed.amount,
      currency: observed.currency,
      reason: 'requested',
      status: 'pending',
      stripeRefundId: observed.stripeRefundId,
      nextTryAt: clock.now(),
      createdAt: clock.now(),
    })
    .returning()
  if (!row) throw new Error('The refund was not written.')
  return row
}
