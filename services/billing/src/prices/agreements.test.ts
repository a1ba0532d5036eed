import { canonicalTerms, type AgreementTerms } from '@robokids/contracts/agreement'
import { orderTerms } from '@robokids/contracts/offers'
import { DomainError } from '@robokids/runtime/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAgreement, requireAgreed } from './agreements.ts'

const terms = fc.record<AgreementTerms>({
  kind: fc.constantFrom('registration', 'order', 'membership', 'plan_change'),
  lines: fc.uniqueArray(
    fc.record({
      sku: fc.constantFrom('class:basic', 'product:spider', 'membership:monthly', 'membership:yearly'),
      quantity: fc.integer({ min: 1, max: 5 }),
      unitAmount: fc.nat(),
    }),
    { selector: ({ sku }) => sku },
  ),
  date: fc.constantFrom(null, '2027-01-08', '2027-01-09'),
  currency: fc.constant('usd'),
  dueNow: fc.nat(),
  credit: fc.nat(),
  renewal: fc.option(
    fc.record({
      plan: fc.constantFrom('monthly', 'yearly'),
      amount: fc.nat(),
      on: fc.constantFrom(null, '2027-02-08', '2028-01-08'),
    }),
  ),
  termsVersion: fc.constantFrom(null, '2026-11-28'),
  reckonedAt: fc.option(fc.nat()),
})

/** The same terms with properties and lines in another order, as another process may serialize them. */
function rewritten(given: AgreementTerms): AgreementTerms {
  const backwards = <T extends object>(one: T) => Object.fromEntries(Object.entries(one).toReversed()) as T
  return backwards({
    ...given,
    lines: given.lines.toReversed().map(backwards),
    renewal: given.renewal && backwards(given.renewal),
  })
}

function errorOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

describe('an agreement', () => {
  it('has the same id for the same terms in any order', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const offered = toAgreement(given)
        expect(toAgreement(rewritten(given)).id).toBe(offered.id)
        requireAgreed(offered, rewritten(given), 'price_changed')
      }),
    )
  })

  it('is rejected, with the current offer, if any of its terms differs', () => {
    fc.assert(
      fc.property(terms, terms, (offer, other) => {
        const offered = toAgreement(offer)
        for (const name of Object.keys(offer) as (keyof AgreementTerms)[]) {
          const agreed = { ...offer, [name]: other[name] }
          if (canonicalTerms(agreed) === canonicalTerms(offer)) continue
          const error = errorOf(() => requireAgreed(offered, agreed, 'terms_changed'))
          expect(error).toBeInstanceOf(DomainError)
          expect(error).toMatchObject({ code: 'terms_changed', details: { agreement: offered } })
        }
      }),
    )
  })

  it('is not required of a page of the previous version, which sends none', () => {
    const lines = [{ sku: 'product:spider', quantity: 1, unitAmount: 500 }]
    expect(() => requireAgreed(toAgreement(orderTerms(lines)), undefined, 'price_changed')).not.toThrow()
  })
})
