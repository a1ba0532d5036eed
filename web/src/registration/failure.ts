import { ApiError } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'

/** What the alert says when a registration or its checkout could not be made. */
export function registrationFailure(error: unknown): string {
  if (!(error instanceof ApiError) || error.code === 'network_failed' || error.code === 'answer_unreadable')
    return 'Something went wrong. Please try again.'
  return error.message || 'Registration failed. Please try again.'
}

/** The same, and nothing where another dialog says it: of another account. */
export function registrationAlert(error: unknown): string | null {
  return isRefusal(error, 'other_account') ? null : registrationFailure(error)
}
