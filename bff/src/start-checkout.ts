import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { RegisterResponse } from '@robokids/contracts/bff'
import { checkoutSchema } from '@robokids/contracts/billing'
import {
  registrationFactsSchema,
  registrationSchema,
  type RenewHold,
  type Registration,
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

/** How long a checkout that is made now can be paid. */
const checkoutLifetime = Temporal.Duration.from({ minutes: 31 })

/** How long a hold has to last at least until its payment page is opened. */
const timeToOpen = Temporal.Duration.from({ minutes: 5 })

interface StartedBy {
  /** Who goes on to pay. */
  asker: RenewHold
  agreed?: AgreementTerms | undefined
  /** Where it is asked for, as `blockOf` writes it. */
  network: string
  siteUrl: string
  now: Temporal.Instant
}

/**
 * Leads a registration to where it is paid: creates its checkout or finds the open one, and sees to it that the hold
 * outlives the checkout, or, until its page is opened, the way there (`paymentLink`). A hold that ran out, or is too old for a new checkout, is taken anew before billing is asked: the
 * end of an older checkout, of which that may hear, does not end it then. One that is paid leads to its confirmation page.
 * Safe to repeat.
 * @param agreed what the page showed. Where it costs something else by now, the seats stay held for whoever agrees to that.
 * @throws DomainError `class_full`, `already_registered`, `registration_closed`, `price_changed`, `too_many_unpaid`, `upstream_unavailable`
 */
export async function startCheckout(
  { enrollment, billing }: Services,
  registration: Registration,
  { asker, agreed, network, siteUrl, now }: StartedBy,
): Promise<RegisterResponse> {
  const { registrationId } = registration
  const confirmation = { checkoutUrl: `${siteUrl}/robokids/success?reference=${registrationId}`, registrationId }
  const hold = (body: RenewHold = {}) =>
    enrollment.call('POST', `/registrations/${registrationId}/hold`, {
      body: { ...body, ...asker, network },
      answer: registrationSchema,
    })
  const outlives = (until: Temporal.Instant | string, { heldUntil }: Registration) =>
    heldUntil === null || Temporal.Instant.compare(heldUntil, until) >= 0

  if (registration.status === 'confirmed' || registration.status === 'waiver_signed') return confirmation
  if (registration.status === 'rejected' || registration.status === 'cancelled') {
    throw new DomainError('registration_closed', 'This registration is closed. Please register again.')
  }
  // An enrollment of the version before tells nothing of it, and holds for as long as a page is open from the start.
  const { pageOpened = true } = registration
  const needed = pageOpened ? checkoutLifetime : timeToOpen
  const isOld = registration.status === 'expired' || !outlives(now.add(needed), registration)
  const held = isOld ? await hold() : registration
  const checkout = await billing
    .call('POST', '/checkouts', {
      body: { purchase: registrationFactsSchema.parse(held), agreed },
      answer: checkoutSchema,
    })
    .catch((error: unknown) => {
      throw toFormError(error)
    })
  // A payment that was under way before the hold was taken anew is told of by no new checkout.
  if (isOld || (pageOpened && !outlives(checkout.expiresAt, held))) await hold({ attemptId: checkout.attemptId })
  if (checkout.checkoutUrl === null) return confirmation
  return { checkoutUrl: paymentLink(siteUrl, 'registrations', registrationId, checkout.checkoutUrl), registrationId }
}
