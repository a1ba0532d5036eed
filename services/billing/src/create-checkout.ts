import { randomUUIDv7 } from 'node:crypto'
import type { Checkout } from '@robokids/contracts/billing'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq } from 'drizzle-orm'
import { closeCheckout } from './close-checkouts.ts'
import type { BillingContext } from './config.ts'
import { fulfilSession, lockAttempts } from './fulfil-session.ts'
import { openSession } from './open-session.ts'
import { priceOf } from './read-prices.ts'
import { readCheckout } from './read-checkouts.ts'
import { checkoutLifetime, purchaseSku, quote, sessionParameters } from './rules.ts'
import { checkoutAttempts, payments, promotions, type Attempt } from './schema.ts'
import { stripeTime } from './stripe.ts'

const liveStatuses = ['creating', 'open', 'processing']
/** Enough for an attempt that turns out to be over, one that the provider refuses as too old, and a new one. */
const mostRounds = 5

/**
 * The checkout where a registration is paid: the open one as long as the provider says that it is open, else a new one
 * at the price of the day. What is already paid is answered as paid.
 * @throws DomainError class_not_offered, upstream_unavailable, or validation_failed where the provider refuses the email.
 */
export async function createCheckout(context: BillingContext, purchase: RegistrationFacts): Promise<Checkout> {
  const { registrationId } = purchase
  for (let round = 0; round < mostRounds; round++) {
    const found = await context.db.transaction((tx) => findOrMakeAttempt(tx, context, purchase))
    if (found === 'paid' || found.attempt.status === 'processing') return readCheckout(context.db, registrationId)
    const { attempt, made } = found
    if (attempt.status === 'creating' && !(await openSession(context, attempt.id))) continue
    if (made) return readCheckout(context.db, registrationId)
    if (attempt.closeRequestedAt) await closeCheckout(context, attempt.id)
    else await refreshAttempt(context, attempt.id)
    const checkout = await readCheckout(context.db, registrationId)
    if (liveStatuses.includes(checkout.status) || checkout.status === 'paid') return checkout
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
  purchase: RegistrationFacts,
): Promise<{ attempt: Attempt; made: boolean } | 'paid'> {
  const { registrationId } = purchase
  const attempts = await lockAttempts(tx, registrationId)
  const [payment] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.purchaseId, registrationId), eq(payments.outcome, 'accepted')))
  if (payment) return 'paid'
  const live = attempts.find((attempt) => liveStatuses.includes(attempt.status))
  if (live) return { attempt: live, made: false }

  const now = context.clock.now()
  const price = await priceOf(tx, purchaseSku(purchase), now)
  if (price === undefined) throw new DomainError('class_not_offered', 'This class is not on sale.')
  const agreed = quote(price, purchase.classType, purchase.children.length, await tx.select().from(promotions), now)
  const id = randomUUIDv7()
  const expiresAt = stripeTime(context).add(checkoutLifetime).round({ smallestUnit: 'second', roundingMode: 'floor' })
  const [made] = await tx
    .insert(checkoutAttempts)
    .values({
      id,
      purchaseId: registrationId,
      status: 'creating',
      purchase,
      amount: agreed.amount,
      currency: 'usd',
      parameters: sessionParameters(id, purchase, agreed, expiresAt, context.config.SITE_URL),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      createdAt: Temporal.Now.instant(),
    })
    .onConflictDoNothing()
    .returning()
  if (made) return { attempt: made, made: true }
  // Another request was faster, and has committed by now.
  const other = (await lockAttempts(tx, registrationId)).find((attempt) => liveStatuses.includes(attempt.status))
  if (!other)
    throw new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')
  return { attempt: other, made: false }
}
