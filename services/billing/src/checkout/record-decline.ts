import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { lockAttemptOf } from './lock-attempts.ts'
import { checkoutAttempts } from '../schema.ts'
import { callStripe, attemptIdOf } from '../stripe/client.ts'
import { publishPaymentFailed } from './publish-outcome.ts'

/** A payment whose last try was declined, as the provider showed it. */
export interface ObservedDecline {
  attemptId: string | null
  /** The charge that was declined, or the payment where it came to no charge. */
  declinedId: string
  /** On the provider's clock; null where it came to no charge. */
  declinedAt: Temporal.Instant | null
  words: string
}

/** Asks what became of a payment; undefined where nothing is declined (any more). */
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
    words: error.message ?? 'The payment did not go through.',
  }
}

/**
 * Remembers why a card was declined, and tells of it while the parent can still try another one. Once the attempt is
 * paid, a decline is old news.
 */
export async function recordDecline(
  tx: Transaction,
  { log }: BillingContext,
  { attemptId, declinedId, declinedAt, words }: ObservedDecline,
): Promise<void> {
  const attempt = (await lockAttemptOf(tx, attemptId))?.attempt
  if (!attempt) {
    log.info({ declinedId }, 'a declined payment that is not ours was left alone')
    return
  }
  if (attempt.status === 'paid' || attempt.lastDeclinedId === declinedId) return
  const { lastDeclinedAt } = attempt
  if (declinedAt && lastDeclinedAt && Temporal.Instant.compare(declinedAt, lastDeclinedAt) < 0) return
  await tx
    .update(checkoutAttempts)
    .set({ lastDecline: words, lastDeclinedId: declinedId, lastDeclinedAt: declinedAt ?? lastDeclinedAt })
    .where(eq(checkoutAttempts.id, attempt.id))
  if (attempt.status === 'open') await publishPaymentFailed(tx, attempt, { final: false, reason: words })
}
