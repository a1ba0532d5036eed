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

/** Maps the paths of billing's issues, which are about its `purchase`, to the fields of the parent's form. */
function toFormError(error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error
  const issues = error.issues.map((issue) => ({ ...issue, path: issue.path.replace(/^purchase\./, '') }))
  return new DomainError(error.code, error.message, issues, error.details)
}

interface CheckoutOptions {
  /** Who is about to pay. */
  requester: RenewHold
  agreed?: AgreementTerms | undefined
  /** The requester's network, as formatted by `blockOf`. */
  network: string
  siteUrl: string
}

/**
 * Returns the link for paying a registration: creates its checkout or finds the open one. The seats are held until the page can
 * be opened, and from then on (`paymentLink`) for the page's lifetime. The hold of an existing registration is renewed before
 * billing is called, so that the end of an older checkout does not end it. A paid registration leads to its confirmation page.
 * Idempotent.
 * @param agreed the price that the page showed. If it has changed, the seats stay held while the parent decides.
 * @throws DomainError `class_full`, `already_registered`, `registration_closed`, `price_changed`, `too_many_unpaid`, `upstream_unavailable`
 */
export async function startCheckout(
  { enrollment, billing }: Services,
  registration: HeldRegistration,
  { requester, agreed, network, siteUrl }: CheckoutOptions,
): Promise<RegisterResponse> {
  const { registrationId, status } = registration
  const confirmation = { checkoutUrl: `${siteUrl}/robokids/success?reference=${registrationId}`, registrationId }
  if (status === 'confirmed' || status === 'waiver_signed') return confirmation
  if (status === 'rejected' || status === 'cancelled') {
    throw new DomainError('registration_closed', 'This registration is closed. Please register again.')
  }
  const hold = (body: RenewHold = {}) =>
    enrollment.call('POST', `/registrations/${registrationId}/hold`, {
      body: { ...body, ...requester, network },
      answer: registrationSchema,
    })
  const held = registration.isNew ? registration : await hold()
  const checkout = await billing
    .call('POST', '/checkouts', {
      // A billing of the previous version trusts all of it; the current one asks enrollment.
      body: { purchase: registrationFactsSchema.parse(held), agreed },
      answer: checkoutSchema,
    })
    .catch((error: unknown) => {
      throw toFormError(error)
    })
  if (checkout.checkoutUrl === null) {
    // A checkout is bound to a renewed hold when its page is opened. The page of a processing payment was opened before, so the
    // checkout is bound here: the hold ends if the payment fails.
    const isRenewed = held.heldUntil !== registration.heldUntil
    if (checkout.status === 'processing' && isRenewed) await hold({ attemptId: checkout.attemptId })
    return confirmation
  }
  return { checkoutUrl: paymentLink(siteUrl, 'registrations', registrationId, checkout.checkoutUrl), registrationId }
}
