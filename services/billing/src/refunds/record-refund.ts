import { randomUUIDv7 } from 'node:crypto'
import { membershipRefunded, membershipRefundFailed, paymentRefunded, refundFailed } from '@robokids/contracts/billing'
import { orderRefunded, orderRefundFailed } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import { readMembershipRefundFacts } from '../membership-facts.ts'
import { isMove, isOrder } from '../purchase.ts'
import {
  endPurchase,
  laterRefundStatus,
  refundedTotal,
  refundStatus,
  announcedShortfall,
  type RefundStatus,
} from './rules.ts'
import { checkoutAttempts, orders, payments, refunds, type Payment, type RefundRow } from '../schema.ts'
import { callStripe, idOf } from '../stripe/client.ts'
import { readOrderBuyer } from './read-buyer.ts'
import { updateCredits } from './update-credits.ts'
import { refundReason, publishRefundDeclined, underWayTotal, writeRefund } from './write-refund.ts'

/** A refund as fetched from Stripe. */
export interface ObservedRefund {
  stripeRefundId: string
  /** Our id from its metadata; null if it was made in Stripe's dashboard. */
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
  return observeRefund(await callStripe(context, (stripe) => stripe.refunds.retrieve(stripeRefundId)))
}

export async function fetchRefunds(
  context: BillingContext,
  of: { charge: string } | { payment_intent: string },
): Promise<ObservedRefund[]> {
  const listed = await callStripe(context, (stripe) => stripe.refunds.list({ ...of, limit: 100 }))
  return listed.data.map(observeRefund)
}

/**
 * Records the status of a refund, made here or in the dashboard: one row per Stripe refund, announced once. A purchase that
 * was announced as refunded in full stays cancelled, even if the bank returns the refund later.
 */
export async function recordRefund(tx: Transaction, context: BillingContext, observed: ObservedRefund): Promise<void> {
  const { clock, log } = context
  const [payment] =
    observed.intentId === null
      ? []
      : await tx.select().from(payments).where(eq(payments.stripePaymentIntentId, observed.intentId)).for('update')
  if (!payment) {
    log.info({ stripeRefundId: observed.stripeRefundId }, 'ignored a refund of an unknown payment')
    return
  }
  const rows = await tx.select().from(refunds).where(eq(refunds.paymentId, payment.id))
  const known =
    rows.find((one) => one.stripeRefundId === observed.stripeRefundId) ??
    rows.find((one) => one.id === observed.refundId && one.stripeRefundId === null)
  // Never recorded, and no money moved in the end.
  if (!known && observed.status === 'failed') return
  const row = known ?? (await insertFoundRefund(tx, context, payment, observed))
  const others = rows.filter((one) => one.id !== row.id)
  const status = laterRefundStatus(row.status, observed.status)
  const announce = status === 'succeeded' && row.announcedAt === null
  const now = clock.now()
  const recorded: RefundRow = {
    ...row,
    status,
    stripeRefundId: observed.stripeRefundId,
    ...(announce ? { announcedAt: now, makesGood: Math.min(row.amount, announcedShortfall(others)) } : {}),
  }
  const { stripeRefundId, announcedAt, makesGood } = recorded
  await tx.update(refunds).set({ status, stripeRefundId, announcedAt, makesGood }).where(eq(refunds.id, row.id))
  const all = [...others, recorded]
  const isWhole = (some: RefundRow[]) => refundedTotal(some) >= payment.amount && endPurchase(payment.amount, some)
  if (payment.returnedAt === null && (isWhole(rows) || isWhole(all)))
    await tx.update(payments).set({ returnedAt: now }).where(eq(payments.id, payment.id))
  if (status === 'failed' && row.status !== 'failed') {
    const { id: refundId, purchaseId, reason } = row
    log.error(
      { refundId, stripeRefundId, purchaseId, reason },
      'a refund failed at the bank: the money has to be returned another way',
    )
    await publishRefundFailed(tx, payment, recorded, all)
  } else if (announce) await publishRefunded(tx, context, payment, recorded, all)
  await updateCredits(tx, payment)
}

/** Inserts a refund that was made in Stripe's dashboard. */
async function insertFoundRefund(
  tx: Transaction,
  context: BillingContext,
  payment: Payment,
  { amount, stripeRefundId }: ObservedRefund,
): Promise<RefundRow> {
  const found = { id: randomUUIDv7(), amount, reason: 'requested' as const, stripeRefundId }
  const row = await writeRefund(tx, context, payment, found)
  if (!row) throw new Error('The refund was not written.')
  return row
}

