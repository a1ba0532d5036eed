import { ApiError } from './api.ts'

/** The server's or the browser's own words; `otherwise` where there are none. */
export function messageOf(error: unknown, otherwise: string): string {
  return (error instanceof Error && !(error instanceof TypeError) && error.message) || otherwise
}

/** Whether the server refused with this code. */
export function isRefusal(error: unknown, ...codes: ApiError['code'][]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code)
}
