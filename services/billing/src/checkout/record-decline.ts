import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { lockAttempt } from './lock-attempts.ts'
import { checkoutAttempts } from '../schema.ts'
import { callStripe, attemptIdOf } from '../stripe/client.ts'
import { publishPaymentFailed } from './publish-outcome.ts'

/** The last declined charge of a payment, as fetched from Stripe. */
export interface ObservedDecline {
  attemptId: string | null
  /** The declined charge, or the payment intent if there was no charge. */
  declinedId: string
  /** On Stripe's clock; null if there was no charge. */
  declinedAt: Temporal.Instant | null
  reason: string
}

/** Fetches the last decline of a payment; undefined if there is none, or if it has succeeded since. */
export async function fetchDecline(context: BillingContext, intentId: string): Promise<ObservedDecline | undefined> {
  const intent = await callStripe(context, (stripe) =>
    stripe.paymentIntents.retrieve(intentId, { expand: ['latest_charge'] }),
  )
  const error = intent.last_payment_error
  if (!error || intent.status === 'succeeded') return undefined
  const charge = typeof intent.latest_charge === 'string' ? null : intent.latest_charge
  return {
    attemptId: attemptIdOf(intent),
    declinedId: error.charge ?? charge?.id ?? intent.id,
    declinedAt: charge && Temporal.Instant.fromEpochMilliseconds(charge.created * 1000),
    reason: error.message ?? 'The payment did not go through.',
  }
}

/**
 * Records why a card was declined, and publishes it while the parent can still try another one. A decline of a paid attempt
 * is ignored.
 */
export async function recordDecline(
  tx: Transaction,
  { log }: BillingContext,
  { attemptId, declinedId, declinedAt, reason }: ObservedDecline,
): Promise<void> {
  const attempt = (await lockAttempt(tx, attemptId))?.attempt
  if (!attempt) {
    log.info({ declinedId }, 'ignored a declined payment of an unknown attempt')
    return
  }
  if (attempt.status === 'paid' || attempt.lastDeclinedId === declinedId) return
  const { lastDeclinedAt } = attempt
  if (declinedAt && lastDeclinedAt && Temporal.Instant.compare(declinedAt, lastDeclinedAt) < 0) return
  await tx
    .update(checkoutAttempts)
    .set({ lastDecline: reason, lastDeclinedId: declinedId, lastDeclinedAt: declinedAt ?? lastDeclinedAt })
    .where(eq(checkoutAttempts.id, attempt.id))
  if (attempt.status === 'open') await publishPaymentFailed(tx, attempt, { final: false, reason })
}