/** Returns the event data of a refund, by the kind of purchase. */
async function readRefundFacts(tx: Transaction, payment: Payment, refund: RefundRow, all: RefundRow[]) {
  const reason = refundReason(payment, refund, all)
  if (payment.membershipId !== null) {
    const membership = await readMembershipRefundFacts(tx, payment.membershipId, { ...refund, reason })
    return { kind: 'membership', id: payment.membershipId, facts: membership, purchase: undefined } as const
  }
  const [attempt] = await tx
    .select()
    .from(checkoutAttempts)
    .where(eq(checkoutAttempts.id, payment.attemptId ?? ''))
  if (!attempt) throw new Error(`The attempt of payment ${payment.id} was not found.`)
  const { purchase } = attempt
  const money = {
    refundId: refund.id,
    paymentId: payment.id,
    amount: refund.amount,
    currency: 'usd' as const,
    reason,
    ...(refund.changeId === null ? {} : { changeId: refund.changeId }),
  }
  if (isOrder(purchase)) {
    const { orderId } = purchase
    return {
      kind: 'order',
      id: orderId,
      facts: { ...purchase, ...(await readOrderBuyer(tx, orderId)), ...money },
      purchase,
    } as const
  }
  const { registrationId } = purchase
  return { kind: 'registration', id: registrationId, facts: { ...money, registrationId, purchase }, purchase } as const
}

async function publishRefunded(
  tx: Transaction,
  { log }: BillingContext,
  payment: Payment,
  refund: RefundRow,
  all: RefundRow[],
): Promise<void> {
  if (payment.currency !== 'usd') {
    log.error({ refundId: refund.id, currency: payment.currency }, 'a refund in another currency is not published')
    return
  }
  const back = refundedTotal(all)
  const totals = {
    refundedTotal: back,
    paidAmount: payment.amount,
    ...(refund.makesGood === refund.amount ? { again: true } : {}),
  }
  const { kind, id, facts, purchase } = await readRefundFacts(tx, payment, refund, all)
  // Nothing was bought with the difference of a move alone.
  const ends = !(purchase && isMove(purchase)) && endPurchase(payment.amount, all)
  const whole = back >= payment.amount ? { whole: ends } : {}
  if (kind === 'membership') await publish(tx, membershipRefunded, id, { ...facts, ...totals, ...whole })
  else if (kind === 'registration') await publish(tx, paymentRefunded, id, { ...facts, ...totals, ...whole })
  else {
    const shipped = await isShipped(tx, id)
    await publish(tx, orderRefunded, id, { ...facts, ...totals, ...whole, ...(shipped ? { shipped } : {}) })
  }
}

async function isShipped(tx: Transaction, orderId: string): Promise<boolean> {
  const [order] = await tx.select({ shippedAt: orders.shippedAt }).from(orders).where(eq(orders.id, orderId))
  return order !== undefined && order.shippedAt !== null
}

/**
 * Publishes that a refund failed: as a failure if it was announced or is the only notice of a rejected payment, otherwise as
 * declined.
 * @param all the refunds of the payment, this one included.
 * @param isDisputed whether Stripe declined it because the payment is disputed.
 */
export async function publishRefundFailed(
  tx: Transaction,
  payment: Payment,
  refund: RefundRow,
  all: RefundRow[],
  isDisputed = false,
): Promise<void> {
  // The mail about a change tells its family what is refunded.
  const isUnannounced = refund.announcedAt === null && refund.changeId === null
  // A payment that we rejected is announced to its payer by its refund alone; a requested refund is reported to its requester.
  const isFirstNotice = isUnannounced && refundReason(payment, refund, all) !== 'requested' && all.length === 1
  if (isUnannounced && !isFirstNotice) return publishRefundDeclined(tx, payment, refund)
  if (payment.currency !== 'usd') return
  const { kind, id, facts } = await readRefundFacts(tx, payment, refund, all)
  const flags = { ...(isUnannounced ? { untold: true } : {}), ...(isDisputed ? { disputed: true } : {}) }
  if (kind === 'membership') await publish(tx, membershipRefundFailed, id, { ...facts, ...flags })
  else if (kind === 'order') await publish(tx, orderRefundFailed, id, { ...facts, ...flags })
  else {
    const totals = { underWayTotal: underWayTotal(payment.amount, all), paidAmount: payment.amount }
    await publish(tx, refundFailed, id, { ...facts, ...totals, ...flags })
  }
}
