import { randomUUIDv7 } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq } from 'drizzle-orm'
import { closeCheckout } from './close-checkouts.ts'
import type { BillingContext } from './config.ts'
import { fulfilSession, lockAttempts } from './fulfil-session.ts'
import { openSession } from './open-session.ts'
import { checkoutLifetime } from './rules.ts'
import { checkoutAttempts, payments, type Attempt } from './schema.ts'
import { stripeTime } from './stripe.ts'

const liveStatuses = ['creating', 'open', 'processing']
/** Enough for an attempt that turns out to be over, one that the provider refuses as too old, and a new one. */
const mostRounds = 5

/** What is sold, and for how much, from now on and whatever the price book comes to say. */
interface Agreement {
  purchase: Attempt['purchase']
  /** Cents. */
  amount: number
  parameters: (attemptId: string, expiresAt: Temporal.Instant) => Attempt['parameters']
}

/** Decides it in the transaction that writes the attempt. */
type Agree = (tx: Transaction, now: Temporal.Instant) => Promise<Agreement>

/**
 * Sees to it that a purchase has one checkout where it can be paid: the open one as long as the provider says that it is
 * open, else a new one, as agreed today. Does nothing for what is paid.
 * @throws DomainError upstream_unavailable, and what `agree` throws
 */
export async function openCheckout(context: BillingContext, purchaseId: string, agree: Agree): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const found = await context.db.transaction((tx) => findOrMakeAttempt(tx, context, purchaseId, agree))
    if (found === 'paid' || found.attempt.status === 'processing') return
    const { attempt, made } = found
    if (attempt.status === 'creating' && !(await openSession(context, attempt.id))) continue
    if (made) return
    if (attempt.closeRequestedAt) await closeCheckout(context, attempt.id)
    else await refreshAttempt(context, attempt.id)
    const [now] = await context.db
      .select({ status: checkoutAttempts.status })
      .from(checkoutAttempts)
      .where(eq(checkoutAttempts.id, attempt.id))
    if (now && (liveStatuses.includes(now.status) || now.status === 'paid')) return
  }
  throw new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')
}

async function refreshAttempt(context: BillingContext, attemptId: string): Promise<void> {
  const [attempt] = await context.db.select().from(checkoutAttempts).where(eq(checkoutAttempts.id, attemptId))
  if (attempt?.stripeSessionId) await fulfilSession(context, attempt.stripeSessionId)
}

async function findOrMakeAttempt(
  tx: Transaction,
  context: BillingContext,
  purchaseId: string,
  agree: Agree,
): Promise<{ attempt: Attempt; made: boolean } | 'paid'> {
  const attempts = await lockAttempts(tx, purchaseId)
  const [payment] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.purchaseId, purchaseId), eq(payments.outcome, 'accepted')))
  if (payment) return 'paid'
  const live = attempts.find((attempt) => liveStatuses.includes(attempt.status))
  if (live) return { attempt: live, made: false }

  const { purchase, amount, parameters } = await agree(tx, context.clock.now())
  const id = randomUUIDv7()
  const expiresAt = stripeTime(context).add(checkoutLifetime).round({ smallestUnit: 'second', roundingMode: 'floor' })
  const [made] = await tx
    .insert(checkoutAttempts)
    .values({
      id,
      purchaseId,
      status: 'creating',
      purchase,
      amount,
      currency: 'usd',
      parameters: parameters(id, expiresAt),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      createdAt: Temporal.Now.instant(),
    })
    .onConflictDoNothing()
    .returning()
  if (made) return { attempt: made, made: true }
  // Another request was faster, and has committed by now.
  const other = (await lockAttempts(tx, purchaseId)).find((attempt) => liveStatuses.includes(attempt.status))
  if (!other)
    throw new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')
  return { attempt: other, made: false }
}
