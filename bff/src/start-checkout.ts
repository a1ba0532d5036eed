import type { RegisterAnswer } from '@robokids/contracts/bff'
import { checkoutSchema } from '@robokids/contracts/billing'
import { registrationFactsSchema, registrationSchema, type Registration } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Services } from './upstream.ts'

/**
 * Leads a registration to where it is paid: creates its checkout or finds the open one, taking the seats again where the
 * hold has run out, and sees to it that the hold outlives the checkout. One that is paid leads to its confirmation page.
 * Safe to repeat. @throws DomainError `class_full`, `registration_closed`, `upstream_unavailable`
 */
export async function startCheckout(
  { enrollment, billing }: Services,
  registration: Registration,
  siteUrl: string,
): Promise<RegisterAnswer> {
  const { registrationId } = registration
  const confirmation = { checkoutUrl: `${siteUrl}/robokids/success?reference=${registrationId}`, registrationId }
  const hold = () =>
    enrollment.call('POST', `/registrations/${registrationId}/hold`, { body: {}, answer: registrationSchema })

  if (registration.status === 'confirmed' || registration.status === 'waiver_signed') return confirmation
  if (registration.status === 'rejected' || registration.status === 'cancelled') {
    throw new DomainError('registration_closed', 'This registration is closed. Please register again.')
  }
  const held = registration.status === 'expired' ? await hold() : registration
  const checkout = await billing.call('POST', '/checkouts', {
    body: { purchase: registrationFactsSchema.parse(held) },
    answer: checkoutSchema,
  })
  if (held.heldUntil !== null && Temporal.Instant.compare(held.heldUntil, checkout.expiresAt) < 0) await hold()
  return checkout.checkoutUrl === null ? confirmation : { checkoutUrl: checkout.checkoutUrl, registrationId }
}
