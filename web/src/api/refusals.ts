import { ApiError } from './api.ts'

/** The error's own message, if it has one for users, else `otherwise`. */
export function messageOf(error: unknown, otherwise: string): string {
  return (error instanceof Error && !(error instanceof TypeError) && error.message) || otherwise
}

/** Whether the error is a response with one of these codes. */
export function isRefusal(error: unknown, ...codes: ApiError['code'][]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code)
}
