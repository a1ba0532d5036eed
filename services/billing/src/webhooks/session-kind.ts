import type { AttemptKind } from '../attempts/attempt-kind.ts'
import { purchaseAttemptKind } from '../checkout/apply-session.ts'
import { membershipAttemptKind } from '../membership/activate-membership.ts'

/** What a checkout session is an attempt at, by the mode that the provider shows. */
export function kindOf({ mode }: { mode: string }): AttemptKind {
  return mode === 'subscription' ? membershipAttemptKind : purchaseAttemptKind
}
