import type { AttemptKind } from '../attempts/attempt-kind.ts'
import { purchaseAttemptKind } from '../checkout/apply-session.ts'
import { membershipAttemptKind } from '../membership/activate-membership.ts'

/** Selects the kind of attempt by the mode of its checkout session. */
export function selectAttemptKind({ mode }: { mode: string }): AttemptKind {
  return mode === 'subscription' ? membershipAttemptKind : purchaseAttemptKind
}
