import { describe, expect, it } from 'vitest'
import {
  confirmSignUpBodySchema,
  resetPasswordBodySchema,
  totpVerifyBodySchema,
  verificationConfirmBodySchema,
} from './auth.ts'
import { readCode } from './code.ts'

describe('a one-time code', () => {
  it.each([
    '012345',
    ' 012 345 ',
    '012-345',
    '012\u2013345',
    '012\u2212345',
    '012\u00a0345',
    '\u200e012345\u200b',
    '０１２３４５',
    '０１２　３４５',
    '０１２－３４５',
    '０１２ー３４５',
    '٠١٢٣٤٥',
    '۰۱۲۳۴۵',
  ])('is read as 012345 when typed as %j', (typed) => {
    expect(readCode(typed)).toBe('012345')
    const email = 'maren.holt@example.com'
    expect(confirmSignUpBodySchema.parse({ email, code: typed }).code).toBe('012345')
    expect(resetPasswordBodySchema.parse({ email, code: typed, password: 'Robot-2030!' }).code).toBe('012345')
    expect(verificationConfirmBodySchema.parse({ attribute: 'email', code: typed }).code).toBe('012345')
    expect(totpVerifyBodySchema.parse({ code: typed }).code).toBe('012345')
  })

  it('keeps letters and other characters, so that a wrong code stays wrong', () => {
    expect(readCode('01234x')).toBe('01234x')
    expect(readCode('0123.45')).toBe('0123.45')
  })

  it('is missing if only blanks and hyphens were typed', () => {
    const { error } = totpVerifyBodySchema.safeParse({ code: ' - ' })
    expect(error?.issues.map(({ message }) => message)).toEqual(['code is required to confirmSignUp'])
  })
})
