import type { ErrorCode, ErrorDetails } from '@robokids/contracts/errors'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api.ts'
import { sampleAgreement } from './sample-agreement.ts'
import { wayOnFrom } from './way-on.ts'

const agreement = sampleAgreement()
const reference = '019a0000-0000-7000-8000-000000000001'
const url = 'https://pay.example.com/confirm'
const message = 'No.'
const refused = (code: ErrorCode, details: object) =>
  wayOnFrom(new ApiError({ status: 409, code, message, ...(details as ErrorDetails) }))

describe('the way on from a refusal', () => {
  it.each(['price_changed', 'terms_changed', 'quote_outdated'] as const)('with %s is what is offered now', (code) => {
    expect(refused(code, { agreement })).toEqual({ kind: 'agree', agreement })
  })

  it.each(['already_paid', 'already_registered'] as const)('with %s is what stands already', (code) => {
    expect(refused(code, { reference })).toEqual({ kind: 'paid before', reference, message })
  })

  it('with a payment that the bank wants confirmed is the page for that', () => {
    expect(refused('payment_confirmation_required', { url })).toEqual({ kind: 'confirm', url, message })
  })

  it('is not known where the answer has none, or none that can be understood', () => {
    const { terms, ...rest } = agreement
    for (const details of [
      {},
      { agreement: null },
      { agreement: rest },
      { agreement: { ...rest, terms: { ...terms, dueNow: '9' } } },
    ])
      expect(refused('price_changed', details)).toBeUndefined()
    expect(refused('already_paid', { agreement, reference: 7 })).toBeUndefined()
    expect(refused('class_full', { agreement, reference, url })).toBeUndefined()
    expect(wayOnFrom(new Error('no'))).toBeUndefined()
  })
})
