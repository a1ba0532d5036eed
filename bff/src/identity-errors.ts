import { DomainError } from '@robokids/runtime/errors'

/**
 * Errors of the identity service that can only be recognized by their messages: those of our own service and of the hosted one.
 * Nothing else depends on these texts; `test/identity-messages.test.ts` checks our own service.
 */
const messages = {
  /** A sign-in has ended, as opposed to being unverifiable at the moment. */
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
  /** An access token expired in transit, or by a clock ahead of ours: the sign-in continues with a new one. */
  tokenExpired: { NotAuthorizedException: ['Access Token has expired'] },
  /** The service no longer knows the device: the sign-in continues without it. */
  deviceForgotten: { ResourceNotFoundException: ['Device does not exist.'] },
} as const satisfies Record<string, Record<string, readonly string[]>>

/** Whether an error of the identity service is of this kind. */
export function isIdentityError(error: unknown, kind: keyof typeof messages): boolean {
  if (!(error instanceof DomainError)) return false
  const texts: Record<string, readonly string[]> = messages[kind]
  return Object.hasOwn(texts, error.code) && (texts[error.code]?.includes(error.message) ?? false)
}
