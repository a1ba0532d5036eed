/** The error bodies of the API. The SDK picks its error class by HTTP status; `type` and `code` are what callers read. */

type ErrorType = 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error'

export interface ErrorDetail {
  type: ErrorType
  message: string
  code?: string
  param?: string
  [more: string]: unknown
}

export class ApiError extends Error {
  readonly status: number
  readonly detail: ErrorDetail

  constructor(status: number, detail: ErrorDetail) {
    super(detail.message)
    this.status = status
    this.detail = detail
  }

  /** The JSON body, with the two URLs that Stripe adds. */
  body(requestId: string): { error: ErrorDetail } {
    const { code } = this.detail
    return {
      error: {
        ...this.detail,
        ...(code === undefined ? {} : { doc_url: `https://stripe.com/docs/error-codes/${docSlug(code)}` }),
        request_log_url: `https://dashboard.stripe.com/test/logs/${requestId}`,
      },
    }
  }
}

function docSlug(code: string): string {
  return code.replaceAll('_', '-')
}

export function invalidRequest(message: string, more: { code?: string; param?: string } = {}): ApiError {
  return new ApiError(400, { type: 'invalid_request_error', message, ...more })
}

/** `noun` is the object's name as Stripe writes it in this message: `checkout.session`, `payment_intent`. */
export function noSuch(noun: string, id: string, param: string): ApiError {
  return new ApiError(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${noun}: '${id.slice(0, 200)}'`,
    param,
  })
}

/** Requires the object of an id in the path. @throws ApiError 404 by `noSuch` */
export function existingIn<T>(kept: ReadonlyMap<string, T>, id: string, noun: string, param: string): T {
  const found = kept.get(id)
  if (found === undefined) throw noSuch(noun, id, param)
  return found
}

/** An unknown id in the parameters is an invalid request: 400, not 404. */
export function noSuchReference(noun: string, id: string, param: string): ApiError {
  return new ApiError(400, noSuch(noun, id, param).detail)
}

export function unrecognizedUrl(method: string, path: string): ApiError {
  return new ApiError(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path.slice(0, 300)}). The payment simulator serves the part of the API that Checkout needs; see its README.`,
  })
}

export function unauthorized(message: string, code?: string): ApiError {
  return new ApiError(401, {
    type: 'invalid_request_error',
    message,
    ...(code === undefined ? {} : { code }),
  })
}

export function internalError(): ApiError {
  return new ApiError(500, {
    type: 'api_error',
    message: 'An unknown error occurred in the payment simulator. This is a defect of the simulator.',
  })
}
