import { z } from 'zod'

/**
 * Every error code that crosses a process boundary, with its HTTP status: the one table. A `DomainError` names a code
 * and gets its status from here; the BFF passes on the codes it finds here and turns anything else into
 * `upstream_unavailable`.
 */
export const errorStatus = {
  validation_failed: 400,
  malformed_body: 400,
  signature_invalid: 400,
  class_not_offered: 400,
  api_key_invalid: 401,
  admin_secret_invalid: 401,
  origin_forbidden: 403,
  not_found: 404,
  registration_not_found: 404,
  checkout_not_found: 404,
  payment_not_found: 404,
  dead_letter_not_found: 404,
  class_full: 409,
  id_reused: 409,
  registration_closed: 409,
  registration_not_paid: 409,
  waiver_already_signed: 409,
  waiver_document_changed: 409,
  kit_not_ready: 409,
  kit_already_shipped: 409,
  refund_not_possible: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  upstream_unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]

/** One field that was refused: `path` is dotted from the body's root (`siblings.0.childAge`), `message` is for people. */
export const issueSchema = z.object({ path: z.string(), message: z.string() })
export type Issue = z.infer<typeof issueSchema>

/** The body of every error answer at every hop. */
export const errorBodySchema = z.object({
  code: z.enum(errorCodes),
  message: z.string(),
  requestId: z.string(),
  issues: z.array(issueSchema).optional(),
})
export type ErrorBody = z.infer<typeof errorBodySchema>
