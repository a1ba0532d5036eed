import { DomainError } from '@robokids/runtime/errors'
import { and, eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import type { AttemptKind } from './attempt-kind.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { callStripe, StripeFailure } from '../stripe/client.ts'
import { observe } from '../stripe/checkout-sessions.ts'

const inFlight = new Map<string, Promise<boolean>>()
const otherProcessTimeoutMs = 8_000
const pollIntervalMs = 150

/**
 * Creates an attempt's session at Stripe, or fetches the one created before: always the same parameters under the same
 * idempotency key, so that a crash or a timeout in between creates no second one.
 * @returns false if it can never be created: the attempt has failed.
 */
export function openCheckoutSession(context: BillingContext, kind: AttemptKind, attemptId: string): Promise<boolean> {
  const known = inFlight.get(attemptId)
  if (known) return known
  const opening = open(context, kind, attemptId).finally(() => inFlight.delete(attemptId))
  inFlight.set(attemptId, opening)
  return opening
}

async function find({ db }: BillingContext, { table }: AttemptKind, attemptId: string) {
  const { id, status, parameters } = table
  const [attempt] = await db.select({ status, parameters }).from(table).where(eq(id, attemptId))
  return attempt
}

async function open(context: BillingContext, kind: AttemptKind, attemptId: string): Promise<boolean> {
  const { db } = context
  const { table, emailPath } = kind
  const attempt = await find(context, kind, attemptId)
  if (attempt?.status !== 'creating') return attempt !== undefined && attempt.status !== 'failed'
  let checkoutSession: ObservedCheckoutSession
  try {
    checkoutSession = observe(
      await callStripe(context, (stripe) =>
        stripe.checkout.sessions.create(attempt.parameters, { idempotencyKey: attemptId }),
      ),
    )
  } catch (error) {
    if (!(error instanceof StripeFailure)) throw error
    if (error.stripeCode === 'idempotency_key_in_use') return waitForOtherProcess(context, kind, attemptId, error)
    // A rejection means that no session was created. A server error saved under the key may hide one, but nobody has its
    // URL, so nobody can pay it.
    if (!error.refused && !error.replayed) throw error
    context.log.warn({ err: error, attemptId }, 'a checkout session could not be created')
    await db
      .update(table)
      .set({ status: 'failed' })
      .where(and(eq(table.id, attemptId), eq(table.status, 'creating')))
    if (error.replayed || error.param === 'expires_at') return false
    if (error.param === 'customer_email') {
      const message = 'Enter an email address, like name@example.com.'
      throw new DomainError('validation_failed', message, [{ path: emailPath, message }])
    }
    throw error
  }
  await db.transaction((tx) => kind.apply(tx, context, checkoutSession))
  return true
}

/** Another process is using the same idempotency key right now: waits for the outcome that it records. */
async function waitForOtherProcess(
  context: BillingContext,
  kind: AttemptKind,
  attemptId: string,
  failure: StripeFailure,
): Promise<boolean> {
  const deadline = performance.now() + otherProcessTimeoutMs
  while (performance.now() < deadline) {
    const row = await find(context, kind, attemptId)
    if (row?.status !== 'creating') return row?.status !== 'failed'
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
  }
  throw failure
}
