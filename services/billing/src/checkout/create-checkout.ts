import type { Checkout, CreateCheckout } from '@robokids/contracts/billing'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { registrationTerms } from '@robokids/contracts/offers'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { BillingContext } from '../config.ts'
import { fetchRegistration } from './fetch-registration.ts'
import { openCheckout } from './open-checkout.ts'
import { readCheckout } from './read-checkouts.ts'
import { priceOf } from '../prices/read-prices.ts'
import { purchaseSku, quote } from '../prices/rules.ts'
import { sessionParameters } from '../stripe/session-parameters.ts'
import { promotions } from '../schema.ts'

/**
 * The checkout where a registration is paid: the open one, or a new one at the price of the day. One that is open for other
 * terms than those that are agreed to now is closed before. What is already paid is answered as paid.
 * @throws DomainError registration_not_found, class_not_offered, price_changed, id_reused, upstream_unavailable, or
 * validation_failed where the provider refuses the email.
 */
export async function createCheckout(context: BillingContext, asked: CreateCheckout): Promise<Checkout> {
  const { agreed } = asked
  const purchase = await fetchRegistration(context.config, asked.purchase.registrationId)
  const { registrationId, children, ...of } = purchase
  await openCheckout(context, {
    id: registrationId,
    kind: 'registration',
    ownerId: purchase.ownerId ?? null,
    agreed,
    async offer(tx, now) {
      const { quoted, terms } = await offerOf(tx, { ...of, children: children.length }, now)
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

/** What seats in a class cost today. @throws DomainError class_not_offered */
export async function offerOf(
  tx: Transaction,
  { classType, startDate, children }: Pick<RegistrationFacts, 'classType' | 'startDate'> & { children: number },
  now: Temporal.Instant,
) {
  const price = await priceOf(tx, purchaseSku({ classType }), now)
  if (price === undefined) throw new DomainError('class_not_offered', 'This class is not on sale.')
  const quoted = quote(price, classType, children, await tx.select().from(promotions), now)
  return { quoted, terms: registrationTerms({ classType, startDate, children, ...quoted }) }
}
