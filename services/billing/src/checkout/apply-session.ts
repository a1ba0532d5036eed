import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { continueTrace } from '@robokids/runtime/trace'
import { and, eq, inArray } from 'drizzle-orm'
import type { AttemptKind } from '../attempts/attempt-kind.ts'
import { refreshAttempts } from '../attempts/refresh-attempts.ts'
import { findCartId, findLiveCartAttempts, findPaidCartOrder } from './carts.ts'
import type { BillingContext } from '../config.ts'
import { paymentIdOf } from '../payment-id.ts'
import { fetchCheckoutSession } from '../stripe/checkout-sessions.ts'
import { enqueueRefund } from '../refunds/enqueue-refund.ts'
import { isOrder } from '../purchase.ts'
import { nextReceiptNumber } from '../ledger/receipt-numbers.ts'
import { classifyCheckoutSession } from './rules.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { checkoutAttempts, payments, type Attempt } from '../schema.ts'
import {
  recordBuyer,
  publishCheckoutExpired,
  publishPaymentFailed,
  publishCheckoutCreated,
  publishPaymentCompleted,
} from './publish-outcome.ts'
import { isLive, lockAttempt } from './lock-attempts.ts'

/** Attempts to pay for a registration or an order. */
export const purchaseAttemptKind: AttemptKind = {
  table: checkoutAttempts,
  emailPath: 'purchase.email',
  fetch: fetchCheckoutSession,
  apply: applySession,
}

/** `refreshAttempts` for one registration or order. */
export function refreshCheckout(context: BillingContext, purchaseId: string, returned: boolean): Promise<void> {
  return refreshAttempts(context, purchaseAttemptKind, eq(checkoutAttempts.purchaseId, purchaseId), returned)
}

/**
 * Applies a fetched session to its attempt. The session may be older than the recorded state: so an attempt only ever moves
 * forward, and a payment counts whatever the attempt's status is by then.
 */
async function applySession(
  tx: Transaction,
  context: BillingContext,
  checkoutSession: ObservedCheckoutSession,
): Promise<void> {
  const locked = await lockAttempt(tx, checkoutSession.attemptId, checkoutSession.checkoutSessionId)
  if (!locked) {
    context.log.info({ checkoutSessionId: checkoutSession.checkoutSessionId }, 'ignored an unknown checkout session')
    return
  }
  // The webhook or the job that brings the news continues the trace of the family's own request.
  await continueTrace(locked.attempt.traceparent, { name: 'apply checkout session' }, () =>
    applyLocked(tx, context, locked, checkoutSession),
  )
}

async function applyLocked(
  tx: Transaction,
  context: BillingContext,
  locked: { attempt: Attempt; all: Attempt[] },
  checkoutSession: ObservedCheckoutSession,
): Promise<void> {
  const { all } = locked
  const attempt =
    locked.attempt.status === 'creating' ? await markOpen(tx, locked.attempt, checkoutSession) : locked.attempt
  const sessionOutcome = classifyCheckoutSession(checkoutSession, attempt)
  if (sessionOutcome === 'paid' || sessionOutcome === 'amount_mismatch') {
    await recordPayment(tx, context, attempt, all, checkoutSession, sessionOutcome)
    return
  }
  if (sessionOutcome === 'processing' && attempt.status === 'open') {
    await update(tx, attempt, { status: 'processing' })
  } else if (sessionOutcome === 'expired' && isLive(attempt)) {
    await update(tx, attempt, { status: 'expired' })
    await publishCheckoutExpired(tx, attempt)
  } else if (sessionOutcome === 'failed' && isLive(attempt)) {
    await fail(tx, attempt, checkoutSession.payment?.decline ?? 'The payment did not go through.')
  }
}

const paidWithOther = 'This cart was already paid with another order. We’re refunding the second payment in full.'

function ids(attempt: Attempt) {
  return { attemptId: attempt.id, purchaseId: attempt.purchaseId }
}

async function update(tx: Transaction, attempt: Attempt, changes: Partial<Attempt>): Promise<void> {
  await tx.update(checkoutAttempts).set(changes).where(eq(checkoutAttempts.id, attempt.id))
}

