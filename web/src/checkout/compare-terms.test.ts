import { membershipTerms, orderTerms, registrationTerms } from '@robokids/contracts/offers'
import { describe, expect, it } from 'vitest'
import { changeOf, compareTerms } from './compare-terms.ts'
import { sampleAgreement } from './sample-agreement.ts'

const seats = { classType: 'basic', startDate: '2027-01-08', children: 2, siblingJoinsFree: true, unitAmount: 40_000 }
const member = { plan: 'monthly', amount: 700, classDate: '2027-01-08', termsVersion: '1' } as const

describe('what was agreed to beside what is offered now', () => {
  it('names seats, date and price of a registration', () => {
    expect(compareTerms(registrationTerms(seats), registrationTerms({ ...seats, siblingJoinsFree: false }))).toEqual([
      {
        name: 'What',
        before: 'Level 1 Foundations: 1 seat at $400.00',
        now: 'Level 1 Foundations: 2 seats at $400.00',
      },
      { name: 'When', before: 'Friday, January 8, 2027', now: 'Friday, January 8, 2027' },
      { name: 'Due now', before: '$400.00', now: '$800.00' },
    ])
  })

  it('names each product of an order, also one that it has no name for', () => {
    const spider = { sku: 'product:robot-spider', quantity: 2, unitAmount: 30_000 }
    const lines = [spider, { sku: 'product:bolt', quantity: 1, unitAmount: 500 }]
    expect(compareTerms(undefined, orderTerms(lines))).toEqual([
      { name: 'What', before: '', now: 'Robot Spider: 2 × $300.00\nproduct:bolt: 1 × $5.00' },
      { name: 'Due now', before: '', now: '$605.00' },
    ])
  })

  it('says what is charged later, and until when', () => {
    expect(compareTerms(membershipTerms(member), membershipTerms({ ...member, amount: 900 })).at(-1)).toEqual({
      name: 'Then',
      before: '$7.00 a month, until you cancel',
      now: '$9.00 a month, until you cancel',
    })
    const { terms } = sampleAgreement({
      kind: 'plan_change',
      lines: [{ sku: 'membership:yearly', quantity: 1, unitAmount: 6_000 }],
      date: null,
      dueNow: 0,
      credit: 349,
      renewal: { plan: 'yearly', amount: 6_000, on: '2027-01-31' },
    })
    expect(compareTerms(terms, terms).map(({ name, now }) => [name, now])).toEqual([
      ['What', 'Membership, paid yearly'],
      ['Credit for unused time', '$3.49'],
      ['Due now', 'Nothing'],
      ['Then', '$60.00 a year, from Sunday, January 31, 2027'],
    ])
  })
})

describe('a change of an offer', () => {
  const before = membershipTerms(member)

  it.each([
    [{ dueNow: 900 }, 'The price changed while you were here', { before: '$7.00', now: '$9.00' }],
    [
      { renewal: { plan: 'monthly', amount: 900, on: null } },
      'The price changed while you were here',
      { before: '$7.00', now: '$9.00' },
    ],
    [{ termsVersion: '2' }, 'The terms changed while you were here', undefined],
    [{ date: '2027-01-09' }, 'The offer changed while you were here', undefined],
  ] as const)('to %o is named', (changes, title, amounts) => {
    expect(changeOf(before, { ...before, ...changes })).toEqual({ title, ...(amounts ? { amounts } : {}) })
  })
})
