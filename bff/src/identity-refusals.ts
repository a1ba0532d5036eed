import { DomainError } from '@robokids/runtime/errors'

/**
 * What the identity service says where its errors have no names of their own for it, in the words of our own service and of
 * the hosted one. Nothing else goes by these texts; `test/identity-messages.test.ts` holds our own service to them.
 */
const words = {
  /** A sign-in is over, rather than that the service cannot or will not say so now. */
  sessionOver: {
    NotAuthorizedException: [
      'Access Token has been revoked',
      'Could not verify signature for Access Token',
      'Invalid Access Token',
      'Invalid Refresh Token',
      'Invalid Refresh Token.',
      'Refresh Token has been revoked',
      'Refresh Token has expired',
      'User is disabled.',
    ],
    UserNotFoundException: ['User does not exist.'],
  },
  /** An access token ended on its way, or by a clock that is ahead of ours: the sign-in goes on, with another one. */
  tokenExpired: { NotAuthorizedException: ['Access Token has expired'] },
  /** The service has forgotten the device: the sign-in goes on without it. */
  deviceForgotten: { ResourceNotFoundException: ['Device does not exist.'] },
} as const satisfies Record<string, Record<string, readonly string[]>>

/** Whether it is that which a refusal of the identity service says. */
export function says(error: unknown, what: keyof typeof words): boolean {
  if (!(error instanceof DomainError)) return false
  const texts: Record<string, readonly string[]> = words[what]
  return Object.hasOwn(texts, error.code) && (texts[error.code]?.includes(error.message) ?? false)
}
