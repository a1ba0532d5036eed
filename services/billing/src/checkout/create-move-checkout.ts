import type { Checkout } from '@robokids/contracts/billing'
import { DomainError } from '@robokids/runtime/errors'
import type { BillingContext } from '../config.ts'
import { findPrice } from '../prices/read-prices.ts'
import { purchaseSku } from '../prices/rules.ts'
import { moveParameters } from '../stripe/session-parameters.ts'
import { fetchChange, fetchRegistration } from './fetch-registration.ts'
import { openCheckout } from './open-checkout.ts'
import { readCheckout } from './read-checkouts.ts'

/**
 * Returns the checkout of the difference of a move whose seats enrollment holds: the open one, the paid one, or a new one. The
 * difference is the one that the family has confirmed, as long as it is still that of today's price.
 * @throws DomainError registration_not_found, registration_closed, price_changed, id_reused, upstream_unavailable, or
 * validation_failed if Stripe rejects the email.
 */
export async function createMoveCheckout(context: BillingContext, changeId: string): Promise<Checkout> {
  const { status, terms } = await fetchChange(context.config, changeId)
  const { to, due, lines, registrationId } = terms
  if (status !== 'held' || to === null || due <= 0)
    throw new DomainError('registration_closed', 'There is nothing to pay for this move.')
  const registration = await fetchRegistration(context.config, registrationId)
  const purchase = { ...registration, move: { changeId } }
  await openCheckout(context, {
    id: changeId,
    kind: 'move',
    ownerId: registration.ownerId ?? null,
    agreed: undefined,
    async offer(tx, now) {
      const sku = purchaseSku({ classType: to.classType })
      const price = await findPrice(tx, sku, now)
      if (lines.some((line) => line.price !== price))
        throw new DomainError('price_changed', 'The price has changed. Please check it and confirm again.')
      return {
        purchase,
        terms: {
          kind: 'registration',
          lines: [{ sku, quantity: 1, unitAmount: due }],
          date: to.startDate,
          currency: 'usd',
          dueNow: due,
          credit: 0,
          renewal: null,
          termsVersion: null,
          reckonedAt: null,
        },
        parameters: (attemptId, expiresAt) =>
          moveParameters(attemptId, purchase, terms, expiresAt, context.config.SITE_URL),
      }
    },
  })
  return readCheckout(context.db, changeId)
}
