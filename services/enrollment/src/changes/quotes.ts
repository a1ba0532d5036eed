import { createHash } from 'node:crypto'
import type { ChangeQuote, ChangeTerms } from '@robokids/contracts/changes'
import { DomainError } from '@robokids/runtime/errors'

/** Composes the quote of a change. Each kind of terms is built in one place, always in the same order of fields. */
export function toQuote(terms: ChangeTerms): ChangeQuote {
  return { quoteId: createHash('sha256').update(JSON.stringify(terms)).digest('hex'), terms }
}

/**
 * Requires that a family confirms what would happen now.
 * @throws DomainError `quote_outdated`, with what would
 */
export function requireConfirmed(quote: ChangeQuote, quoteId: string): void {
  if (quote.quoteId === quoteId) return
  const message = 'Something has changed since you looked. Please check it and confirm again.'
  throw new DomainError('quote_outdated', message, undefined, { quote })
}
