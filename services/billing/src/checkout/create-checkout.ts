import type { Checkout, CreateCheckout } from '@robokids/contracts/billing'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { registrationTerms } from '@robokids/contracts/offers'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { BillingContext } from '../config.ts'
import { fetchRegistration } from './fetch-registration.ts'
import { openCheckout } from './open-checkout.ts'
import { readCheckout } from './read-checkouts.ts'
import { findPrice } from '../prices/read-prices.ts'
import { purchaseSku, quote } from '../prices/rules.ts'
import { sessionParameters } from '../stripe/session-parameters.ts'
import { promotions } from '../schema.ts'

/**
 * Returns the checkout of a registration: the open one, the paid one, or a new one at today's price. A checkout that is open
 * for other terms than those agreed to now is closed first.
 * @throws DomainError registration_not_found, class_not_offered, price_changed, id_reused, upstream_unavailable, or
 * validation_failed if Stripe rejects the email.
 */
export async function createCheckout(context: BillingContext, request: CreateCheckout): Promise<Checkout> {
  const { agreed } = request
  const purchase = await fetchRegistration(context.config, request.purchase.registrationId)
  const { registrationId, children, ...of } = purchase
  await openCheckout(context, {
    id: registrationId,
    kind: 'registration',
    ownerId: purchase.ownerId ?? null,
    agreed,
    async offer(tx, now) {
      const { quoted, terms } = await quoteRegistration(tx, { ...of, children: children.length }, now)
      return {
        purchase,
        terms,
        parameters: (attemptId, expiresAt) =>
          sessionParameters(attemptId, purchase, quoted, expiresAt, context.config.SITE_URL),
      }
    },
  })
  return readCheckout(context.db, registrationId)
}

/** Quotes seats in a class at today's price. @throws DomainError class_not_offered */
export async function quoteRegistration(
  tx: Transaction,
  { classType, startDate, children }: Pick<RegistrationFacts, 'classType' | 'startDate'> & { children: number },
  now: Temporal.Instant,
) {
  const price = await findPrice(tx, purchaseSku({ classType }), now)
  if (price === undefined) throw new DomainError('class_not_offered', 'This class is not on sale.')
  const quoted = quote(price, classType, children, await tx.select().from(promotions), now)
  return { quoted, terms: registrationTerms({ classType, startDate, children, ...quoted }) }
}
