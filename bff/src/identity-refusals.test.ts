import { DomainError } from '@robokids/runtime/errors'
import { describe, expect, it } from 'vitest'
import { says } from './identity-refusals.ts'

describe('what the hosted identity service says', () => {
  it.each([
    ['NotAuthorizedException', 'Could not verify signature for Access Token'],
    ['NotAuthorizedException', 'Refresh Token has expired'],
    ['NotAuthorizedException', 'Invalid Refresh Token'],
    ['UserNotFoundException', 'User does not exist.'],
  ] as const)('of a sign-in that is over is understood: %s, %s', (name, message) => {
    expect(says(new DomainError(name, message), 'sessionOver')).toBe(true)
  })

  it('of anything else ends no sign-in', () => {
    const others = [
      new DomainError('NotAuthorizedException', 'Incorrect username or password.'),
      new DomainError('NotAuthorizedException', 'Access Token has expired'),
      new DomainError('TooManyRequestsException', 'Access Token has been revoked'),
      new Error('Access Token has been revoked'),
    ]
    for (const error of others) expect(says(error, 'sessionOver')).toBe(false)
  })
})
