import type { Agreement, AgreementTerms } from '@robokids/contracts/agreement'

/** For tests: terms that are offered now. */
export function sampleAgreement(terms: Partial<AgreementTerms> = {}): Agreement {
  return {
    id: '0f'.repeat(32),
    terms: {
      kind: 'registration',
      lines: [{ sku: 'class:basic', quantity: 1, unitAmount: 45_000 }],
      date: '2025-10-03',
      currency: 'usd',
      dueNow: 45_000,
      credit: 0,
      renewal: null,
      termsVersion: null,
      reckonedAt: null,
      ...terms,
    },
    validUntil: null,
  }
}
