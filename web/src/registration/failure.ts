import { ApiError } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'

/** The alert's text when a registration or its checkout failed. */
function registrationFailure(error: unknown): string {
  if (!(error instanceof ApiError) || error.code === 'network_failed' || error.code === 'answer_unreadable')
    return 'Something went wrong. Please try again.'
  return error.message || 'Registration failed. Please try again.'
}

/** The same; null if the dialog about another account is shown. */
export function registrationAlert(error: unknown): string | null {
  return isRefusal(error, 'other_account') ? null : registrationFailure(error)
}
