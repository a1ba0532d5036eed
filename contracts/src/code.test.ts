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
  ])('is the same however it was typed: %j', (typed) => {
    expect(readCode(typed)).toBe('012345')
    const email = 'maren.holt@example.com'
    expect(confirmSignUpBodySchema.parse({ email, code: typed }).code).toBe('012345')
    expect(resetPasswordBodySchema.parse({ email, code: typed, password: 'Robot-2030!' }).code).toBe('012345')
    expect(verificationConfirmBodySchema.parse({ attribute: 'email', code: typed }).code).toBe('012345')
    expect(totpVerifyBodySchema.parse({ code: typed }).code).toBe('012345')
  })

  it('keeps letters and whatever else is typed: the code is wrong, and not another one', () => {
    expect(readCode('01234x')).toBe('01234x')
    expect(readCode('0123.45')).toBe('0123.45')
  })

  it('is missing where nothing but gaps and hyphens was typed', () => {
    const { error } = totpVerifyBodySchema.safeParse({ code: ' - ' })
    expect(error?.issues.map(({ message }) => message)).toEqual(['code is required to confirmSignUp'])
  })
})
