import type { CloseCheckout, closedCheckoutSchema } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { toAgreement, requireAgreed } from '../prices/agreements.ts'
import { closeLiveCheckout } from './close-checkouts.ts'
import type { BillingContext } from '../config.ts'
import { quoteRegistration } from './create-checkout.ts'
import { isLive, lockAttempts } from './lock-attempts.ts'
import { rejectReusedId } from './open-checkout.ts'
import { isOrder } from '../purchase.ts'
import { payments, type Attempt } from '../schema.ts'

type Closed = z.infer<typeof closedCheckoutSchema>['outcome']
type Successor = NonNullable<CloseCheckout>['replacedBy']

/** Makes the checks that creating the successor's checkout will make. */
async function checkSuccessor(tx: Transaction, { clock }: BillingContext, successor: Successor): Promise<void> {
  const { registrationId: id, agreed, ...of } = successor
  await rejectReusedId(tx, { id, kind: 'registration' }, await lockAttempts(tx, id))
  const { terms } = await quoteRegistration(tx, of, clock.now())
  requireAgreed(toAgreement(terms), agreed, 'price_changed')
}

/**
 * Closes the live checkout of a registration that another one is going to replace. Idempotent. A payment that was refunded in
 * full does not prevent the replacement.
 * @param successor checked first, so that nothing is closed for a registration that would be rejected.
 * @throws DomainError id_reused, price_changed, class_not_offered
 * @throws StripeFailure if Stripe did not respond; then nothing has changed
 */
export async function closeForReplacement(
  context: BillingContext,
  registrationId: string,
  successor?: Successor,
): Promise<Closed> {
  const inspect = () =>
    context.db.transaction(async (tx): Promise<{ outcome: Closed; live?: Attempt | undefined }> => {
      if (successor) await checkSuccessor(tx, context, successor)
      const attempts = await lockAttempts(tx, registrationId)
      // A registration's id must not close an order's checkout.
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
  const before = await inspect()
  if (!before.live) return before.outcome
  await closeLiveCheckout(context, before.live.id)
  const { outcome, live } = await inspect()
  // Another page has opened a new checkout meanwhile: the caller may retry.
  if (live && live.status !== 'processing')
    throw new DomainError('upstream_unavailable', 'The checkout could not be closed. Please try again in a moment.')
  return outcome
}
