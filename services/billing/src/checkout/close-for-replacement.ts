import type { CloseCheckout, closedCheckoutSchema } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { agreementOf, requireAgreed } from '../prices/agreements.ts'
import { closeLive } from './close-checkouts.ts'
import type { BillingContext } from '../config.ts'
import { offerOf } from './create-checkout.ts'
import { isLive, lockAttempts } from './lock-attempts.ts'
import { refuseReused } from './open-checkout.ts'
import { isOrder } from '../purchase.ts'
import { payments, type Attempt } from '../schema.ts'

type Closed = z.infer<typeof closedCheckoutSchema>['outcome']
type Successor = NonNullable<CloseCheckout>['replacedBy']

/** Refuses what a checkout of the registration that is to take the place would refuse. */
async function judgeSuccessor(tx: Transaction, { clock }: BillingContext, successor: Successor): Promise<void> {
  const { registrationId: id, agreed, ...of } = successor
  await refuseReused(tx, { id, kind: 'registration' }, await lockAttempts(tx, id))
  const { terms } = await offerOf(tx, of, clock.now())
  requireAgreed(agreementOf(terms), agreed, 'price_changed')
}

/**
 * Closes what can still be paid for a registration that another one is to replace, however often it is asked for. What was
 * paid and went back in full is over, and keeps nothing from taking its place.
 * @param successor is judged first: nothing is closed for what would be refused.
 * @throws DomainError id_reused, price_changed, class_not_offered
 * @throws StripeFailure where the provider does not tell; then nothing has changed
 */
export async function closeForReplacement(
  context: BillingContext,
  registrationId: string,
  successor?: Successor,
): Promise<Closed> {
  const judge = () =>
    context.db.transaction(async (tx): Promise<{ outcome: Closed; live?: Attempt | undefined }> => {
      if (successor) await judgeSuccessor(tx, context, successor)
      const attempts = await lockAttempts(tx, registrationId)
      // An order's checkout is not closed by the id of a registration.
      if (!attempts.some(({ purchase }) => !isOrder(purchase))) return { outcome: 'none' }
      const [paid] = await tx
        .select({ id: payments.id })
        .from(payments)
        .where(
          and(eq(payments.purchaseId, registrationId), eq(payments.outcome, 'accepted'), isNull(payments.returnedAt)),
        )
      if (paid) return { outcome: 'paid' }
      const live = attempts.find(isLive)
      return { outcome: live ? 'processing' : 'closed', live }
    })
  const before = await judge()
  if (!before.live) return before.outcome
  await closeLive(context, before.live.id)
  const { outcome, live } = await judge()
  // Another page has opened it anew: whoever asked may ask again.
  if (live && live.status !== 'processing')
    throw new DomainError('upstream_unavailable', 'The checkout could not be closed. Please try again in a moment.')
  return outcome
}
