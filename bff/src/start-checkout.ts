import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { RegisterResponse } from '@robokids/contracts/bff'
import { checkoutSchema } from '@robokids/contracts/billing'
import {
  registrationFactsSchema,
  registrationSchema,
  type HeldRegistration,
  type RenewHold,
} from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import { paymentLink } from './payment-pages.ts'
import type { Services } from './upstream.ts'

/** Billing is asked for a purchase; what it refuses of it stands in the parent's form without that word. */
function toFormError(error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error
  const issues = error.issues.map((issue) => ({ ...issue, path: issue.path.replace(/^purchase\./, '') }))
  return new DomainError(error.code, error.message, issues, error.details)
}

interface StartedBy {
  /** Who goes on to pay. */
  asker: RenewHold
  agreed?: AgreementTerms | undefined
  /** Where it is asked for, as `blockOf` writes it. */
  network: string
  siteUrl: string
}

/**
 * Leads a registration to where it is paid: creates its checkout or finds the open one. Enrollment sees to it that its seats are
 * held: for long enough to come there, and, before the page is opened (`paymentLink`), for as long as it can be paid. Of
 * one that was there already it is asked that before billing is asked: the end of an older checkout, of which that may hear,
 * does not end the hold then. One that is paid leads to its confirmation page. Safe to repeat.
 * @param agreed what the page showed. Where it costs something else by now, the seats stay held for whoever agrees to that.
 * @throws DomainError `class_full`, `already_registered`, `registration_closed`, `price_changed`, `too_many_unpaid`, `upstream_unavailable`
 */
export async function startCheckout(
  { enrollment, billing }: Services,
  registration: HeldRegistration,
  { asker, agreed, network, siteUrl }: StartedBy,
): Promise<RegisterResponse> {
  const { registrationId, status } = registration
  const confirmation = { checkoutUrl: `${siteUrl}/robokids/success?reference=${registrationId}`, registrationId }
  if (status === 'confirmed' || status === 'waiver_signed') return confirmation
  if (status === 'rejected' || status === 'cancelled') {
    throw new DomainError('registration_closed', 'This registration is closed. Please register again.')
  }
  const hold = (body: RenewHold = {}) =>
    enrollment.call('POST', `/registrations/${registrationId}/hold`, {
      body: { ...body, ...asker, network },
      answer: registrationSchema,
    })
  const held = registration.isNew ? registration : await hold()
  const checkout = await billing
    .call('POST', '/checkouts', {
      // A billing of the version before believes all of it; the present one asks enrollment.
      body: { purchase: registrationFactsSchema.parse(held), agreed },
      answer: checkoutSchema,
    })
    .catch((error: unknown) => {
      throw toFormError(error)
    })
  if (checkout.checkoutUrl === null) {
    // A checkout is bound to a renewed hold when its page is opened. That of a payment that takes days has been: it is bound here,
    // so that the hold ends when the payment fails.
    const isRenewed = held.heldUntil !== registration.heldUntil
    if (checkout.status === 'processing' && isRenewed) await hold({ attemptId: checkout.attemptId })
    return confirmation
  }
  return { checkoutUrl: paymentLink(siteUrl, 'registrations', registrationId, checkout.checkoutUrl), registrationId }
}