async function markOpen(tx: Transaction, attempt: Attempt, checkoutSession: ObservedCheckoutSession): Promise<Attempt> {
  const opened = {
    status: 'open' as const,
    stripeSessionId: checkoutSession.checkoutSessionId,
    checkoutUrl: checkoutSession.url,
  }
  await update(tx, attempt, opened)
  await publishCheckoutCreated(tx, attempt)
  if (attempt.closeRequestedAt) await wakeJob(tx, 'close-checkouts')
  return { ...attempt, ...opened }
}

async function fail(tx: Transaction, attempt: Attempt, reason: string): Promise<void> {
  await update(tx, attempt, { status: 'failed', lastDecline: reason })
  await publishPaymentFailed(tx, attempt, { final: true, reason })
}

async function recordPayment(
  tx: Transaction,
  context: BillingContext,
  attempt: Attempt,
  all: Attempt[],
  checkoutSession: ObservedCheckoutSession,
  sessionOutcome: 'paid' | 'amount_mismatch',
): Promise<void> {
  const { log, clock } = context
  const { payment } = checkoutSession
  const { purchaseId } = attempt
  if (!payment) {
    if (attempt.status === 'open') await fail(tx, attempt, 'The checkout was completed without a payment.')
    log.error(
      { ...ids(attempt), checkoutSessionId: checkoutSession.checkoutSessionId },
      'a checkout was completed without a payment',
    )
    return
  }
  const earlier = await tx.select().from(payments).where(eq(payments.purchaseId, purchaseId))
  if (earlier.some((one) => one.stripePaymentIntentId === payment.intentId)) return
  const cartId = isOrder(attempt.purchase) ? await findCartId(tx, purchaseId) : undefined
  const other = cartId === undefined ? undefined : await findPaidCartOrder(tx, purchaseId, cartId)
  const isPaid = other !== undefined || earlier.some((one) => one.outcome === 'accepted')
  const outcome = sessionOutcome === 'amount_mismatch' ? sessionOutcome : isPaid ? 'duplicate' : 'accepted'
  const row = {
    id: paymentIdOf(payment.intentId),
    attemptId: attempt.id,
    membershipId: null,
    purchaseId,
    stripePaymentIntentId: payment.intentId,
    outcome,
    amount: payment.amount ?? checkoutSession.amount ?? 0,
    currency: payment.currency ?? checkoutSession.currency ?? 'usd',
    receiptNumber: outcome === 'accepted' ? await nextReceiptNumber(tx) : null,
    paidAt: payment.paidAt ?? clock.now().round('millisecond'),
  } as const
  await tx.insert(payments).values(row)
  await recordBuyer(tx, attempt, checkoutSession)

  if (row.receiptNumber !== null) {
    await update(tx, attempt, { status: 'paid', lastDecline: null, closeRequestedAt: null })
    await publishPaymentCompleted(tx, attempt, {
      paymentId: row.id,
      receiptNumber: row.receiptNumber,
      paidAt: row.paidAt,
    })
    const others = cartId === undefined ? [] : await findLiveCartAttempts(tx, purchaseId, cartId)
    await closeOthers(tx, context, attempt, [...all, ...others])
    return
  }
  log.error(
    { ...ids(attempt), paymentId: row.id, outcome, amount: row.amount, currency: row.currency, agreed: attempt.amount },
    'a duplicate or mismatched payment will be refunded',
  )
  await enqueueRefund(tx, context, row, outcome === 'duplicate' ? 'duplicate' : 'amount_mismatch')
  if (attempt.status === 'paid') return
  if (isPaid) await update(tx, attempt, { status: 'failed', lastDecline: other === undefined ? null : paidWithOther })
  else await fail(tx, attempt, 'The amount paid didn’t match the price. We’re refunding it in full.')
}

/** Closes the other checkouts of a purchase that has just been paid, so that it is not paid twice. */
async function closeOthers(tx: Transaction, { clock }: BillingContext, paid: Attempt, all: Attempt[]): Promise<void> {
  const others = all.filter((attempt) => attempt.id !== paid.id).map((attempt) => attempt.id)
  if (others.length === 0) return
  await tx
    .update(checkoutAttempts)
    .set({ closeRequestedAt: clock.now(), tries: 0, nextTryAt: clock.now() })
    .where(and(inArray(checkoutAttempts.id, others), inArray(checkoutAttempts.status, ['creating', 'open'])))
  await wakeJob(tx, 'close-checkouts')
}
