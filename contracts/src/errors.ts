import { z } from 'zod'
import { agreementSchema } from './agreement.ts'
import { changeQuoteSchema } from './changes.ts'
import { challengeSchema } from './proof.ts'

/**
 * The error names of the identity service's public protocol, with their HTTP status. They are passed through to the browser
 * unchanged as error codes.
 */
export const identityErrorStatus = {
  AliasExistsException: 409,
  CodeDeliveryFailureException: 400,
  CodeMismatchException: 400,
  DeviceKeyExistsException: 400,
  EnableSoftwareTokenMFAException: 400,
  ExpiredCodeException: 400,
  ForbiddenException: 403,
  /** Not in the public protocol: changes that could hand the account over require a recent sign-in. */
  FreshSignInRequiredException: 403,
  GroupExistsException: 409,
  InvalidParameterException: 400,
  InvalidPasswordException: 400,
  LimitExceededException: 429,
  MFAMethodNotFoundException: 400,
  NotAuthorizedException: 401,
  PasswordResetRequiredException: 403,
  RefreshTokenReuseException: 401,
  ResourceNotFoundException: 404,
  SoftwareTokenMFANotFoundException: 400,
  TooManyRequestsException: 429,
  UnauthorizedException: 401,
  UnsupportedOperationException: 400,
  UnsupportedTokenTypeException: 400,
  UserNotConfirmedException: 403,
  UserNotFoundException: 404,
  UsernameExistsException: 409,
  WebAuthnChallengeNotFoundException: 400,
  WebAuthnClientMismatchException: 403,
  WebAuthnConfigurationMissingException: 400,
  WebAuthnCredentialNotSupportedException: 400,
  WebAuthnNotEnabledException: 400,
  WebAuthnOriginNotAllowedException: 403,
  WebAuthnRelyingPartyMismatchException: 403,
} as const
export type IdentityErrorName = keyof typeof identityErrorStatus

/**
 * Every error code that crosses a process boundary, with its HTTP status. A `DomainError` names a code and gets its status
 * from here; the BFF passes these codes on and turns anything else into `upstream_unavailable`.
 */
export const errorStatus = {
  validation_failed: 400,
  malformed_body: 400,
  malformed_request: 400,
  signature_invalid: 400,
  class_not_offered: 400,
  api_key_invalid: 401,
  admin_secret_invalid: 401,
  origin_forbidden: 403,
  proof_required: 403,
  /**
   * There is no such route. The BFF can get it from a service of the previous version; a record that a route does not find has
   * an error code of its own.
   */
  not_found: 404,
  registration_not_found: 404,
  checkout_not_found: 404,
  order_not_found: 404,
  notice_not_found: 404,
  waitlist_entry_not_found: 404,
  choice_not_found: 404,
  payment_not_found: 404,
  dead_letter_not_found: 404,
  event_not_found: 404,
  job_not_found: 404,
  class_session_not_found: 404,
  meeting_not_found: 404,
  calendar_not_found: 404,
  signing_key_not_found: 404,
  sign_in_required: 401,
  sign_in_step_expired: 401,
  password_required: 400,
  already_signed_in: 409,
  already_member: 409,
  membership_not_found: 404,
  booking_not_found: 404,
  membership_not_changeable: 409,
  terms_changed: 409,
  quote_outdated: 409,
  price_changed: 409,
  other_account: 409,
  already_paid: 409,
  already_cancelled: 409,
  change_not_allowed: 409,
  payment_declined: 402,
  payment_confirmation_required: 402,
  already_registered: 409,
  class_full: 409,
  class_not_full: 409,
  no_credit: 409,
  already_booked: 409,
  booking_changed: 409,
  already_waiting: 409,
  waitlist_closed: 409,
  offer_ended: 409,
  class_session_exists: 409,
  season_exists: 409,
  seats_taken: 409,
  id_reused: 409,
  registration_closed: 409,
  registration_not_paid: 409,
  waiver_already_signed: 409,
  waiver_document_changed: 409,
  waiver_not_signed: 409,
  class_link_not_open: 409,
  class_link_missing: 409,
  meeting_not_movable: 409,
  signed_pdf_not_ready: 409,
  kit_not_ready: 409,
  kit_already_shipped: 409,
  product_not_for_sale: 409,
  product_not_awaited: 409,
  order_not_shippable: 409,
  order_already_shipped: 409,
  refund_not_possible: 409,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_unpaid: 429,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  /** Overloaded: the request can be retried in a moment. */
  busy: 503,
  upstream_unavailable: 503,
  ...identityErrorStatus,
} as const

export type ErrorCode = keyof typeof errorStatus

export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]

/** A validation error of one field: `path` is dotted from the body's root (`siblings.0.childAge`), `message` is for people. */
export const issueSchema = z.object({ path: z.string(), message: z.string() })
export type Issue = z.infer<typeof issueSchema>

/** What an error response includes so that the client can continue. */
export const errorDetailsSchema = z.object({
  /** With `terms_changed`, `quote_outdated` and `price_changed`: the current offer. */
  agreement: agreementSchema.optional(),
  /** With `quote_outdated` of a cancellation or a move: what it would do now. */
  quote: changeQuoteSchema.optional(),
  /** With `payment_confirmation_required`: the payment provider's page for confirming the payment. */
  url: z.url().optional(),
  /** With `already_paid` and `already_registered`: the existing registration, order or membership, if the caller may know it. */
  reference: z.uuid().optional(),
  /** With `proof_required`: the challenge to solve before retrying. */
  challenge: challengeSchema.optional(),
})
export type ErrorDetails = z.infer<typeof errorDetailsSchema>

/** The body of every error response of every process. */
export const errorBodySchema = z.object({
  code: z.enum(errorCodes),
  message: z.string(),
  requestId: z.string(),
  issues: z.array(issueSchema).optional(),
  ...errorDetailsSchema.shape,
})
export type ErrorBody = z.infer<typeof errorBodySchema>
