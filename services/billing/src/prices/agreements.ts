import { createHash } from 'node:crypto'
import { canonicalTerms, type Agreement, type AgreementTerms } from '@robokids/contracts/agreement'
import { DomainError } from '@robokids/runtime/errors'

/** An offer of these terms, good until `validUntil`. */
export function agreementOf(terms: AgreementTerms, validUntil: Temporal.Instant | null = null): Agreement {
  return {
    id: createHash('sha256').update(canonicalTerms(terms)).digest('hex'),
    terms,
    validUntil: validUntil?.toString() ?? null,
  }
}

const refusals = {
  price_changed: 'The price has changed meanwhile. Please check it and confirm again.',
  terms_changed: 'The terms of the membership have changed. Please read them again.',
  quote_outdated: 'The amount has changed meanwhile. Please check it and confirm again.',
}

/** What was agreed to is not what is offered: the answer carries what is, and agreeing to that gets through. */
export function notOffered(code: keyof typeof refusals, offered: Agreement): DomainError {
  return new DomainError(code, refusals[code], undefined, { agreement: offered })
}

/**
 * Holds what was agreed to, as the page showed it, against what is offered, whole. A page of the version before says
 * nothing of what it showed.
 * @throws DomainError with that code, and the offer
 */
export function requireAgreed(
  offered: Agreement,
  agreed: AgreementTerms | undefined,
  code: keyof typeof refusals,
): void {
  if (agreed && agreementOf(agreed).id !== offered.id) throw notOffered(code, offered)
}
