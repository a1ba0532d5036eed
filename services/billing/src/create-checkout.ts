import type { Checkout } from '@robokids/contracts/billing'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { BillingContext } from './config.ts'
import { openCheckout } from './open-checkout.ts'
import { readCheckout } from './read-checkouts.ts'
import { priceOf } from './read-prices.ts'
import { purchaseSku, quote, sessionParameters } from './rules.ts'
import { promotions } from './schema.ts'

/**
 * The checkout where a registration is paid: the open one, or a new one at the price of the day. What is already paid is
 * answered as paid.
 * @throws DomainError class_not_offered, upstream_unavailable, or validation_failed where the provider refuses the email.
 */
export async function createCheckout(context: BillingContext, purchase: RegistrationFacts): Promise<Checkout> {
  await openCheckout(context, purchase.registrationId, async (tx, now) => {
    const price = await priceOf(tx, purchaseSku(purchase), now)
    if (price === undefined) throw new DomainError('class_not_offered', 'This class is not on sale.')
    const agreed = quote(price, purchase.classType, purchase.children.length, await tx.select().from(promotions), now)
    return {
      purchase,
      amount: agreed.amount,
      parameters: (attemptId, expiresAt) =>
        sessionParameters(attemptId, purchase, agreed, expiresAt, context.config.SITE_URL),
    }
  })
  return readCheckout(context.db, purchase.registrationId)
}
