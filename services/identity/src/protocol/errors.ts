import type { IdentityErrorName } from '@robokids/contracts/errors'

/** Error names used only by the protocol itself. */
type ProtocolErrorName =
  | 'IncompleteSignatureException'
  | 'InternalErrorException'
  | 'InvalidSignatureException'
  | 'MissingAuthenticationTokenException'
  | 'SerializationException'
  | 'ServiceUnavailable'
  | 'UnknownOperationException'
  | 'UnrecognizedClientException'
  | 'UnsupportedUserStateException'

export type WireErrorName = IdentityErrorName | ProtocolErrorName

/** The kinds of failed sign-ins, by which they are counted. */
export const signInFailures = [
  'wrong_password',
  'wrong_code',
  'expired_code',
  'expired_session',
  'too_many_attempts',
  'not_confirmed',
  'disabled',
  'busy',
  'other',
] as const
export type SignInFailure = (typeof signInFailures)[number]

const maxMessageLength = 500

/**
 * An error response of the protocol. Thrown, it rolls the transaction back; returned from a transaction, what was
 * recorded (a wrong code, a failed password) is kept, and the operation throws it afterwards.
 */
export class IdentityError extends Error {
  override readonly name: WireErrorName
  /** What a failed sign-in is counted as, if its name alone does not say it. */
  readonly failure: SignInFailure | undefined

  constructor(name: WireErrorName, message: string, failure?: SignInFailure) {
    // Some messages quote the input, so their length is limited.
    super(message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message)
    this.name = name
    this.failure = failure
  }
}

/** Throws an error that a transaction returned, after it has committed. */
export function orThrow<T>(outcome: T | IdentityError): T {
  if (outcome instanceof IdentityError) throw outcome
  return outcome
}

export const wrongPassword = () =>
  new IdentityError('NotAuthorizedException', 'Incorrect username or password.', 'wrong_password')
export const wrongCode = () =>
  new IdentityError('CodeMismatchException', 'Invalid verification code provided, please try again.')
export const expiredCode = () =>
  new IdentityError('ExpiredCodeException', 'Invalid code provided, please request a code again.')
export const expiredSession = () =>
  new IdentityError('NotAuthorizedException', 'Invalid session for the user, session is expired.', 'expired_session')
export const notConfirmed = () => new IdentityError('UserNotConfirmedException', 'User is not confirmed.')
export const userDisabled = () => new IdentityError('NotAuthorizedException', 'User is disabled.', 'disabled')
export const unknownUser = () => new IdentityError('UserNotFoundException', 'User does not exist.')
export const attemptsExceeded = () =>
  new IdentityError('LimitExceededException', 'Attempt limit exceeded, please try after some time.')
/**
 * Not in the public protocol: only for clients with `freshSignInSeconds`, and for trusting a browser without a second
 * factor.
 */
export const freshSignInRequired = () =>
  new IdentityError('FreshSignInRequiredException', 'Please confirm that it’s you.')
/** Overload: clients retry on this name after a moment. */
export const busy = () => new IdentityError('ServiceUnavailable', 'Please try again in a moment.')
export const invalid = (message: string) => new IdentityError('InvalidParameterException', message)
export const missing = (name: string) => invalid(`Missing required parameter ${name}`)
