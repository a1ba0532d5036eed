import { DomainError } from '@robokids/runtime/errors'
import { describe, expect, it } from 'vitest'
import { isIdentityError } from './identity-errors.ts'

describe('an error message of the hosted identity service', () => {
  it.each([
    ['NotAuthorizedException', 'Could not verify signature for Access Token'],
    ['NotAuthorizedException', 'Refresh Token has expired'],
    ['NotAuthorizedException', 'Invalid Refresh Token'],
    ['UserNotFoundException', 'User does not exist.'],
  ] as const)('is recognized as the end of a sign-in: %s, %s', (name, message) => {
    expect(isIdentityError(new DomainError(name, message), 'sessionOver')).toBe(true)
  })

  it('about anything else does not end a sign-in', () => {
    const others = [
      new DomainError('NotAuthorizedException', 'Incorrect username or password.'),
      new DomainError('NotAuthorizedException', 'Access Token has expired'),
      new DomainError('TooManyRequestsException', 'Access Token has been revoked'),
      new Error('Access Token has been revoked'),
    ]
    for (const error of others) expect(isIdentityError(error, 'sessionOver')).toBe(false)
  })
})
