import { ApiError } from '../api.ts'

/** What the alert says when a registration or its checkout could not be made. */
export function registrationFailure(error: unknown): string {
  if (!(error instanceof ApiError) || error.code === 'network_failed' || error.code === 'answer_unreadable')
    return 'Something went wrong. Please try again.'
  return error.message || 'Registration failed. Please try again.'
}
