import type { RegisterAnswer } from '@robokids/contracts/bff'
import { checkoutSchema } from '@robokids/contracts/billing'
import {
  registrationFactsSchema,
  registrationSchema,
  type HoldAgain,
  type Registration,
} from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Services } from './upstream.ts'

/** Billing is asked for a purchase; what it refuses of it stands in the parent's form without that word. */
function asOfTheForm(error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error
  const issues = error.issues.map((issue) => ({ ...issue, path: issue.path.replace(/^purchase\./, '') }))
  return new DomainError(error.code, error.message, issues)
}

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
  const hold = (body: HoldAgain = {}) =>
    enrollment.call('POST', `/registrations/${registrationId}/hold`, { body, answer: registrationSchema })

  if (registration.status === 'confirmed' || registration.status === 'waiver_signed') return confirmation
  if (registration.status === 'rejected' || registration.status === 'cancelled') {
    throw new DomainError('registration_closed', 'This registration is closed. Please register again.')
  }
  const resumed = registration.status === 'expired'
  const held = resumed ? await hold() : registration
  const checkout = await billing
    .call('POST', '/checkouts', { body: { purchase: registrationFactsSchema.parse(held) }, answer: checkoutSchema })
    .catch((error: unknown) => {
      throw asOfTheForm(error)
    })
  const outlived = held.heldUntil !== null && Temporal.Instant.compare(held.heldUntil, checkout.expiresAt) < 0
  // A payment that was under way before the hold was taken anew is told of by no new checkout.
  if (outlived || (resumed && checkout.status === 'processing')) await hold({ attemptId: checkout.attemptId })
  return checkout.checkoutUrl === null ? confirmation : { checkoutUrl: checkout.checkoutUrl, registrationId }
}
