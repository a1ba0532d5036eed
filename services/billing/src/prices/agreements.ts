import { createHash } from 'node:crypto'
import { canonicalTerms, type Agreement, type AgreementTerms } from '@robokids/contracts/agreement'
import { DomainError } from '@robokids/runtime/errors'

/** Creates the agreement to these terms, valid until `validUntil`. */
export function toAgreement(terms: AgreementTerms, validUntil: Temporal.Instant | null = null): Agreement {
  return {
    id: createHash('sha256').update(canonicalTerms(terms)).digest('hex'),
    terms,
    validUntil: validUntil?.toString() ?? null,
  }
}

const messages = {
  price_changed: 'The price has changed. Please check it and confirm again.',
  terms_changed: 'The terms of the membership have changed. Please read them again.',
  quote_outdated: 'The amount has changed. Please check it and confirm again.',
}

/** The agreed terms are not the offered ones: the error carries the current offer, which the client can agree to. */
export function offerChanged(code: keyof typeof messages, offered: Agreement): DomainError {
  return new DomainError(code, messages[code], undefined, { agreement: offered })
}

/**
 * Requires that the agreed terms, as the page showed them, are exactly the offered ones. A page of the previous version sends
 * none.
 * @throws DomainError with that code and the offer
 */
export function requireAgreed(
  offered: Agreement,
  agreed: AgreementTerms | undefined,
  code: keyof typeof messages,
): void {
  if (agreed && toAgreement(agreed).id !== offered.id) throw offerChanged(code, offered)
}
